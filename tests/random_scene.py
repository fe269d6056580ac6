"""Random scenes for the campaign: a function of the seed and of what `brio list` says there is.

Names and parameters come from the program's own tables (`brio list ... --json` has fields with
ranges), so that a new integrator, material, shape, force, constraint or law is drawn from the day
it is registered. Most scenes are sensible, so that they run; some are extreme on purpose: sizes
from 1 mm to 100 m, parameters at the ends of their ranges, exact stacks, degenerate meshes.

    Makings(brio)            the tables of a program
    make_scene(rng, makings) (scene, files): a dictionary, and the files it names by their names
"""
import json
import re
import struct
import subprocess

KINDS = {
    "solids": "solid",
    "affine bodies": "affine",
    "springs": "springs",
    "bars along x": "bar1d",
    "shells": "shell",
    "points": "points",
}
# What most draws of a parameter are from, where its own range is too wide to be sensible.
SENSIBLE = {
    "E": (1e3, 1e8),
    "rho": (1, 1e4),
    "k": (1, 1e5),
    "c1": (1e3, 1e6),
    "c2": (1e2, 1e5),
    "kappa": (1e4, 1e7),
    "k_stretch": (10, 1e5),
    "k_shear": (1, 1e4),
    "k_bend": (1e-7, 1e-3),
    "areal": (0.05, 5),
    "beta": (1e-5, 1e-2),
    "alpha": (1e-3, 10),
    "strength": (1e-2, 1e2),
    "stiffness": (1e3, 1e6),
    "pressure": (1, 1e4),
    "ambient": (1, 1e5),
    "density": (0.1, 10),
    "drag": (0.1, 2),
    "lift": (0.1, 2),
    "inner": (0, 20),
    "iterations": (1, 10),
    "bending": (1, 1e5),
    "pretension": (1e-3, 1e2),
}
FORMULAS = ["sin(9*t)", "1 + x*y", "abs(z) - t", "exp(-t)*(x^2 + y^2)", "sqrt(abs(x))/(1 + t)"]


class Makings:
    def __init__(self, brio):
        self.tables = {}
        for what in (
            "integrators",
            "materials",
            "damping",
            "forces",
            "constraints",
            "shapes",
            "laws",
            "solvers",
            "frames",
        ):
            said = subprocess.run([brio, "list", what, "--json"], capture_output=True, check=True)
            self.tables[what] = json.loads(said.stdout)

    def pick(self, rng, what, allowed=None):
        rows = [row for row in self.tables[what] if not allowed or allowed(row)]
        return rng.choice(rows)

    def names(self, what, note=None):
        return [r["name"] for r in self.tables[what] if note is None or r.get("note") == note]


def number(rng, low, high):
    """A number with a magnitude between the two, all magnitudes alike."""
    return float("%.4g" % (low * (high / low) ** rng.random()))


def vector(rng, size):
    return [float("%.4g" % (rng.uniform(-1, 1) * size)) for _ in range(3)]


# ---- parameters by their tables ---------------------------------------------------------------


def value(rng, field, size):
    """A value of a field; one in forty lies at an end of its range."""
    kind, low, high = field["type"], field["least"], field["most"]
    if kind == "choice":
        return rng.choice(field["words"])
    if kind == "true or false":
        return rng.random() < 0.5
    if kind.startswith("number or") and rng.random() < 0.5:
        return rng.choice(field["words"])
    if rng.random() < 0.025:
        end = rng.choice([low, high])
        return [end] * 3 if kind == "three numbers" else int(end) if "whole" in kind else end
    if kind == "three numbers":
        scale = size if field["unit"] == "m" else 10
        return [min(max(c, low), high) for c in vector(rng, scale)]
    if kind == "list of numbers":
        return [number(rng, max(low, 0.1), min(high, 10))]
    if field["unit"] == "m":
        return number(rng, size * 1e-3, size)
    if field["name"] in SENSIBLE:
        usual = SENSIBLE[field["name"]]
        if low <= usual[0] and usual[1] <= high:
            low, high = usual
    if "whole" in kind:
        return rng.randint(int(low), int(min(high, low + 8)))
    if low > 0 and high / low > 1e3:
        return number(rng, low, high)
    return float("%.4g" % rng.uniform(max(low, -1e3), min(high, 1e3)))


