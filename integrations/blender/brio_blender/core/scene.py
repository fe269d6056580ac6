"""The scene file: what is simulated, as brio reads it (docs/scene.md).

The file is JSON, which is YAML too. Meshes are OBJ files and motions PC2 files next to it. Bodies
and obstacles have the names of Blender's objects, so that messages name them.
"""
import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

import numpy as np

SCENE = "scene.yaml"
SOFT, CLOTH, SPRINGS, RIGID = "SOFT", "CLOTH", "SPRINGS", "RIGID"
KINDS = {SOFT: "solid", CLOTH: "shell", SPRINGS: "springs", RIGID: "affine"}
FULL = 0.999  # a weight from which on a vertex is fixed and not pulled by a spring


@dataclass
class Pins:
    """Vertices that are held, with their weights; `motion`: a PC2 file with a row for each. Full
    and other weights are groups of their own (split_pins)."""

    vertices: np.ndarray
    weights: np.ndarray
    stiffness: float = 0.0  # N/m of a weight of 1; 0: by mass and size
    motion: Optional[str] = None


@dataclass
class Body:
    name: str
    role: str
    points: np.ndarray  # n x 3
    triangles: np.ndarray  # m x 3
    material: Dict[str, Any]
    cells: int = 10  # of a soft body: of the cage along its longest side; 0: filled with tets
    density: float = 1000.0  # kg/m3 or, of sheets, kg/m2; of springs, kg a vertex
    pins: List[Pins] = field(default_factory=list)
    self_contact: bool = True


@dataclass
class Collider:
    name: str
    points: np.ndarray
    triangles: np.ndarray
    motion: Optional[str] = None


@dataclass
class Floor:
    name: str
    point: List[float]
    normal: List[float]


@dataclass
class Settings:
    fps: float = 24.0
    frames: int = 250  # after the first
    substeps: int = 2
    gravity: List[float] = field(default_factory=lambda: [0.0, -9.81, 0.0])
    integrator: Dict[str, Any] = field(default_factory=lambda: {"type": "a-search"})
    quality: str = "film"
    contact: bool = True
    friction: float = 0.3
    distance: float = 0.0  # m; 0: brio's own choice
    start: str = "relax"
    wind: List[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    checkpoints: int = 1
    title: str = ""


def write_obj(path, points, triangles):
    with open(path, "w", encoding="ascii") as file:
        for point in np.asarray(points, dtype=float).tolist():
            file.write("v %.9g %.9g %.9g\n" % tuple(point))
        for triangle in (np.asarray(triangles, dtype=int) + 1).tolist():
            file.write("f %d %d %d\n" % tuple(triangle))


def mass_of(body):
    """About: for the stiffness of pins."""
    if body.role == SPRINGS:
        return body.density * len(body.points)
    a, b, c = (body.points[body.triangles[:, k]] for k in range(3))
    if body.role == CLOTH:
        return body.density * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2
    return body.density * abs(float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum())) / 6


def ground(settings, bodies, colliders=(), floors=()):
    """An energy below which nothing of the scene comes to rest: all of the mass at its lowest
    place. What decays, decays toward it."""
    up = -np.asarray(settings.gravity, dtype=float)
    places = [thing.points for thing in [*bodies, *colliders]] + [[f.point] for f in floors]
    lowest = min(float((np.asarray(points, dtype=float) @ up).min()) for points in places)
    return float("%.6g" % (sum(mass_of(body) for body in bodies) * lowest))


def split_pins(vertices, weights, stiffness=0.0):
    """Groups of pins: those with full weight, and the others; vertices of no weight are free."""
    vertices, weights = np.asarray(vertices, dtype=int), np.asarray(weights, dtype=float)
    full, partial = weights >= FULL, (weights > 0) & (weights < FULL)
    return [Pins(vertices[chosen], weights[chosen], stiffness)
            for chosen in (full, partial) if chosen.any()]


def pin_stiffness(body, pins):
    """N/m of each pin: all together would let the body sag by a thousandth of its size."""
    if pins.stiffness > 0:
        return pins.stiffness
    size = float(np.ptp(body.points, axis=0).max()) or 1.0
    return max(1000 * mass_of(body) * 9.81 / (size * len(pins.vertices)), 1e-3)


def is_carried(body):
    """Whether its vertices ride on few points: then frames move it by springs only."""
    return body.role == RIGID or (body.role == SOFT and body.cells > 0)


def add_pins(body, pins, fps, entry):
    """An entry of `fix` for full weights, one of `attach` (springs) for others."""
    hard = bool((pins.weights >= FULL).all()) and body.role != RIGID
    made = {"vertices": pins.vertices.tolist()}
    if not hard or (pins.motion and is_carried(body)):
        made["k"] = float("%.6g" % pin_stiffness(body, pins))
        made["weights"] = [round(weight, 6) for weight in pins.weights.tolist()]
    if pins.motion:
        made.update(sequence=pins.motion, fps=fps)
    entry.setdefault("attach" if "k" in made else "fix", []).append(made)


def body_entry(body, mesh, fps):
    entry = {"name": body.name, "mesh": mesh, "kind": KINDS[body.role]}
    if body.role == SOFT and body.cells > 0:
        entry["cage"] = body.cells
    entry["material"] = body.material
    for pins in body.pins:
        add_pins(body, pins, fps, entry)
    return entry


def document(settings, bodies, obstacles, alone=()):
    """The scene as a dictionary; `bodies` and `obstacles` are entries, `alone` the names of bodies
    that do not meet themselves."""
    s = settings
    scene: Dict[str, Any] = {"brio": 1, "title": s.title,
                             "time": {"h": 1 / (s.fps * s.substeps), "end": s.frames / s.fps,
                                      "fps": s.fps},
                             "gravity": s.gravity, "integrator": s.integrator,
                             "quality": s.quality}
    if s.contact:
        scene["contact"] = {"type": "ipc", "mu": s.friction, "start": s.start}
        if s.distance > 0:
            scene["contact"]["dhat"] = s.distance
        if alone:
            scene["contact"]["exclude"] = [[name, name] for name in alone]
    if any(s.wind):
        scene["forces"] = [{"type": "wind", "velocity": s.wind}]
    scene["bodies"] = bodies
    if obstacles and s.contact:
        scene["obstacles"] = obstacles
    scene["output"] = {"frames": ["npy"], "checkpoints": s.checkpoints}
    return scene


def write(folder, settings, bodies, colliders=(), floors=()):
    """Writes scene.yaml and its meshes into a folder; returns the path of the scene."""
    entries, obstacles = [], []
    for i, body in enumerate(bodies):
        mesh = "body%d.obj" % i
        write_obj(os.path.join(folder, mesh), body.points, body.triangles)
        entries.append(body_entry(body, mesh, settings.fps))
    for i, collider in enumerate(colliders if settings.contact else ()):
        mesh = "collider%d.obj" % i
        write_obj(os.path.join(folder, mesh), collider.points, collider.triangles)
        obstacle = {"type": "mesh", "name": collider.name, "mesh": mesh}
        if collider.motion:
            obstacle.update(sequence=collider.motion, fps=settings.fps)
        obstacles.append(obstacle)
    obstacles += [{"type": "plane", "name": f.name, "point": f.point, "normal": f.normal}
                  for f in floors]
    path = os.path.join(folder, SCENE)
    with open(path, "w", encoding="utf-8") as file:
        alone = [body.name for body in bodies if not body.self_contact]
        json.dump(document(settings, entries, obstacles, alone), file, indent=1, ensure_ascii=False)
        file.write("\n")
    return path
