"""Edits of a simulation that runs."""
from __future__ import annotations

from ctypes import byref, c_int64, c_void_p
from typing import Any

import numpy as np

from ._build import Builder, _indices
from ._library import CError, Error, error_of, lib
from ._sim import Body, Sim, Vector, vector

__all__ = ["Edit"]


class Edit(Builder):
    """A builder that starts with the current content of a simulation. ``Sim.edit`` creates it.

    A ``with`` block adds and removes everything at once, at its end. If that fails, or if an
    exception leaves the block, the simulation stays as it was. Numbers of bodies and obstacles
    stay; one that is removed leaves its number free.
    """

    def __init__(self, sim: Sim):
        pointer, error = c_void_p(), CError()
        self._pointer = None
        status = sim._call(lib.brio_sim_edit, byref(pointer), byref(error))
        if status:
            raise error_of(status, error)
        self._pointer, self._sim = pointer.value, sim
        self._counts = [sim.vertices(i) for i in range(len(sim.bodies))]
        self._names = set(sim.bodies)
        self._kept: list = []
        self._obstacles = [bool(name) for name in sim.obstacles]
        self._dampings = []

    def __enter__(self) -> "Edit":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.commit()
        elif self._pointer:
            lib.brio_builder_free(self._pointer)
            self._pointer = None

    def commit(self) -> None:
        """Applies the changes; the end of a ``with`` block does it."""
        sim, error = self._sim, CError()
        sim._no_views()
        handle = sim._alive()
        handle.kept = [*(handle.kept or ()), *self._kept]  # first: Ctrl-C may follow the call
        try:
            status = sim._call(lib.brio_sim_commit, self._live(), byref(error))
        finally:
            if sim._renewed():
                self._pointer = None
        if status:
            raise error_of(status, error)

    def sim(self, *_: Any, **__: Any) -> Sim:
        raise Error("an edit changes its simulation: commit it")

    def remove_body(self, body: Body) -> None:
        """Removes a body with its pins, attachments, rods, and the forces on it alone."""
        number = self._sim._body(body) if isinstance(body, str) else body
        self._call(lib.brio_builder_remove_body, number)
        self._counts[number] = 0

    def remove_obstacle(self, obstacle: Body) -> None:
        """Removes an obstacle, by its name, its place in ``Sim.obstacles``, or the number that
        adding it returned."""
        added = isinstance(obstacle, int) and obstacle < 0  # maybe in this edit
        number = -1 - int(obstacle) if added else self._sim._obstacle(obstacle)
        self._call(lib.brio_builder_remove_obstacle, number)
        self._obstacles[number] = False

    def remove_rod(self, body_a: int, vertex_a: int, body_b: int, vertex_b: int) -> None:
        self._call(lib.brio_builder_remove_rod, body_a, vertex_a, body_b, vertex_b)

    def remove_constraint(self, name: str) -> None:
        self._call(lib.brio_builder_remove_constraint, name.encode())

    def remove_force(self, name: str) -> None:
        self._call(lib.brio_builder_remove_force, name.encode())

    def detach(self, body: int, vertex: int) -> None:
        """Removes all attachments of a vertex."""
        self._call(lib.brio_builder_detach, body, vertex)

    def unfix(self, body: int, vertices: Any) -> None:
        """The opposite of ``fix``, which pins vertices where they are."""
        freed = self._vertices(body, vertices)
        self._call(lib.brio_builder_unfix, body, freed.ctypes, len(freed))

    def cut(self, body: int, point: Vector, normal: Vector) -> int:
        """Cuts a body along a plane: elements on both sides separate, none is divided. Returns
        how many faces, edges or springs were cut."""
        count = c_int64()
        self._call(
            lib.brio_builder_cut_plane,
            body,
            vector(point, "point").ctypes,
            vector(normal, "normal").ctypes,
            byref(count),
        )
        self._counts[body] = 1 << 31  # the library knows how many there are now
        return count.value

    def cut_along(self, body: int, vertices: Any, triangles: Any) -> int:
        """The same along triangles (n x 3) between vertices (m x 3)."""
        x, count = np.ascontiguousarray(vertices, dtype=np.float64), c_int64()
        if x.ndim != 2 or x.shape[1] != 3:
            raise ValueError(f"vertices: expected an array of shape (n, 3), got {x.shape}")
        corners = _indices(triangles, 3, len(x), "triangles")
        self._call(lib.brio_builder_cut, body, x.ctypes, corners.ctypes, len(corners), byref(count))
        self._counts[body] = 1 << 31
        return count.value
