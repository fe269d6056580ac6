#!/usr/bin/env python3
"""Makes the pictures of the documentation from runs of brio. Needs the standard library only.

    python3 docs/make_pictures.py [build/brio [docs/pictures]]

Runs shipped scenes with OBJ frames into a temporary folder, draws chosen frames with a small z-buffer rasteriser
(smooth shading with creases, mesh lines, a soft shadow on the ground, 3 x 3 samples a pixel) and writes PNG files, and
the energy curves of two integrators as SVG. A change of the scenes or of this file is the only reason to run it again.
"""
import csv
import math
import os
import struct
import subprocess
import sys
import tempfile
import zlib

SAMPLES = 3  # a pixel is the mean of SAMPLES x SAMPLES
MOST_BYTES = 150_000
LIGHT = (0.45, 0.80, 0.62)  # direction to the light
LINE = 0.9  # width of mesh lines, in pixels


# ---- vectors ---------------------------------------------------------------------------------------------------

def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    n = math.sqrt(dot(a, a)) or 1.0
    return (a[0] / n, a[1] / n, a[2] / n)


def mix(a, b, t):
    return tuple(p + (q - p) * t for p, q in zip(a, b))


# ---- files -----------------------------------------------------------------------------------------------------

def run(brio, scene, folder, *sets):
    command = [brio, "run", scene, "-o", folder, "--force", "--quiet"]
    for text in sets + ("output={frames: [obj]}",):
        command += ["--set", text]
    subprocess.run(command, check=True)


def read_obj(file):
    points, triangles = [], []
    with open(file) as lines:
        for line in lines:
            word = line.split()
            if word[:1] == ["v"]:
                points.append(tuple(map(float, word[1:4])))
            elif word[:1] == ["f"]:
                triangles.append(tuple(int(w.split("/")[0]) - 1 for w in word[1:4]))
    return points, triangles


def frame(folder, number):
    return read_obj(os.path.join(folder, "frames", "frame_%06d.obj" % number))


def paeth(a, b, c):
    p, q, r = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    return a if p <= q and p <= r else b if q <= r else c