def with_fields(rng, row, size, share=0.5):
    """{type: NAME, ...}: required fields, and some of the others."""
    made = {"type": row["name"]}
    for field in row.get("fields", []):
        if field["required"] or rng.random() < share:
            made[field["name"]] = value(rng, field, size)
    return made


# ---- meshes, some of them degenerate ----------------------------------------------------------

TET_FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]


def block(cells, size):
    """Vertices and tets of a block of cubes, six tets each."""
    n = cells + 1
    points = [
        [size * (i / cells - 0.5), size * (j / cells - 0.5), size * (k / cells - 0.5)]
        for k in range(n)
        for j in range(n)
        for i in range(n)
    ]
    tets = []
    m = n * n
    ways = [(1, n, m), (n, m, 1), (m, 1, n), (n, 1, m), (1, m, n), (m, n, 1)]
    for k in range(cells):
        for j in range(cells):
            for i in range(cells):
                at = (k * n + j) * n + i
                for turn, (a, b, c) in enumerate(ways):
                    tet = [at, at + a, at + a + b, at + a + b + c]
                    if turn >= 3:
                        tet[2], tet[3] = tet[3], tet[2]
                    tets.append(tet)
    return points, tets


def surface_of(tets):
    seen = {}
    for tet in tets:
        for face in TET_FACES:
            corners = [tet[c] for c in face]
            key = tuple(sorted(corners))
            seen[key] = None if key in seen else corners
    return [face for face in seen.values() if face]


def spoil(rng, points, cells):
    """One thing that meshes from elsewhere have: flat, doubled, inverted, far away, missing."""
    kind = rng.randrange(9)
    at = rng.randrange(len(cells))
    cells = [list(c) for c in cells]
    points = [list(p) for p in points]
    if kind == 0:  # a flat element
        points[cells[at][0]] = list(points[cells[at][1]])
    elif kind == 1:  # the same vertex twice
        cells[at][0] = cells[at][1]
    elif kind == 2:  # turned inside out
        cells[at][0], cells[at][1] = cells[at][1], cells[at][0]
    elif kind == 3:  # twice the same element
        cells.append(list(cells[at]))
    elif kind == 4:  # a vertex of no element
        points.append([0, 0, 0])
    elif kind == 5:  # nearly flat
        a, b = points[cells[at][0]], points[cells[at][1]]
        points[cells[at][0]] = [y + 1e-13 * (x - y) for x, y in zip(a, b)]
    elif kind == 6:
        points[cells[at][0]][rng.randrange(3)] = rng.choice([1e15, 1e300, -1e9])
    elif kind == 7:  # a vertex that is not there
        cells[at][0] = len(points) + rng.randrange(3)
    else:
        del cells[1:]
    return points, cells


def mesh_text(points, cells, solid):
    def row(p):
        return " ".join("%.17g" % c for c in p)

    if solid:  # Medit
        lines = ["MeshVersionFormatted 1", "Dimension 3", "Vertices", str(len(points))]
        lines += [row(p) + " 0" for p in points]
        lines += ["Tetrahedra", str(len(cells))]
        lines += [" ".join(str(c + 1) for c in cell) + " 0" for cell in cells]
        return "\n".join(lines + ["End", ""]).encode()
    lines = ["v " + row(p) for p in points]
    lines += ["f " + " ".join(str(c + 1) for c in cell) for cell in cells]
    return ("\n".join(lines) + "\n").encode()


def mesh_file(rng, size, solid, files):
    points, cells = block(rng.randint(1, 2), size)
    if not solid:
        cells = surface_of(cells)
    if rng.random() < 0.4:
        points, cells = spoil(rng, points, cells)
    name = "mesh%d.%s" % (len(files), "mesh" if solid else "obj")
    files[name] = mesh_text(points, cells, solid)
    return name, len(points)


