"""A scene whose bodies have what caches must carry: quads, texture coordinates with a seam, groups, on bodies of every kind that has faces: a sheet, a surface
that rides on tets, one in a cage, one that tetgen fills (where it is installed), springs, an affine body.

    python3 make_scene.py FOLDER
"""
import json
import math
import os
import shutil
import sys

folder = sys.argv[1]
h, fps, seconds = 1 / 120, 30, 2


def write(name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def cloth(cells):
    row = cells + 1
    lines = ["o sheet"]
    lines += ["v %g 0 %g" % (i / cells - 0.5, j / cells - 0.5) for j in range(row) for i in range(row)]
    lines += ["vt %g %g" % (i / cells, j / cells) for j in range(row) for i in range(row)]
    for j in range(cells):
        lines += ["g left side"] * (j == 0) + ["g right side"] * (2 * j == cells)
        for i in range(cells):
            a = j * row + i + 1
            lines.append("f " + " ".join("%d/%d" % (v, v) for v in (a, a + row, a + row + 1, a + 1)))
    return "\n".join(lines) + "\n"


def ball(radius, rings, sides):
    place, lines = {}, ["o ball"]
    for j in range(rings + 1):
        for i in range(sides):
            if j in (0, rings) and i:
                place[j, i] = place[j, 0]
                continue
            place[j, i] = len(lines)
            up, turn = math.pi * j / rings, 2 * math.pi * i / sides
            lines.append("v %.9g %.9g %.9g" % (radius * math.sin(up) * math.cos(turn), radius * math.cos(up), radius * math.sin(up) * math.sin(turn)))
    lines += ["vt %g %g" % (i / sides, 1 - j / rings) for j in range(rings + 1) for i in range(sides + 1)]
    for j in range(rings):
        for i in range(sides):
            corners = [(j, i), (j, i + 1), (j + 1, i + 1), (j + 1, i)]
            if j == 0:
                corners.pop(1)
            elif j == rings - 1:
                corners.pop(2)
            lines.append("f " + " ".join("%d/%d" % (place[a, b % sides], a * (sides + 1) + b + 1) for a, b in corners))
    return "\n".join(lines) + "\n"


kinds = {"caged ball": "cage: 4", "stone": "kind: affine"}
if shutil.which("tetgen"):
    kinds["filled ball"] = "kind: solid"
more = "".join(f"""  - name: {name}
    mesh: ball.obj
    {what}
    material: {{type: neo-hookean, E: 3.0e+4, nu: 0.4}}
    transform: {{translate: [{1 + i}, 0.5, 1.5]}}
    velocity: {{angular: [2, 3, 1], about: [{1 + i}, 0.5, 1.5]}}
""" for i, (name, what) in enumerate(kinds.items()))
write("cloth.obj", cloth(12))
write("ball.obj", ball(0.1, 20, 40))
write("scene.yaml", f"""title: caches
time: {{h: {h!r}, end: {seconds}, fps: {fps}}}
integrator: backward-euler
contact: {{type: ipc}}
bodies:
  - name: cloth
    mesh: cloth.obj
    kind: shell
    material: {{type: membrane-stvk, thickness: 0.002, E: 1.0e+5, rho: 200}}
    fix: [{{vertices: [0, 12]}}]
  - name: soft ball
    shape: {{type: box, size: [0.22, 0.22, 0.22], cells: [3, 3, 3]}}
    surface: ball.obj
    material: {{type: neo-hookean, E: 3.0e+4, nu: 0.4}}
    transform: {{translate: [0, 0.5, 1.5]}}
    velocity: {{angular: [2, 3, 1], about: [0, 0.5, 1.5]}}
{more}  - name: springs
    mesh: ball.obj
    material: {{type: hooke, k: 500, rho: 1}}
    fix: [{{vertices: [0]}}]
    transform: {{translate: [0, 0.5, 3]}}
obstacles: [{{type: plane, point: [0, -0.3, 0], normal: [0, 1, 0]}}]
output: {{frames: [vtu, obj, ply], velocities: true}}
""")
last = fps * seconds
write("setup.json", json.dumps({"h": h, "fps": fps, "count": last + 1, "frames": [0, 1, 50, last], "bodies": ["cloth", "soft ball", *kinds, "springs"],
                               "plain": ["cloth", "caged ball", "stone", "springs"]}))