def write_png(file, rows):
    """rows: bytes of 3 * width each."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    width, raw, before = len(rows[0]) // 3, bytearray(), bytes(len(rows[0]))
    for row in rows:
        left, corner = bytes(3) + row[:-3], bytes(3) + before[:-3]
        tries = [(1, bytes((x - a) & 255 for x, a in zip(row, left))),
                 (2, bytes((x - b) & 255 for x, b in zip(row, before))),
                 (4, bytes((x - paeth(a, b, c)) & 255 for x, a, b, c in zip(row, left, before, corner)))]
        kind, data = min(tries, key=lambda t: sum(min(v, 256 - v) for v in t[1]))  # the usual rule for the best filter
        raw.append(kind)
        raw += data
        before = row
    head = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(raw), 9)) + chunk(b"IEND", b""))
    if len(data) > MOST_BYTES:
        sys.exit("%s would have %d bytes, more than %d" % (file, len(data), MOST_BYTES))
    with open(file, "wb") as out:
        out.write(data)
    print("%s: %d x %d, %d bytes" % (file, width, len(rows), len(data)))


# ---- a surface to draw: corner normals, colours, which edges are ruled ------------------------------------------

def ruled(rest, triangle):
    """The edges of a triangle that are mesh lines: all but the longest, which is the diagonal of a cell."""
    lengths = []
    for k in range(3):
        d = sub(rest[triangle[(k + 1) % 3]], rest[triangle[(k + 2) % 3]])
        lengths.append(dot(d, d))
    longest = max(lengths)
    return [length < 0.99 * longest for length in lengths]  # edge k lies opposite to corner k


def stretches(points, rest, triangles):
    """Mean relative change of length of the surface edges at each vertex."""
    total, count, seen = [0.0] * len(points), [0] * len(points), set()
    for t in triangles:
        for k in range(3):
            a, b = sorted((t[k], t[(k + 1) % 3]))
            if (a, b) in seen:
                continue
            seen.add((a, b))
            d, r = sub(points[a], points[b]), sub(rest[a], rest[b])
            change = abs(math.sqrt(dot(d, d) / dot(r, r)) - 1)
            for v in (a, b):
                total[v] += change
                count[v] += 1
    return [t / c if c else 0.0 for t, c in zip(total, count)]


PALETTE = [(0.07, 0.27, 0.52), (0.07, 0.45, 0.48), (0.40, 0.60, 0.24), (0.92, 0.58, 0.12), (0.85, 0.22, 0.08)]


def colour_of(amount):
    at = min(max(amount, 0.0), 0.9999) * (len(PALETTE) - 1)
    return mix(PALETTE[int(at)], PALETTE[int(at) + 1], at - int(at))


def corner_normals(points, triangles, crease=math.cos(math.radians(40))):
    face, around = [], [[] for _ in points]
    for number, t in enumerate(triangles):
        face.append(cross(sub(points[t[1]], points[t[0]]), sub(points[t[2]], points[t[0]])))
        for v in t:
            around[v].append(number)
    units, result = [unit(n) for n in face], []
    for number, t in enumerate(triangles):
        corners = []
        for v in t:
            n = (0.0, 0.0, 0.0)
            for other in around[v]:
                if dot(units[other], units[number]) > crease:
                    n = tuple(p + q for p, q in zip(n, face[other]))
            corners.append(unit(n))
        result.append(corners)
    return result


def surface(points, triangles, rest, shift=(0, 0, 0), full=0.25, two_sided=False):
    """A list of triangles (three corners of position, normal, colour; ruled edges; two-sided)."""
    amount, normals = stretches(points, rest, triangles), corner_normals(points, triangles)
    moved = [tuple(p + s for p, s in zip(point, shift)) for point in points]
    made = []
    for t, normal in zip(triangles, normals):
        corners = [(moved[v], normal[k], colour_of(amount[v] / full)) for k, v in enumerate(t)]
        made.append((corners, ruled(rest, t), two_sided))
    return made


def block(low, high, colour):
    """A box without mesh lines."""
    made = []
    for axis in range(3):
        for side in (0, 1):
            p, q = (axis + 1) % 3, (axis + 2) % 3
            n = [0.0, 0.0, 0.0]
            n[axis] = 1.0 if side else -1.0
            corner = []
            for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                x = [0.0, 0.0, 0.0]
                x[axis], x[p], x[q] = (low, high)[side][axis], (low, high)[u][p], (low, high)[v][q]
                corner.append((tuple(x), tuple(n), colour))
            for t in ((0, 1, 2), (0, 2, 3)):
                made.append(([corner[k] for k in t], [False] * 3, True))
    return made


# ---- drawing ---------------------------------------------------------------------------------------------------

class View:
    """A camera at `eye` that looks at `centre`; `height` is what it sees of the plane through the centre, in metres."""

    def __init__(self, eye, centre, height, width_pixels, height_pixels):
        self.eye, self.width, self.height = eye, width_pixels, height_pixels
        self.forward = unit(sub(centre, eye))
        self.right = unit(cross(self.forward, (0, 1, 0)))
        self.up = cross(self.right, self.forward)
        distance = math.sqrt(dot(sub(centre, eye), sub(centre, eye)))
        self.scale = height_pixels * SAMPLES * distance / height

    def project(self, x):
        d = sub(x, self.eye)
        z = dot(d, self.forward)
        return (self.width * SAMPLES / 2 + self.scale * dot(d, self.right) / z,
                self.height * SAMPLES / 2 - self.scale * dot(d, self.up) / z, z)

    def ray(self, i, j):
        a = (i - self.width * SAMPLES / 2) / self.scale
        b = (self.height * SAMPLES / 2 - j) / self.scale
        return unit(tuple(f + a * r + b * u for f, r, u in zip(self.forward, self.right, self.up)))


def lit(position, normal, colour, eye, two_sided):
    to_eye, light = unit(sub(eye, position)), unit(LIGHT)
    if two_sided and dot(normal, to_eye) < 0:
        normal = (-normal[0], -normal[1], -normal[2])
    facing = dot(normal, light)
    diffuse = max(facing, -0.6 * facing if two_sided else 0.0)  # cloth lets some light through
    sky = 0.5 + 0.5 * normal[1]
    shine = max(dot(normal, unit(tuple(a + b for a, b in zip(light, to_eye)))), 0.0) ** 40
    return tuple(min((c * (0.20 + 0.16 * sky + 0.78 * diffuse) + 0.10 * shine), 1.0) ** 0.62 for c in colour)  # ** 0.62: for the screen


def shadow_map(triangles, ground, cell=0.006, blur=7):
    """Where the light does not reach the ground: (x0, z0, cell, rows of amounts)."""
    light, flat = unit(LIGHT), []
    for corners, _, _ in triangles:
        flat.append([(x[0] - light[0] / light[1] * (x[1] - ground), x[2] - light[2] / light[1] * (x[1] - ground))
                     for x, _, _ in corners])
    margin = 4 * blur * cell
    x0, x1 = min(p[0] for t in flat for p in t) - margin, max(p[0] for t in flat for p in t) + margin
    z0, z1 = min(p[1] for t in flat for p in t) - margin, max(p[1] for t in flat for p in t) + margin
    wide, high = int((x1 - x0) / cell) + 1, int((z1 - z0) / cell) + 1
    rows = [[0.0] * wide for _ in range(high)]
    for t in flat:
        p = [((x - x0) / cell, (z - z0) / cell) for x, z in t]
        area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1])
        if area == 0:
            continue
        for j in range(int(min(a[1] for a in p)), int(max(a[1] for a in p)) + 1):
            for i in range(int(min(a[0] for a in p)), int(max(a[0] for a in p)) + 1):
                inside = True
                for k in range(3):
                    a, b = p[k], p[(k + 1) % 3]
                    inside = inside and ((b[0] - a[0]) * (j - a[1]) - (b[1] - a[1]) * (i - a[0])) * area >= 0
                if inside:
                    rows[j][i] = 1.0
    for _ in range(3):  # three box filters are nearly a Gaussian
        rows = [running_mean(row, blur) for row in rows]
        rows = [list(c) for c in zip(*[running_mean(list(c), blur) for c in zip(*rows)])]
    return x0, z0, cell, rows


def running_mean(row, radius):
    total, result, n = sum(row[:radius]), [], len(row)
    for k in range(n):
        if k + radius < n:
            total += row[k + radius]
        if k - radius - 1 >= 0:
            total -= row[k - radius - 1]
        result.append(total / (2 * radius + 1))
    return result


def background(view, ground, shadow):
    """One colour a pixel: a soft gradient, darker where the shadow falls."""
    x0, z0, cell, amounts = shadow if shadow else (0, 0, 1, [[0]])
    picture = []
    for j in range(view.height):
        row = []
        base = mix((0.965, 0.972, 0.98), (0.90, 0.915, 0.93), j / view.height)
        for i in range(view.width):
            colour = base
            ray = view.ray((i + 0.5) * SAMPLES, (j + 0.5) * SAMPLES)
            if shadow and ray[1] < -1e-6:
                t = (ground - view.eye[1]) / ray[1]
                u = (view.eye[0] + t * ray[0] - x0) / cell
                v = (view.eye[2] + t * ray[2] - z0) / cell
                if 0 <= u < len(amounts[0]) - 1 and 0 <= v < len(amounts) - 1:
                    a, b = int(u), int(v)
                    top = amounts[b][a] + (amounts[b][a + 1] - amounts[b][a]) * (u - a)
                    low = amounts[b + 1][a] + (amounts[b + 1][a + 1] - amounts[b + 1][a]) * (u - a)
                    dark = 1 - 0.42 * (top + (low - top) * (v - b))
                    colour = (base[0] * dark, base[1] * dark, base[2] * (0.02 + 0.98 * dark))
            row.append(colour)
        picture.append(row)
    return picture


def draw_triangle(view, corners, edges, two_sided, depth, image):
    p = [view.project(c[0]) for c in corners]
    area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1])
    if area == 0 or (area > 0 and not two_sided):  # y points down: a front face turns the other way
        return
    shade = [lit(x, n, c, view.eye, two_sided) for x, n, c in corners]
    wide = view.width * SAMPLES
    # barycentric weights are affine in the sample's place: w_k = a_k i + b_k j + c_k
    weight = []
    for k in range(3):
        a, b = p[(k + 1) % 3], p[(k + 2) % 3]
        ax, ay = (a[1] - b[1]) / area, (b[0] - a[0]) / area
        weight.append((ax, ay, -(ax * a[0] + ay * a[1]), 1 / math.hypot(ax, ay)))  # last: samples from edge to corner
    first, last = max(int(min(a[1] for a in p)), 0), min(int(max(a[1] for a in p)) + 1, view.height * SAMPLES - 1)
    left, right = max(int(min(a[0] for a in p)), 0), min(int(max(a[0] for a in p)) + 1, wide - 1)
    (a0, b0, c0, s0), (a1, b1, c1, s1), (a2, b2, c2, s2) = weight
    z0, z1, z2 = 1 / p[0][2], 1 / p[1][2], 1 / p[2][2]
    line = LINE * SAMPLES * 0.5
    for j in range(first, last + 1):
        y = j + 0.5
        for i in range(left, right + 1):
            x = i + 0.5
            w0, w1, w2 = a0 * x + b0 * y + c0, a1 * x + b1 * y + c1, a2 * x + b2 * y + c2
            if w0 < 0 or w1 < 0 or w2 < 0:
                continue
            near, at = w0 * z0 + w1 * z1 + w2 * z2, j * wide + i
            if near <= depth[at]:
                continue
            depth[at] = near
            on_line = (edges[0] and w0 * s0 < line) or (edges[1] and w1 * s1 < line) or (edges[2] and w2 * s2 < line)
            f = 0.80 if on_line else 1.0
            image[at] = tuple(f * (w0 * shade[0][k] + w1 * shade[1][k] + w2 * shade[2][k]) for k in range(3))


def draw(view, triangles, ground=None):
    """Rows of bytes."""
    shadow = shadow_map(triangles, ground) if ground is not None else None
    behind = background(view, ground, shadow)
    wide = view.width * SAMPLES
    depth, image = [0.0] * (wide * view.height * SAMPLES), {}
    for corners, edges, two_sided in triangles:
        draw_triangle(view, corners, edges, two_sided, depth, image)
    rows = []
    for j in range(view.height):
        row = bytearray()
        for i in range(view.width):
            base, total = behind[j][i], [0.0, 0.0, 0.0]
            for dj in range(SAMPLES):
                at = (j * SAMPLES + dj) * wide + i * SAMPLES
                for di in range(SAMPLES):
                    c = image.get(at + di, base)
                    total[0] += c[0]
                    total[1] += c[1]
                    total[2] += c[2]
            row += bytes(int(255 * min(t / SAMPLES ** 2, 1.0) + 0.5) for t in total)
        rows.append(bytes(row))
    return rows


# ---- the energy curves -----------------------------------------------------------------------------------------

def energies(folder):
    with open(os.path.join(folder, "energy.csv")) as file:
        return [(float(r["time"]), float(r["total"])) for r in csv.DictReader(file)]


def write_curves(file, curves, end, top):
    """curves: (label, colour, rows of (time, energy), where the label stands)."""
    wide, high, left, right, above, below = 760, 300, 64, 24, 24, 46

    def place(t, e):
        return left + (wide - left - right) * t / end, high - below - (high - above - below) * e / top

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
           'font-family="Helvetica, Arial, sans-serif" font-size="13">' % (wide, high, wide, high),
           '<rect width="100%" height="100%" fill="#f6f8fa"/>']
    for e in range(int(top) + 1):
        x, y = place(0, e)
        out.append('<path d="M%.1f %.1fH%d" stroke="#d0d7de"/>' % (x, y, wide - right))
        out.append('<text x="%.1f" y="%.1f" text-anchor="end" fill="#57606a">%d</text>' % (x - 8, y + 4, e))
    for t in range(int(end) + 1):
        x, y = place(t, 0)
        out.append('<text x="%.1f" y="%.1f" text-anchor="middle" fill="#57606a">%d</text>' % (x, y + 20, t))
    x, y = place(end / 2, 0)
    out.append('<text x="%.1f" y="%.1f" text-anchor="middle" fill="#24292f">time (s)</text>' % (x, y + 38))
    x, y = place(0, top / 2)
    out.append('<text transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle" fill="#24292f">total energy (J)</text>'
               % (x - 40, y))
    for label, colour, rows, (t, e) in curves:
        points = " ".join("%.1f,%.1f" % place(*row) for row in rows[::4] + rows[-1:])
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5" stroke-linejoin="round"/>' % (points, colour))
        x, y = place(t, e)
        out.append('<text x="%.1f" y="%.1f" fill="%s" font-weight="bold">%s</text>' % (x, y, colour, label))
    with open(file, "w") as text:
        text.write("\n".join(out + ["</svg>\n"]))
    print("%s: %d bytes" % (file, os.path.getsize(file)))


# ---- the pictures ----------------------------------------------------------------------------------------------

def row_of(folder, numbers, gap, view, ground, clamp):
    rest, triangles = frame(folder, 0)
    scene = []
    for k, number in enumerate(numbers):
        shift = ((k - (len(numbers) - 1) / 2) * gap, 0, 0)
        scene += surface(frame(folder, number)[0], triangles, rest, shift, full=0.16)
        scene += block(tuple(a + s for a, s in zip(clamp[0], shift)), tuple(a + s for a, s in zip(clamp[1], shift)), (0.36, 0.39, 0.43))
    return draw(view, scene, ground)


def demo(brio, work, out):
    """The wound-up bar at seven instants, above by the implicit midpoint rule, below by backward Euler."""
    folders = [os.path.join(work, name) for name in ("midpoint", "backward")]
    run(brio, "demo", folders[0])
    run(brio, "demo", folders[1], "integrator=backward-euler")
    numbers = [0, 6, 16, 42, 61, 95, 109]
    view = View((1.6, 1.0, 9), (-0.06, -0.05, 0), 1.11, 840, 262)
    clamp = ((-0.10, 0.40, -0.10), (0.10, 0.43, 0.10))
    rows = []
    for folder in folders:
        rows += row_of(folder, numbers, 0.465, view, -0.52, clamp)
    write_png(os.path.join(out, "demo.png"), rows)
    top = 3.5
    write_curves(os.path.join(out, "energy.svg"),
                 [("implicit midpoint", "#1f6f8b", energies(folders[0]), (2.7, 2.72)),
                  ("backward Euler", "#c8553d", energies(folders[1]), (0.62, 0.98))], 4, top)


def gallery(brio, work, out):
    """A cloth that falls from two pins, and a bar that is twisted between two grips."""
    cloth, twist = os.path.join(work, "cloth"), os.path.join(work, "twist")
    run(brio, "cloth", cloth)
    run(brio, "scripted-twist", twist)
    rest, triangles = frame(cloth, 0)
    scene = []
    for k, number in enumerate((3, 8, 15, 22)):
        scene += surface(frame(cloth, number)[0], triangles, rest, ((k - 1.5) * 1.30, 0.35, 0), full=0.06, two_sided=True)
    rows = draw(View((1.5, 3.2, 11), (-0.04, -0.08, 0), 1.75, 840, 270), scene, -0.85)
    rest, triangles = frame(twist, 0)
    scene = []
    for k, number in enumerate((0, 20, 40, 90)):
        scene += surface(frame(twist, number)[0], triangles, rest, ((k - 2) * 1.22 + 0.11, 0.05, 0), full=0.45)
    rows += draw(View((0, 2.0, 9), (-0.03, -0.04, 0), 0.84, 840, 140), scene, -0.20)
    write_png(os.path.join(out, "gallery.png"), rows)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    brio = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "build", "brio")
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.join(here, "pictures")
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        demo(brio, work, out)
        gallery(brio, work, out)


if __name__ == "__main__":
    main()