def sequence_file(rng, points, size, files):
    """Positions over time, each vertex on a way of its own size; .pc2, .mdd or .csv."""
    frames = rng.randint(1, 5)
    away = vector(rng, 0.2 * size)
    at = [[[p[a] + away[a] * f / 5 for a in range(3)] for p in points] for f in range(frames)]
    kind = rng.choice(["pc2", "mdd", "csv"])
    name = "way%d.%s" % (len(files), kind)
    flat = [[c for p in frame for c in p] for frame in at]
    if kind == "pc2":
        head = b"POINTCACHE2\0" + struct.pack("<iiffi", 1, len(points), 0, 1, frames)
        files[name] = head + b"".join(struct.pack("<%df" % len(f), *f) for f in flat)
    elif kind == "mdd":
        head = struct.pack(">ii", frames, len(points))
        head += struct.pack(">%df" % frames, *[f / 24 for f in range(frames)])
        files[name] = head + b"".join(struct.pack(">%df" % len(f), *f) for f in flat)
    else:
        rows = [",".join("%.9g" % c for c in [f / 24] + row) for f, row in enumerate(flat)]
        files[name] = ("\n".join(rows) + "\n").encode()
    return name


# ---- bodies, obstacles, what acts on them -----------------------------------------------------


def shape(rng, makings, kind, size):
    """A shape of about the given size with few cells, for a kind of body."""
    if kind == "bar1d" or (kind == "points" and rng.random() < 0.7):
        return {"type": "line", "length": size, "cells": rng.randint(1, 6)}
    solid = kind == "solid" or (kind == "affine" and rng.random() < 0.6)
    note = "solid" if solid else "springs"
    lines = kind in ("springs", "points")
    row = makings.pick(
        rng, "shapes", lambda r: r["note"] == note and (lines or r["name"] != "line")
    )
    made = {"type": row["name"]}
    for field in row["fields"]:
        name = field["name"]
        if field["type"] == "choice":
            made[name] = rng.choice(field["words"])
        elif field["type"] == "true or false":
            made[name] = rng.random() < 0.5
        elif field["unit"] == "m":
            thin = name in ("minor", "thickness") or (name == "radius" and "size" in made)
            part = 0.15 if thin else 0.4 if name in ("radius", "major", "width") else 1
            made[name] = [size] * 3 if field["type"] == "three numbers" else size * part
        elif field["type"] == "three numbers":
            made[name] = [rng.randint(1, 3) for _ in range(3)]
        else:
            low, high = int(field["least"]), int(field["most"])
            made[name] = rng.randint(low, min(low + (2 if low > 1 else 1), high))
    if made["type"] in ("torus", "torus-surface"):
        made["segments"] = 2 * rng.randint(2, 5)
    if made["type"] == "figure":
        made["cells"] = rng.randint(8, 12)
    return made


def script(rng, size):
    made = {}
    if rng.random() < 0.6:
        made["velocity"] = vector(rng, size * 10 ** rng.uniform(-1, 1.5))
    if rng.random() < 0.4:
        made["angular"] = vector(rng, 10)
    if rng.random() < 0.2:
        made["keys"] = [[0.02 * i] + vector(rng, 0.2 * size) for i in range(rng.randint(1, 4))]
    if rng.random() < 0.2:
        made["poses"] = [
            {"t": 0.03 * i, "translate": vector(rng, 0.1 * size), "rotate": [[0, 1, 0], 20 * i]}
            for i in range(rng.randint(1, 3))
        ]
    if rng.random() < 0.2:
        made["formula"] = ["%.3g*sin(9*t)" % (0.1 * size), "0", "%.3g*t*y" % rng.uniform(-1, 1)]
    if rng.random() < 0.2:
        made["end"] = 0.03
    return made


