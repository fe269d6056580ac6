"""Simulations from arrays, without a scene."""
from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_int64, c_void_p
from typing import Any, Callable, Dict, List, Mapping, Optional, Set, Tuple, Union

import numpy as np

from . import _callbacks
from ._library import (
    MAX_DAMPING,
    CBodyDef,
    CConstraintDef,
    CContactDef,
    CDamping,
    CError,
    CForceDef,
    CMaterial,
    CMesh,
    CObstacleDef,
    CScript,
    CSequence,
    CSimDef,
    CStitchDef,
    Error,
    ForceFunction,
    error_of,
    lib,
)
from ._forces import force_call
from ._sim import Sim, Vector, _Handle, field_values, vector

__all__ = ["Builder"]

_KINDS = {"auto": 0, "solid": 1, "springs": 2, "bar1d": 3, "points": 4, "affine": 5, "shell": 6}


def _indices(array: Any, corners: int, count: int, what: str) -> np.ndarray:
    found = np.asarray(array)
    if found.size == 0:
        return np.zeros((0, corners), np.int32)
    if found.ndim != 2 or found.shape[1] != corners or not np.issubdtype(found.dtype, np.integer):
        raise ValueError(
            f"{what}: expected integers in an array of shape (n, {corners}), got"
            f" {found.dtype} of shape {found.shape}"
        )
    if found.min() < 0 or found.max() >= count:
        raise ValueError(
            f"{what}: vertex {found.max() if found.max() >= count else found.min()} is none of the"
            f" {count} vertices"
        )
    return np.ascontiguousarray(found, dtype=np.int32)


def _numbers(given: Any, what: str) -> np.ndarray:
    """Integers, one or several; the library knows which of them there are."""
    found = np.atleast_1d(np.asarray(given))
    if found.size == 0:
        return np.zeros(0, np.int32)
    kept = found.astype(np.int32) if np.issubdtype(found.dtype, np.integer) else None
    if kept is None or found.ndim != 1 or (kept != found).any():
        raise ValueError(
            f"{what}: expected integers in an array of shape (n,), got {found.dtype} of shape"
            f" {found.shape}"
        )
    return kept


def _rows(given: Any, width: int, what: str) -> np.ndarray:
    """Rows of so many numbers; none is fine."""
    found = np.ascontiguousarray(given, dtype=np.float64)
    if found.size == 0:
        return np.zeros((0, width))
    if found.ndim != 2 or found.shape[1] != width:
        raise ValueError(f"{what}: expected an array of shape (n, {width}), got {found.shape}")
    return found


_INTERPOLATIONS = {"linear": 0, "cubic": 1, "monotone": 2}


def _script(
    times: Any, frames: Any, poses: Any, formula: Any, interpolation: str
) -> Optional[CScript]:
    """Motion of points; None: at rest."""
    if interpolation not in _INTERPOLATIONS:
        words = ", ".join(_INTERPOLATIONS)
        raise ValueError(f"interpolation: expected one of {words}, got {interpolation!r}")
    if times is not None and frames is None:
        raise ValueError("times: they are those of frames, which are missing")
    if frames is None and poses is None and formula is None:
        return None
    script: CScript = lib.brio_default_script()
    script.interpolation = _INTERPOLATIONS[interpolation]
    if frames is not None:
        x = np.ascontiguousarray(frames, dtype=np.float64)
        t = np.ascontiguousarray(times if times is not None else (), dtype=np.float64)
        if x.ndim != 3 or x.shape[2] != 3 or t.shape != x.shape[:1]:
            raise ValueError(
                f"frames: expected an array of shape (m, n, 3) and m times, got {x.shape} and"
                f" {t.shape}"
            )
        sequence = CSequence(len(x), x.shape[1], t.ctypes.data, x.ctypes.data)
        script.sequence = ctypes.pointer(sequence)
        setattr(script, "_frames", (x, t, sequence))  # kept alive until C has copied it
    if poses is not None:
        rows = _rows(poses, 11, "poses")
        script.pose_count, script.poses = len(rows), rows.ctypes.data
        setattr(script, "_poses", rows)
    if formula is not None:
        if len(formula) != 3:
            raise ValueError(f"formula: expected three, got {len(formula)}")
        script.formula[:] = [str(text).encode() for text in formula]
    return script