def body(rng, makings, size, height, index, files):
    row = makings.pick(rng, "materials")
    if rng.random() < 0.4:
        row = makings.pick(rng, "materials", lambda r: r["note"] == "solids")
    kind = KINDS[row["note"]]
    material = with_fields(rng, row, size / 50)
    if kind in ("springs", "points"):
        material.pop("rho", None)
        material["vertex_mass"] = number(rng, 1e-3, 1)
    if kind == "shell":
        if "thickness" in material:
            material.pop("rho", None)
            material.update(thickness=size / 200, areal=number(rng, 0.1, 2))
    made = {"name": "b%d" % index, "kind": kind, "material": material}
    points = None
    if kind in ("solid", "affine", "shell", "springs") and rng.random() < 0.15:
        made["mesh"], points = mesh_file(rng, size, kind == "solid", files)
    else:
        made["shape"] = shape(rng, makings, kind, size)
    if kind != "bar1d":
        made["transform"] = {"translate": [0.3 * c for c in vector(rng, size)]}
        made["transform"]["translate"][1] = height
        if rng.random() < 0.3:
            made["transform"]["rotate"] = [vector(rng, 1), rng.uniform(0, 360)]
    if rng.random() < 0.3:
        how = rng.choice(
            [
                {"vertices": [0]},
                {"box": [[-1e9, height, -1e9], [1e9, 1e9, 1e9]]},
                {"sphere": [[0, height, 0], 2 * size]},
            ]
        )
        if kind == "affine":
            how = {"box": [[-1e9] * 3, [1e9] * 3]}
        if rng.random() < 0.3 and kind != "affine":
            how["axes"] = rng.sample(["x", "y", "z"], rng.randint(1, 3))
        elif rng.random() < 0.4:
            how["script"] = script(rng, size)
        made["fix"] = [how]
    if rng.random() < 0.15:
        made["attach"] = [{"vertices": [0], "k": number(rng, 1, 1e4)}]
        if rng.random() < 0.5:
            made["attach"][0]["script"] = script(rng, size)
    if rng.random() < 0.3:
        made["velocity"] = {"linear": vector(rng, 5 * min(size, 1) * 10)}
        if rng.random() < 0.4:
            made["velocity"]["angular"] = vector(rng, 20)
    if rng.random() < 0.1:
        made["deform"] = rng.choice(
            [{"twist": 20}, {"scatter": size / 100}, {"bend": vector(rng, size / 20)}]
        )
    if kind == "solid" and rng.random() < 0.1:
        made["cage"] = rng.randint(1, 4)
    if rng.random() < 0.05:
        made["array"] = {"count": [2, 1, 1], "spacing": [3 * size, 3 * size, 3 * size]}
    return made


def obstacle(rng, makings, size, files):
    kind = rng.choice(["plane", "shape", "formula", "mesh", "heightfield"])
    if kind == "plane":
        return {"type": "plane", "normal": rng.choice([[0, 1, 0], [0.3, 1, 0.1]])}
    away = {"translate": [2.5 * size * rng.choice([-1, 1]), 0.8 * size, 0]}
    if kind == "heightfield":
        heights = [[-rng.random() * 0.2 * size for _ in range(3)] for _ in range(3)]
        return {"type": "heightfield", "heights": heights, "spacing": 2 * size}
    if kind == "mesh":
        name, _ = mesh_file(rng, size, False, files)
        made = {"type": "mesh", "mesh": name, "transform": away}
        if rng.random() < 0.4:
            points, _ = block(1, size)
            text = mesh_text(points, surface_of(block(1, size)[1]), False)
            made["mesh"] = "ob%d.obj" % len(files)
            files[made["mesh"]] = text
            way = [[p[0] + 3 * size, p[1] + size, p[2]] for p in points]
            made.pop("transform")
            made["sequence"] = sequence_file(rng, way, size, files)
            return made
    else:
        made = shape(rng, makings, "springs" if kind == "shape" else "affine", size)
        if kind == "formula":
            made = rng.choice(
                [
                    {"type": "sphere", "radius": size / 2},
                    {"type": "box", "size": [size] * 3},
                    {"type": "cylinder", "radius": size / 2, "height": size},
                    {"type": "capsule", "radius": size / 4, "height": size},
                ]
            )
            made["formula"] = True
        made["transform"] = away
    if kind != "formula" and rng.random() < 0.6:
        made["script"] = script(rng, size)
    return made


def force(rng, makings, size, scene):
    made = with_fields(rng, makings.pick(rng, "forces"), size)
    if made["type"] == "potential":
        made["formula"] = rng.choice(FORMULAS)
    elif rng.random() < 0.3:
        made["keys"] = [[0, 0], [0.1, 1]]
    elif rng.random() < 0.2:
        made["formula"] = rng.choice(FORMULAS)
        if made["type"] == "constant":
            made["formula"] = [made["formula"], "1", "0"]
    if made["type"] == "spring" and rng.random() < 0.4:
        made["path"] = [[0.05 * i] + vector(rng, size) for i in range(3)]
    if rng.random() < 0.3:
        made["bodies"] = rng.choice(scene["bodies"])["name"]
        if rng.random() < 0.5 and made["type"] not in ("pressure", "wind"):
            made["vertices"] = [0]
    return made


JOINTS = ("ball", "hinge", "slider")  # of whole bodies; the others are of points too