def _material(given: Any) -> CMaterial:
    """A material by name, of a preset, or of a map with ``type`` and values."""
    values = dict(given) if isinstance(given, Mapping) else {"type": given}
    words: CMaterial = CMaterial()
    name = str(values.pop("type", ""))
    status = lib.brio_default_material(name.encode(), byref(words), None)
    if status:
        raise Error(f'no material "{name}"; brio.materials() names them', status)
    fields = lib.brio_material_fields(words.type)
    words.values[:] = field_values(fields, values, f"material {name}", words.values)[:]
    return words


def _placement(linear: Any, translate: Vector) -> Tuple[np.ndarray, np.ndarray]:
    """X -> linear X + translate, as C takes it."""
    turned = np.eye(3) if linear is None else np.ascontiguousarray(linear, dtype=np.float64)
    if turned.shape != (3, 3):
        raise ValueError(f"linear: expected an array of shape (3, 3), got {turned.shape}")
    return turned, vector(translate, "translate")


_STARTS = {"strict": 0, "relax": 1, "untangle": 2}
_QUALITIES = {"auto": 0, "preview": 1, "film": 2, "exact": 3}
_SOLVER = ("tol", "max_iterations", "linear_tol", "max_halvings", "iterations", "memory")


class Builder:
    """Builds a simulation from arrays: bodies, pins, joints, obstacles, forces,
    damping; ``sim`` ends it.

    Bodies are known by the numbers that ``body`` returns, 0, 1, ..., obstacles of all kinds by
    those of ``plane``, ``solid``, ``heightfield`` and ``obstacle``: -1, -2, ...

    >>> import brio
    >>> build = brio.Builder(gravity=[0, -9.8, 0])
    >>> tet = build.body([[0, 1, 0], [1, 1, 0], [0, 2, 0], [0, 1, 1]], tets=[[0, 1, 2, 3]],
    ...                  material={"type": "neo-hookean", "E": 1e5})
    >>> build.damping("rayleigh", beta=0.001)
    >>> floor = build.plane([0, 0, 0], [0, 1, 0])
    >>> sim = build.sim("bdf2", h=0.01)
    >>> sim.step(10)
    """

    def __init__(self, gravity: Vector = (0, -9.8, 0)):
        pointer = c_void_p()
        status = lib.brio_builder_create(byref(pointer), None)
        if status:
            raise Error("out of memory", status)
        self._pointer: Optional[int] = pointer.value
        g = vector(gravity, "gravity")
        if not np.isfinite(g).all():
            raise Error("gravity must be finite")
        lib.brio_builder_gravity(self._pointer, g.ctypes)
        self._counts: list = []
        self._names: Set[str] = set()
        self._obstacles: List[bool] = []  # False: removed, its number is free
        self._dampings: List[CDamping] = []
        self._kept: list = []  # what C calls

    def __del__(self, free: Any = lib.brio_builder_free) -> None:
        if getattr(self, "_pointer", None):
            free(self._pointer)

    def _live(self) -> int:
        if self._pointer is None:
            raise Error("this builder has made its simulation: begin with a new one")
        return self._pointer

    def _call(self, function: Any, *arguments: Any) -> None:
        error = CError()
        status = _callbacks.call(function, self._live(), *arguments, byref(error))
        if status:
            raise error_of(status, error)

    def body(
        self,
        vertices: Any,
        tets: Any = (),
        triangles: Any = (),
        edges: Any = (),
        material: Any = "neo-hookean",
        name: Optional[str] = None,
        kind: str = "auto",
        velocity: Vector = (0, 0, 0),
        angular: Vector = (0, 0, 0),
        about: Vector = (0, 0, 0),
        cage: int = 0,
        state: Any = None,
        springs: Any = None,
    ) -> int:
        """A body of n x 3 vertices, its rest shape, and tets (n x 4), triangles (n x 3) or edges
        (n x 2); returns its number.

        ``material`` is a name, a preset (``"rubber"``), or a map with ``type`` and values.
        ``cage``: a solid of dense triangles rides on a lattice of tets with about so many cells
        along its longest side. ``state``: where the vertices start, n x 3, or with their velocities
        n x 6, if not at rest. ``springs``: stiffness (N/m) and rest length (m) of each edge.
        """
        x = np.ascontiguousarray(vertices, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != 3 or len(x) == 0:
            raise ValueError(f"vertices: expected an array of shape (n, 3), got {x.shape}")
        if kind not in _KINDS:
            raise ValueError(f"kind: expected one of {', '.join(_KINDS)}, got {kind!r}")
        parts = [
            _indices(part, corners, len(x), what)
            for part, corners, what in (
                (tets, 4, "tets"),
                (triangles, 3, "triangles"),
                (edges, 2, "edges"),
            )
        ]
        words = _material(material)
        mesh = CMesh(
            len(x),
            len(parts[0]),
            len(parts[1]),
            len(parts[2]),
            x.ctypes.data,
            *(part.ctypes.data for part in parts),
            None,
        )
        definition: CBodyDef = lib.brio_default_body()
        name = name or self._name()
        definition.name = name.encode()
        definition.mesh, definition.kind, definition.material = (
            ctypes.pointer(mesh),
            _KINDS[kind],
            words,
        )
        for field, value in (("velocity", velocity), ("angular", angular), ("about", about)):
            getattr(definition, field)[:] = vector(value, field).tolist()
        definition.cage = cage
        start = None if state is None else np.zeros((len(x), 6))
        if start is not None:
            found = np.asarray(state, dtype=np.float64)
            if found.shape not in ((len(x), 3), (len(x), 6)):
                raise ValueError(f"state: expected shape ({len(x)}, 3 or 6), got {found.shape}")
            start[:, : found.shape[1]] = found
            definition.state = start.ctypes.data
        if springs is not None:
            rows = np.ascontiguousarray(springs, dtype=np.float64)
            if rows.shape != (len(parts[2]), 2):
                raise ValueError(f"springs: expected shape ({len(parts[2])}, 2), got {rows.shape}")
            definition.spring = rows.ctypes.data
        number = c_int()
        self._call(lib.brio_builder_body, byref(definition), byref(number))
        self._counts[number.value : number.value + 1] = [len(x)]
        self._names.add(name)
        return number.value

    def _name(self) -> str:
        """A name that no other body has."""
        number = len(self._counts)
        while f"body{number}" in self._names:
            number += 1
        return f"body{number}"

    def _vertices(self, body: int, vertices: Any) -> np.ndarray:
        if not 0 <= body < len(self._counts):
            raise Error(f"there is no body {body}; there are {len(self._counts)}")
        return _indices(
            np.atleast_1d(np.asarray(vertices))[:, None], 1, self._counts[body], "vertices"
        )

    def fix(
        self,
        body: int,
        vertices: Any,
        axes: str = "",
        times: Any = None,
        frames: Any = None,
        poses: Any = None,
        formula: Any = None,
        interpolation: str = "linear",
    ) -> None:
        """Fixes vertices, along ``axes`` ("x", "xz") only, or moves them: through
        ``frames`` (m x n x 3) at ``times`` (s), by ``poses`` (rows t, shift, quaternion w x y z,
        scale) or by three formulas of t, x, y, z. ``interpolation`` between frames and poses is
        "linear", "cubic" or "monotone". docs/motion.md has the rules.
        """
        held = self._vertices(body, vertices)
        script = _script(times, frames, poses, formula, interpolation)
        if axes:
            if script is not None or set(axes) - set("xyz"):
                raise ValueError(f"axes: expected letters of xyz and no motion, got {axes!r}")
            self._call(
                lib.brio_builder_fix_axes,
                body,
                held.ctypes,
                len(held),
                sum(1 << "xyz".index(axis) for axis in set(axes)),
            )
            return
        self._call(
            lib.brio_builder_fix,
            body,
            held.ctypes,
            len(held),
            byref(script) if script is not None else None,
        )

    def attach(
        self,
        body: int,
        vertex: Any,
        point: Any = None,
        k: float = 1000,
        weights: Any = None,
        times: Any = None,
        frames: Any = None,
        poses: Any = None,
        formula: Any = None,
        interpolation: str = "linear",
    ) -> None:
        """Springs of stiffness k (N/m) times ``weights`` and no length from a vertex, or several,
        to a point (default: where each starts), which may move as with ``fix``."""
        held = self._vertices(body, vertex)
        script = _script(times, frames, poses, formula, interpolation)
        points = (
            None
            if point is None
            else np.ascontiguousarray(
                np.broadcast_to(np.asarray(point, dtype=np.float64), (len(held), 3))
            )
        )
        factors = (
            None
            if weights is None
            else np.ascontiguousarray(
                np.broadcast_to(np.asarray(weights, dtype=np.float64), (len(held),))
            )
        )
        self._call(
            lib.brio_builder_attach_all,
            body,
            held.ctypes,
            len(held),
            None if points is None else points.ctypes.data,
            k,
            None if factors is None else factors.ctypes.data,
            byref(script) if script is not None else None,
        )

    def _meets(self, function: Any, name: Optional[str], *arguments: Any) -> int:
        """Adds an obstacle and returns its number."""
        self._call(function, name.encode() if name else None, *arguments)
        return self._obstacle_number()

    def _obstacle_number(self) -> int:
        """That of an obstacle that was just added: the lowest that is free."""
        if False not in self._obstacles:
            self._obstacles.append(False)
        number = self._obstacles.index(False)
        self._obstacles[number] = True
        return -1 - number

    def plane(self, point: Vector, normal: Vector, name: Optional[str] = None) -> int:
        """A plane; vertices stay on the side of its normal. Returns its number."""
        return self._meets(
            lib.brio_builder_plane,
            name,
            vector(point, "point").ctypes,
            vector(normal, "normal").ctypes,
        )

    def solid(
        self,
        shape: str,
        translate: Vector = (0, 0, 0),
        linear: Any = None,
        name: Optional[str] = None,
        **values: Any,
    ) -> int:
        """A "sphere", "box", "cylinder" or "capsule" as an obstacle; returns its number.

        ``values`` are those of the shape (``size``, ``radius``, ...), ``linear`` is a rotation (3 x
        3).
        """
        fields = lib.brio_shape_fields(shape.encode())
        if not fields:
            raise Error(f'no shape "{shape}"; take sphere, box, cylinder or capsule')
        given = field_values(fields, values, f"shape {shape}")
        turned, moved = _placement(linear, translate)
        return self._meets(
            lib.brio_builder_solid, name, shape.encode(), given, turned.ctypes, moved.ctypes
        )

    def heightfield(
        self,
        heights: Any,
        spacing: float,
        translate: Vector = (0, 0, 0),
        linear: Any = None,
        name: Optional[str] = None,
    ) -> int:
        """Ground given by heights: rows along z of heights along x, ``spacing`` apart, centred
        at the origin; returns its number."""
        grid = np.ascontiguousarray(heights, dtype=np.float64)
        if grid.ndim != 2:
            raise ValueError(f"heights: expected rows and columns, got shape {grid.shape}")
        turned, moved = _placement(linear, translate)
        rows, columns = grid.shape
        return self._meets(
            lib.brio_builder_heightfield,
            name,
            columns,
            rows,
            grid.ctypes,
            spacing,
            turned.ctypes,
            moved.ctypes,
        )

    def contact(self, **values: Any) -> None:
        """Contact of bodies with each other and with obstacles; missing values are automatic.

        ``law`` ("ipc", "cubic", "penalty" or one of yours), ``dhat``, ``kappa``, ``thickness``,
        ``mu``, ``epsv``, ``friction_iterations``, ``start`` ("strict", "relax" or "untangle": what
        happens to bodies that begin too close), ``relax_time``, and of penalties ``self``:
        docs/contact.md.
        """
        definition: CContactDef = lib.brio_default_contact()
        names = {"self" if name == "self_" else name for name, _ in CContactDef._fields_}
        for name, value in values.items():
            if name not in names:
                raise ValueError(f"contact has no {name!r}; there are: {', '.join(sorted(names))}")
            if name == "start" and value not in _STARTS:
                raise ValueError(f"start: expected one of {', '.join(_STARTS)}, got {value!r}")
            if name == "law":
                value = value.encode()
            if name == "start":
                value = _STARTS[value]
            setattr(definition, "self_" if name == "self" else name, value)
        lib.brio_builder_contact(self._live(), byref(definition))

    def friction(self, a: int, b: int, mu: float) -> None:
        """Sets the friction coefficient of two bodies or obstacles, by their numbers."""
        self._call(lib.brio_builder_friction, a, b, mu)

    def exclude(self, a: int, b: int) -> None:
        """Lets two bodies or obstacles pass through each other; the same body twice: itself."""
        self._call(lib.brio_builder_exclude, a, b)

    def obstacle(
        self,
        vertices: Any,
        triangles: Any = (),
        edges: Any = (),
        name: Optional[str] = None,
        times: Any = None,
        frames: Any = None,
        poses: Any = None,
        formula: Any = None,
        interpolation: str = "linear",
    ) -> int:
        """An obstacle of triangles, segments or points, for barrier contact; returns its number.
        It is at rest, or moves like vertices of ``fix``."""
        x = np.ascontiguousarray(vertices, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != 3 or len(x) == 0:
            raise ValueError(f"vertices: expected an array of shape (n, 3), got {x.shape}")
        parts = [
            _indices(part, corners, len(x), what)
            for part, corners, what in ((triangles, 3, "triangles"), (edges, 2, "edges"))
        ]
        addresses = [part.ctypes.data for part in parts]
        mesh = CMesh(len(x), 0, len(parts[0]), len(parts[1]), x.ctypes.data, None, *addresses, None)
        definition: CObstacleDef = lib.brio_default_obstacle()
        definition.name, definition.mesh = name.encode() if name else None, ctypes.pointer(mesh)
        script = _script(times, frames, poses, formula, interpolation)
        if script is not None:
            definition.script = ctypes.cast(ctypes.pointer(script), c_void_p)
        self._call(lib.brio_builder_obstacle, byref(definition))
        return self._obstacle_number()

    def damping(self, type: str, **values: Any) -> None:
        """A damping model ("rayleigh", ...: docs/integrators.md) with its values; several act
        together."""
        model = CDamping()
        status = lib.brio_default_damping(type.encode(), byref(model), None)
        if status:
            raise Error(f'no damping model "{type}"', status)
        if len(self._dampings) == MAX_DAMPING:
            raise Error(f"more than {MAX_DAMPING} damping models")
        fields = lib.brio_damping_fields(type.encode())
        model.values[:] = field_values(fields, values, f"damping {type}")[:]
        self._dampings.append(model)

    def rod(self, body_a: int, vertex_a: int, body_b: int, vertex_b: int) -> None:
        """A rigid rod between two vertices that keeps their distance; for integrators that support
        rods."""
        self._call(lib.brio_builder_rod, body_a, vertex_a, body_b, vertex_b, float("nan"))

    def force(
        self,
        type: str,
        bodies: Any = (),
        vertices: Any = (),
        box: Any = None,
        sphere: Any = None,
        keys: Any = (),
        formula: Any = (),
        path: Any = (),
        function: Optional[Callable[..., Any]] = None,
        potential: bool = False,
        name: Optional[str] = None,
        **values: Any,
    ) -> None:
        """A force in addition to gravity, as in ``forces`` of a scene; ``bodies`` are numbers.
        ``values`` are those of the type.

        With ``type="function"``: ``function(x, v, time)`` returns forces (n x 3) for positions and
        velocities (n x 3) of its vertices; with ``potential``, ``function(x, time)`` returns the
        energy in J, its gradient (n x 3), and if it can the Hessian of each vertex (n x 3 x 3).
        """
        definition: CForceDef = CForceDef()
        status = lib.brio_default_force(type.encode(), byref(definition), None)
        if status:
            raise Error(f'no force "{type}"', status)
        definition.values[:] = field_values(
            lib.brio_force_fields(type.encode()), values, f"force {type}"
        )[:]
        chosen, corners = _numbers(bodies, "bodies"), _numbers(vertices, "vertices")
        rows = [_rows(keys, 2, "keys"), _rows(path, 4, "path")]
        texts = [formula] if isinstance(formula, str) else list(formula)
        if len(texts) > 3:
            raise ValueError(f"formula: expected one or three, got {len(texts)}")
        definition.name = name.encode() if name else None
        definition.body_count, definition.bodies = len(chosen), chosen.ctypes.data
        definition.vertex_count, definition.vertices = len(corners), corners.ctypes.data
        definition.key_count, definition.keys = len(rows[0]), rows[0].ctypes.data
        definition.path_count, definition.path = len(rows[1]), rows[1].ctypes.data
        definition.formula_count = len(texts)
        for i, text in enumerate(texts):
            definition.formula[i] = str(text).encode()
        if box is not None:
            corner = np.asarray(box, dtype=np.float64)
            if corner.size != 6:
                raise ValueError(f"box: expected six numbers, got an array of shape {corner.shape}")
            definition.box[:] = corner.ravel().tolist()
        if sphere is not None:
            definition.sphere[:] = [*vector(sphere[0], "sphere").tolist(), float(sphere[1])]
        if function is not None:
            called = function  # for the function below: it is not None

            @_callbacks.entry
            def evaluate(_: Any, call: Any) -> float:
                return force_call(called, potential, call)

            definition.function, definition.has_potential = ForceFunction(evaluate), potential
            self._kept.append(definition.function)
            _callbacks.registered = True
        self._call(lib.brio_builder_force, byref(definition))

    def constraint(
        self,
        type: str,
        a: Any,
        b: Any = None,
        at: Any = None,
        axis: Any = None,
        collide: Optional[bool] = None,
        name: Optional[str] = None,
        **values: Any,
    ) -> None:
        """A rod, a joint or a volume, as ``constraints`` of a scene has them. An end is a body's
        number, ``(body, vertex)``, ``(body, (x, y, z))``, a point of the world ``(x, y, z)``, or
        None: the world. ``values`` are those of the type."""
        definition: CConstraintDef = CConstraintDef()
        status = lib.brio_default_constraint(type.encode(), byref(definition), None)
        if status:
            raise Error(f'no constraint "{type}"', status)
        definition.values[:] = field_values(
            lib.brio_constraint_fields(type.encode()), values, f"constraint {type}"
        )[:]
        definition.name = name.encode() if name else None
        for end, given in ((definition.a, a), (definition.b, b)):
            if given is None:
                continue
            if np.ndim(given) == 0:
                end.body = int(given)
            elif len(given) == 3:
                end.point[:] = vector(given, "point").tolist()
            elif len(given) != 2:
                raise ValueError(
                    "an end: expected a body, (body, vertex), (body, point) or a point,"
                    f" got {given}"
                )
            else:
                end.body = int(given[0])
                if np.ndim(given[1]) == 0:
                    end.vertex = int(given[1])
                else:
                    end.point[:] = vector(given[1], "point").tolist()
        if at is not None:
            definition.at[:] = vector(at, "at").tolist()
        if axis is not None:
            definition.axis[:] = vector(axis, "axis").tolist()
        if collide is not None:
            definition.collide = bool(collide)
        self._call(lib.brio_builder_constraint, byref(definition))

    def stitch(
        self,
        a: int,
        b: int,
        vertices: Any = (),
        edges: bool = False,
        distance: float = float("inf"),
        k: float = 1000,
        rest: Optional[float] = None,
        breaking: float = float("inf"),
    ) -> int:
        """Springs from the vertices (or edges) of body a to the nearest points of body b; returns
        how many."""
        definition: CStitchDef = lib.brio_default_stitch()
        chosen = _numbers(vertices, "vertices")
        (
            definition.a,
            definition.b,
            definition.edges,
            definition.distance,
            definition.k,
            definition.breaking,
        ) = (a, b, edges, distance, k, breaking)
        if len(chosen):
            definition.vertices, definition.vertex_count = chosen.ctypes.data, len(chosen)
        if rest is not None:
            definition.rest = rest
        count = c_int64()
        self._call(lib.brio_builder_stitch, byref(definition), byref(count))
        return count.value

    def sim(
        self,
        integrator: str = "backward-euler",
        h: float = 1 / 30,
        tol: Optional[float] = None,
        solver: Union[str, Mapping[str, Any]] = "newton",
        quality: str = "auto",
        **values: Any,
    ) -> Sim:
        """Creates the simulation; ``values`` are those of the integrator. The builder cannot be
        used again, also if this fails.

        ``solver`` is a name, or a map with ``type``, ``linear``, ``tol``, ``max_iterations``,
        ``linear_tol``, ``max_halvings``, ``iterations``, ``memory`` (docs/scene.md); ``quality``
        is "preview", "film" or "exact".
        """
        found = lib.brio_integrator(integrator.encode())
        if not found:
            raise Error(f'no integrator "{integrator}"; brio.integrators() names them')
        name = integrator.encode()
        definition: CSimDef = lib.brio_default_sim(name)
        definition.h = h
        definition.values[:] = field_values(
            found.contents.fields, values, f"integrator {integrator}"
        )[:]
        definition.damping_count = len(self._dampings)
        for i, model in enumerate(self._dampings):
            definition.damping[i] = model
        options: Dict[str, Any] = {"type": solver} if isinstance(solver, str) else dict(solver)
        if tol is not None:
            options["tol"] = tol
        if quality not in _QUALITIES:
            raise ValueError(f"quality: expected one of {', '.join(_QUALITIES)}, got {quality!r}")
        definition.solver.quality = _QUALITIES[quality]
        for key, value in options.items():
            if key not in ("type", "linear", *_SOLVER):
                raise ValueError(
                    f"solver has no {key!r}; there are: type, linear, {', '.join(_SOLVER)}"
                )
            setattr(definition.solver, key, value.encode() if key in ("type", "linear") else value)
        system, state, made, error = c_void_p(), c_void_p(), c_void_p(), CError()
        try:
            self._call(lib.brio_builder_finish, byref(system), byref(state))
        finally:
            if self._pointer:
                lib.brio_builder_free(self._pointer)
            self._pointer = None
        status = _callbacks.call(
            lib.brio_sim_create, system, state, byref(definition), byref(made), byref(error)
        )
        if status:
            raise error_of(status, error)
        handle = _Handle(made.value or 0)
        handle.kept = self._kept
        return Sim(handle)