def constraint(rng, makings, scene):
    row = makings.pick(rng, "constraints")
    made = with_fields(rng, row, 1, 0.3)
    made.pop("length", None)
    if made["type"] == "distance-range":
        made.update(min=0, max=1e3)
    one = rng.choice(scene["bodies"])
    others = [b["name"] for b in scene["bodies"] if b is not one]
    middle = one.get("transform", {}).get("translate", [0, 0, 0])
    made["a"] = one["name"]
    if row.get("note") or rng.random() < 0.2:
        made["axis"] = vector(rng, 1)
    if made["type"] == "volume":
        made.pop("axis", None)
    elif made["type"] in JOINTS:
        made["at"] = middle
        if others and rng.random() < 0.3:
            made["b"] = rng.choice(others)
    else:
        if rng.random() < 0.7:
            made["a"] = [one["name"], 0]
        else:
            made["at"] = middle
        if made["type"] in ("rod", "distance-range") or rng.random() < 0.5:
            made["b"] = [rng.choice(others), 0] if others else [one["name"], 1]
    return made


def contact(rng, makings, size, scene, files):
    law = rng.choice(["ipc", "ipc", "ipc", "cubic", "penalty"])
    made = {"type": law}
    if rng.random() < 0.4:
        made["mu"] = number(rng, 0.05, 1.5)
    if law == "penalty":
        made.update(kappa=number(rng, 1e2, 1e6), dhat=size / 20)
        if rng.random() < 0.3:
            made["self"] = size / 10
    else:
        if rng.random() < 0.3:
            made["dhat"] = size * number(rng, 1e-4, 1e-1)
        if rng.random() < 0.3:
            made["kappa"] = number(rng, 1e2, 1e8)
        if rng.random() < 0.15:
            made["thickness"] = size * number(rng, 1e-4, 1e-2)
        if rng.random() < 0.15:
            made["start"] = rng.choice(["relax", "untangle"])
    if rng.random() < 0.2:
        made["friction_iterations"] = rng.randint(0, 3)
    scene["contact"] = made
    scene["obstacles"] = [{"type": "plane", "normal": [0, 1, 0]}]
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        scene["obstacles"].append(obstacle(rng, makings, size, files))


def solver(rng, makings):
    made = {
        "type": rng.choice(makings.names("solvers", "solver.type")),
        "linear": rng.choice(makings.names("solvers", "solver.linear")),
    }
    if rng.random() < 0.3:
        made["tol"] = number(rng, 1e-9, 1)
    if rng.random() < 0.2:
        made["max_iterations"] = rng.randint(1, 30)
    if rng.random() < 0.2:
        made["max_halvings"] = rng.randint(0, 3)
    if made["type"] == "local-global":
        made["precision"] = rng.choice(["single", "double", "auto"])
        made["memory"] = rng.choice([0, 5])
    return made


# With barriers a step has to end where its equations were solved; these always do.
ENDS_SOLVED = [
    "backward-euler",
    "trapezoidal",
    "newmark",
    "bdf2",
    "bdf3",
    "bdf4",
    "sdirk2",
    "tr-bdf2",
    "a-1",
    "a-search",
    "decoupled",
    "energy-lagrange",
    "linearly-implicit-euler",
    "static",
]


def make_scene(rng, makings):
    size = number(rng, 1e-3, 100) if rng.random() < 0.3 else 0.2
    rate = rng.choice([25, 60, 100, 1000])
    files = {}
    integrator = with_fields(rng, makings.pick(rng, "integrators"), size, 0.25)
    scene = {
        "brio": 1,
        "time": {"h": "1/%d" % rate, "end": rng.randint(2, 8) / rate, "fps": 100},
        "integrator": integrator,
        "output": {"frames": []},
    }
    stack = rng.random() < 0.15  # exactly on top of each other, which has to be refused or solved
    gap = size if stack else 1.5 * size
    count = rng.randint(1, 3)
    scene["bodies"] = [
        body(rng, makings, size, 0.9 * size + gap * i, i, files) for i in range(count)
    ]
    if stack:
        for one in scene["bodies"]:
            one.pop("mesh", None)
            if one["kind"] not in ("solid", "affine"):
                one.update(kind="solid", material={"type": "stable-neo-hookean"})
            one["shape"] = {"type": "box", "size": [size] * 3, "cells": [1, 1, 1]}
        for i, one in enumerate(scene["bodies"]):
            one["transform"] = {"translate": [0, 0.5 * size + size * i, 0]}
    if rng.random() < 0.7:
        contact(rng, makings, size, scene, files)
        if scene["contact"]["type"] != "penalty" and rng.random() < 0.9:
            row = makings.pick(rng, "integrators", lambda r: r["name"] in ENDS_SOLVED)
            scene["integrator"] = with_fields(rng, row, size, 0.1)
    if rng.random() < 0.25:
        scene["forces"] = [force(rng, makings, size, scene) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.2:
        scene["constraints"] = [constraint(rng, makings, scene) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.7:
            scene["integrator"] = rng.choice(["backward-euler", "bdf2", "trapezoidal", "a-search"])
    if count > 1 and rng.random() < 0.15:
        scene["stitches"] = [{"a": "b0", "b": "b1", "k": number(rng, 1, 1e4)}]
        if rng.random() < 0.5:
            scene["stitches"][0].update(by=rng.choice(["vertices", "edges"]))
        if rng.random() < 0.4:
            scene["stitches"][0]["breaking"] = number(rng, 1e-3, 1e2)
    if rng.random() < 0.3:
        scene["gravity"] = vector(rng, 20)
    for _ in range(rng.choice([0, 0, 1, 2])):
        row = makings.pick(rng, "damping")
        scene.setdefault("damping", []).append(with_fields(rng, row, size))
    if rng.random() < 0.3:
        scene["solver"] = solver(rng, makings)
    if rng.random() < 0.2:
        scene["quality"] = rng.choice(["preview", "film", "exact"])
    if rng.random() < 0.2:
        scene["output"]["frames"] = rng.sample(makings.names("frames"), rng.randint(1, 3))
    if rng.random() < 0.2:
        scene["probes"] = [{"name": "p", "body": "b0", "vertex": 0}]
    if rng.random() < 0.1:
        scene["output"]["energy_every"] = rng.randint(1, 4)
    return scene, files


def repaired(scene, said):
    """The scene without what a refusal names by its path, or None where nothing can be left out."""
    found = re.search(r"^[^\n:]*:\d+:\d+: ([a-z_]+)((?:\[\d+\]|\.[a-z_]+)*)", said, re.M)
    if not found or found[1] not in scene or found[1] in ("brio", "time"):
        return None
    steps = [int(i) if i else key for i, key in re.findall(r"\[(\d+)\]|\.([a-z_]+)", found[2])]
    path = [found[1], *steps]
    scene = json.loads(json.dumps(scene))
    if path[0] == "bodies" and len(path) == 2 and len(scene["bodies"]) == 1:
        return None
    while path[-1] in ("type", "material", "shape", "kind", "name", "a", "b"):  # not without these
        path.pop()
    if path == ["bodies"] or not path:
        return None
    holder = scene
    for step in path[:-1]:
        try:
            holder = holder[step]
        except (KeyError, IndexError, TypeError):
            return None
    try:
        del holder[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return scene


def features(scene):
    """What a scene has, as words to count."""
    found = {"integrator " + kind_of(scene.get("integrator", "backward-euler"))}
    if "solver" in scene:
        found |= {"solver " + scene["solver"]["type"], "linear " + scene["solver"]["linear"]}
    for one in scene["bodies"]:
        found |= {"kind " + one["kind"], "material " + one["material"]["type"]}
        found |= {"shape " + one["shape"]["type"]} if "shape" in one else {"mesh file"}
        found |= {"body " + key for key in one if key in ("cage", "attach", "deform", "array")}
        found |= {"scripted fix" for fix in one.get("fix", []) if "script" in fix}
    for key in ("forces", "constraints", "damping", "obstacles"):
        found |= {key.rstrip("s") + " " + one["type"] for one in scene.get(key, [])}
    found |= {"obstacle moves" for o in scene.get("obstacles", []) if "script" in o}
    found |= {"obstacle with a sequence" for o in scene.get("obstacles", []) if "sequence" in o}
    if "contact" in scene:
        found.add("law " + scene["contact"]["type"])
    if "stitches" in scene:
        found.add("stitches")
    return found


def kind_of(entry):
    return entry["type"] if isinstance(entry, dict) else entry


