"""Simulations: loading, stepping, reading and setting, taking part."""
from __future__ import annotations

import ctypes
import html
import json
import os
import threading
import weakref
from ctypes import byref, c_double, c_int, c_int64, c_void_p
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import numpy as np

from . import _callbacks, _show
from ._library import (
    MAX_VALUES,
    CContactEvent,
    CError,
    CField,
    CHand,
    CIteration,
    CLedger,
    CSource,
    CTriplets,
    CVertexBuffers,
    Error,
    Status,
    WatchFunction,
    _text,
    error_of,
    lib,
)

from ._progress import Bar

if TYPE_CHECKING:
    from ._edit import Edit

Scene = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Sets = Union[Mapping[str, Any], Sequence[str], None]
Vector = Any  #: three numbers

__all__ = [
    "Iteration",
    "Matrix",
    "Sim",
    "State",
    "Ledger",
    "Hand",
    "Attachment",
    "Contact",
    "load",
    "parse",
    "open_run",
]


# ---- scenes --------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """What json does not know: arrays and numbers of numpy, maps that are no dict."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a scene holds numbers, texts, lists and maps, not {type(value).__name__}")


def _assignments(sets: Sets) -> List[bytes]:
    if sets is None:
        return []
    if isinstance(sets, str):
        raise TypeError('set takes a map or a list: set={"time.h": 1/120} or set=["time.h=1/120"]')
    if isinstance(sets, Mapping):
        sets = [
            f"{key}={value if isinstance(value, str) else json.dumps(value, default=_plain, allow_nan=False)}"
            for key, value in sets.items()
        ]
    return [text.encode() for text in sets]


def source_of(scene: Scene, sets: Sets = None, name: Optional[str] = None) -> CSource:
    """A scene as C takes it. A file or a shipped name, or a map."""
    source = CSource()
    if isinstance(scene, Mapping):
        text = json.dumps(scene, default=_plain, allow_nan=False).encode()
        source.name, source.text, source.size = os.fsencode(name or "scene.json"), text, len(text)
    else:
        source.name = os.fsencode(scene)
    _add_sets(source, sets)
    return source


def _add_sets(source: CSource, sets: Sets) -> None:
    assignments = _assignments(sets)
    source.sets = (ctypes.c_char_p * len(assignments))(*assignments)
    source.set_count = len(assignments)


def load(scene: Scene, set: Sets = None, name: Optional[str] = None) -> "Sim":
    """A simulation of a scene: a file, the name of a scene that ships with brio
    (``brio.scenes()``), or a dict of the same keys.

    ``set`` changes values as ``--set`` of the program does. ``name`` is what messages call a dict;
    mesh files are looked for next to it.

    >>> import brio
    >>> with brio.load("cloth", set={"time.h": 1/120, "integrator": "bdf2"}) as sim:
    ...     sim.step()
    ...     print(round(sim.time, 6), sim.integrator)
    0.008333 bdf2
    """
    return _open(source_of(scene, set, name))


def parse(text: Union[str, bytes], set: Sets = None, name: str = "scene") -> "Sim":
    """A simulation of a scene that is given as text, YAML or JSON.

    >>> import brio
    >>> sim = brio.parse('''
    ... bodies:
    ...   - {name: rope, shape: {type: line, length: 1, cells: 10}, material: {type: hooke, k: 100, vertex_mass: 0.01}}
    ... ''')
    >>> sim.bodies
    ['rope']
    """
    raw = text.encode() if isinstance(text, str) else bytes(text)
    source = CSource()
    source.name, source.text, source.size = os.fsencode(name), raw, len(raw)
    _add_sets(source, set)
    return _open(source)


def _open(source: CSource) -> "Sim":
    pointer, error = c_void_p(), CError()
    status = _callbacks.call(lib.brio_sim_open, byref(source), byref(pointer), byref(error))
    if status:
        raise error_of(status, error)
    return Sim(_Handle(pointer.value or 0))


def open_run(folder: "Union[str, os.PathLike[str]]") -> "Sim":
    """A simulation in the state in which ``brio run`` or ``brio.run`` left its folder. Nothing is
    written there."""
    pointer, error = c_void_p(), CError()
    status = _callbacks.call(lib.brio_run_open, os.fsencode(folder), byref(pointer), byref(error))
    if status:
        raise error_of(status, error)
    return Sim(_Handle(pointer.value or 0))


# ---- memory --------------------------------------------------------------------------------------


class Iteration(NamedTuple):
    """One iteration of a solve within a step: the step's number from 1, start and length (s) of the
    piece of it that is tried and how often it was halved, iterations that
    are done, what is left (m/s) next to the tolerance (NaN where there is none), contacts, the
    fraction of their way that scripted vertices have come, and who cut the
    last iteration short: names of two bodies or obstacles and their distance (m), or of one
    body."""

    step: int
    time: float
    h: float
    halvings: int
    iteration: int
    speed: float
    tol: float
    contacts: int
    moved: float
    limit: Tuple[str, ...]
    distance: float


def iteration_of(raw: CIteration) -> Iteration:
    limit = tuple(_text(name) for name in raw.limit if name)
    return Iteration(
        raw.step,
        raw.time,
        raw.h,
        raw.halvings,
        raw.iteration,
        raw.speed,
        raw.tol,
        raw.contacts,
        raw.moved,
        limit,
        raw.distance,
    )


class _Handle:
    """Owns the C simulation, which goes when nobody refers to this any more: neither a Sim nor an
    array that looks into its memory."""

    __slots__ = ("pointer", "lock", "views", "meshes", "edition", "watch", "kept", "__weakref__")

    def __init__(self, pointer: int):
        self.pointer = pointer
        self.watch: Any = None  # the function that the library calls
        self.kept: Any = None  # functions of forces, which it calls too
        self.lock = threading.Lock()
        self.views: "weakref.WeakSet[_Memory]" = (
            weakref.WeakSet()
        )  # of the state, which another integrator may move
        self.meshes: "weakref.WeakSet[_Memory]" = (
            weakref.WeakSet()
        )  # of the system, which an edit replaces
        self.edition = 0  # how often that was

    def __del__(self, free: Any = lib.brio_sim_free) -> None:
        free(self.pointer)


class _Memory:
    """A piece of C memory that arrays are made of. It keeps its owner, and arrays keep it."""

    __slots__ = ("__array_interface__", "owner", "__weakref__")

    def __init__(self, owner: Any, address: int, shape: Tuple[int, ...], kind: str):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "data": (address, True),
            "shape": shape,
            "typestr": kind,
        }


def _view(
    owner: Any, address: Optional[int], shape: Tuple[int, ...], kind: str
) -> Tuple[np.ndarray, Optional[_Memory]]:
    if not address or 0 in shape:
        empty = np.empty(shape, np.dtype(kind))
        empty.flags.writeable = False
        return empty, None
    memory = _Memory(owner, address, shape, kind)
    return np.asarray(memory), memory


def vector(value: Vector, what: str) -> np.ndarray:
    """Three numbers, contiguous."""
    array = np.ascontiguousarray(value, dtype=np.float64)
    if array.shape != (3,):
        raise ValueError(f"{what}: expected three numbers, got an array of shape {array.shape}")
    return array


def field_values(
    fields: Any, given: Mapping[str, Any], what: str, start: Any = None
) -> "ctypes.Array[c_double]":
    """The values of a field table, with its defaults or those of ``start``."""
    values = (c_double * MAX_VALUES)()
    if start is None:
        lib.brio_fields_defaults(fields, values)
    else:
        values[:] = start[:]
    names, at, rest = [], 0, dict(given)
    for i in range(MAX_VALUES):
        if not fields or not fields[i].name:
            break
        field: CField = fields[i]
        name, width = field.name.decode(), {2: 3, 5: 41}.get(field.type, 1)
        names.append(name)
        if name in rest:
            value = rest.pop(name)
            if field.type == 4:  # a choice
                words = _text(field.unit).split("|")
                if value not in words:
                    raise Error(f"{what}: {name} is one of {', '.join(words)}, not {value!r}")
                value = words.index(value)
            numbers = np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel()
            if field.type == 5:
                numbers = np.concatenate([[numbers.size], numbers])
            if numbers.size > width or (field.type != 5 and numbers.size != width):
                raise ValueError(f"{what}: {name}: expected {width} numbers, got {numbers.size}")
            values[at : at + numbers.size] = numbers.tolist()
        at += width
    if rest:
        raise Error(f"{what} has no {', '.join(rest)}; there are: {', '.join(names) or 'none'}")
    return values


# ---- what is read --------------------------------------------------------------------------------


class Ledger(CLedger):
    """Energies and momenta of a simulation at one time, in J, kg m/s, m: the attributes of
    ``BrioLedger`` in brio.h.

    ``time``, ``kinetic``, ``elastic``, ``gravity``, ``attachment``, ``contact``, ``potential``,
    ``total``, ``target``, ``alpha``, ``added``,
    ``dissipated``, ``dissipated_by``, ``remainder``, ``unfinished``, ``momentum``, ``angular``,
    ``centre``, ``friction``, ``min_distance``,
    ``rods``, ``step``, ``iterations``, ``contacts``. What does not exist is NaN.
    """

    @property
    def momentum(self) -> np.ndarray:
        return np.array(self._momentum)

    @property
    def angular(self) -> np.ndarray:
        """Angular momentum about the origin."""
        return np.array(self._angular)

    @property
    def centre(self) -> np.ndarray:
        return np.array(self._centre)

    @property
    def dissipated_by(self) -> np.ndarray:
        """By each damping model of the scene, then friction."""
        return np.array(self._dissipated_by)

    def __repr__(self) -> str:
        return (
            f"Ledger(time={self.time:.6g}, kinetic={self.kinetic:.6g},"
            f" potential={self.potential:.6g}, total={self.total:.6g}, added={self.added:.6g},"
            f" dissipated={self.dissipated:.6g}, step={self.step})"
        )


class State:
    """A copy of everything that changes: time, positions, velocities, hands, history.
    ``Sim.snapshot`` makes it, ``Sim.restore`` takes it."""

    def __init__(self, pointer: int, sim: _Handle):
        self._pointer, self._sim, self._edition = pointer, weakref.ref(sim), sim.edition

    def __del__(self, free: Any = lib.brio_state_free) -> None:
        free(self._pointer)


class Contact:
    """Two bodies, or a body and an obstacle, that touched in the last step.

    ``bodies`` and ``obstacle`` (None: two bodies) are names. ``change`` is "begins", "stays" or
    "ends". ``impulse`` (N s) is what the first body got, ``pressing`` the same with the sizes of
    all forces added up; ``place`` is the middle of the ``contacts``, ``distance`` the smallest of
    theirs (m).
    """

    def __init__(self, raw: CContactEvent, sim: "Sim"):
        names, meets = sim.bodies, sim.obstacles
        self.obstacle: Optional[str] = meets[-1 - raw.b] if raw.b < 0 else None
        self.bodies = (names[raw.a],) if raw.b < 0 else (names[raw.a], names[raw.b])
        self.change = ("begins", "stays", "ends")[raw.change]
        self.contacts, self.pressing, self.distance = raw.contacts, raw.pressing, raw.distance
        self.impulse, self.place = np.array(raw.impulse), np.array(raw.place)

    def __repr__(self) -> str:
        with_whom = " and ".join([*self.bodies, *([self.obstacle] if self.obstacle else [])])
        return f"<brio.Contact {self.change}: {with_whom}, {self.pressing:.3g} N s>"


class Attachment:
    """An attachment or a hand: its point, its grip and its stiffness.

    ``body`` and ``vertices`` of it with their ``weights``; ``point``, where it is, and ``grip``,
    where what it holds is; ``k`` in N/m.
    """

    def __init__(self, raw: CHand):
        count = sum(vertex >= 0 for vertex in raw.vertex)
        self.body: int = raw.body
        self.vertices: np.ndarray = np.array(raw.vertex[:count], dtype=np.int64)
        self.weights: np.ndarray = np.array(raw.weight[:count])
        self.k: float = raw.k
        self.point: np.ndarray = np.array(raw.point)
        self.grip: np.ndarray = np.array(raw.grip)

    @property
    def force(self) -> np.ndarray:
        """On the body, in N."""
        return self.k * (self.point - self.grip)


class Hand:
    """Pulls a point of a body until ``release``; a ``with`` block releases it at its end."""

    def __init__(self, sim: "Sim", number: int, hit: Optional[np.ndarray] = None):
        self.sim, self.number, self.hit = sim, number, hit

    def _number(self) -> int:
        if self.number < 0:
            raise Error("this hand has let go: take a new one with grab")
        return self.number

    def drag(self, point: Vector) -> None:
        """Moves the hand to a point; the body follows in the next steps."""
        self.sim._check(
            self.sim._call(lib.brio_sim_drag, self._number(), vector(point, "drag").ctypes, None)
        )

    def release(self) -> None:
        """Releases the hand. A second call does nothing."""
        if self.number >= 0:
            self.sim._check(self.sim._call(lib.brio_sim_release, self.number, None))
            self.number = -1

    @property
    def now(self) -> Attachment:
        raw = CHand()
        self.sim._check(self.sim._call(lib.brio_sim_hand, self._number(), byref(raw)))
        return Attachment(raw)

    def __enter__(self) -> "Hand":
        return self

    def __exit__(self, *_: Any) -> None:
        if not self.sim.closed:
            self.release()


Body = Union[int, str]


class Matrix(NamedTuple):
    """A sparse square matrix as its entries, where scipy is not installed. Entries of the same
    place add up."""

    size: int
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray

    @property
    def shape(self) -> Tuple[int, int]:
        return (self.size, self.size)

    def toarray(self) -> np.ndarray:
        """The dense matrix."""
        full = np.zeros(self.shape)
        np.add.at(full, (self.row, self.column), self.value)
        return full

    def __matmul__(self, x: Any) -> np.ndarray:
        x = np.asarray(x, dtype=np.float64)
        product = np.zeros(x.shape)
        np.add.at(product, self.row, (self.value * x[self.column].T).T)
        return product

    def sparse(self) -> Any:
        """A scipy matrix in compressed rows if scipy is installed, otherwise itself."""
        try:
            from scipy.sparse import coo_matrix
        except ImportError:
            return self
        return coo_matrix((self.value, (self.row, self.column)), shape=self.shape).tocsr()


class Sim:
    """A simulation: bodies, their state, an integrator and a solver. Made by ``brio.load``,
    ``brio.parse`` or ``brio.open_run``.

    A ``with`` block closes it at its end; without one it goes with the last reference. After
    ``close`` every call raises ``brio.Error``. Arrays that
    look into its memory (``q``, ``v``, ``triangles``, ``edges``, ``tets``) stay valid after that:
    the memory goes with the last of them.

    One thread at a time: a call while another thread is inside, or from a function that brio itself
    called, raises ``brio.Error``.
    """

    def __init__(self, handle: _Handle):
        self._handle: Optional[_Handle] = handle
        self._driven: set = set()  # obstacles that were moved since the last edit
        self._look(handle)

    def _look(self, handle: _Handle) -> None:
        system = lib.brio_sim_system(handle.pointer)
        self._system = system
        self._names = [
            _text(lib.brio_body_name(system, i)) for i in range(lib.brio_system_bodies(system))
        ]
        self._vertices = [lib.brio_body_vertices(system, i) for i in range(len(self._names))]
        self._coordinates = lib.brio_system_coordinates(system)

    # ---- life ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the simulation; a second call does nothing."""
        handle = self._handle
        if handle is None:
            return
        if not handle.lock.acquire(False):
            raise Error(
                "the simulation is in use: it cannot be closed from within one of its own calls or"
                " from another thread"
            )
        self._handle = None
        handle.lock.release()

    @property
    def closed(self) -> bool:
        return self._handle is None

    def __enter__(self) -> "Sim":
        self._alive()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle is None:
            return "<brio.Sim, closed>"
        return f"<brio.Sim of {', '.join(self._names)}: t = {self.time:.6g} s, {self.integrator}>"

    def _alive(self) -> _Handle:
        if self._handle is None:
            raise Error("the simulation is closed: load it again")
        return self._handle

    def _call(self, function: Any, *arguments: Any) -> Any:
        handle = self._alive()
        if not handle.lock.acquire(False):
            raise Error(
                "the simulation is in use: not from another thread, nor from within one of its own"
                " calls"
            )
        try:
            return _callbacks.call(function, handle.pointer, *arguments)
        finally:
            handle.lock.release()

    def _check(self, status: int, otherwise: str = "") -> None:
        if status:
            reason = _text(lib.brio_sim_reason(self._alive().pointer))
            raise Error(otherwise or reason or _text(lib.brio_status_text(status)), status)

    def _body(self, body: Body) -> int:
        if isinstance(body, str):
            if body in self._names:
                return self._names.index(body)
        elif 0 <= int(body) < len(self._names):
            return int(body)
        raise Error(f"there is no body {body!r}; there are: {', '.join(self._names)}")

    # ---- stepping ------------------------------------------------------------------------------

    def step(
        self, count: int = 1, h: Optional[float] = None, progress: Optional[bool] = None
    ) -> None:
        """Makes ``count`` steps with the scene's step size or with ``h`` seconds.

        If it takes long, a bar shows how far it is: in notebooks and on terminals, or as
        ``progress`` says.

        A step that cannot be done raises ``brio.Error`` and leaves the state as it was before that
        step.
        """
        bar = Bar(progress, "steps ") if count > 1 else None
        try:
            self._steps(count, h, bar)
        finally:
            if bar is not None:
                bar.close()

    def _steps(self, count: int, h: Optional[float], bar: Optional[Bar]) -> None:
        for done in range(count):
            if bar is not None and bar.due():
                bar.update(done / count, f"t = {self.time:.4g} s")
            status = (
                self._call(lib.brio_sim_step, None)
                if h is None
                else self._call(lib.brio_sim_step_by, h, None)
            )
            if status:
                self._check(
                    status,
                    (
                        ""
                        if h is None or (h > 0 and np.isfinite(h))
                        else f"a step of {h} s: it must be positive and finite"
                    ),
                )

    def settle(self) -> None:
        """Moves to static equilibrium; velocities become zero."""
        self._check(self._call(lib.brio_sim_settle, None))

    def watch(self, function: Optional[Callable[[Iteration], Any]]) -> None:
        """Sets a function of a ``brio.Iteration`` that every iteration calls; None: no function.
        If it returns True, the step ends: ``brio.Error`` with the status
        STOPPED, and the state is as before the step. Exceptions of it, Ctrl-C included, come out of
        ``step``. It must not use the simulation.

        >>> import brio, time
        >>> sim = brio.load("cloth")
        >>> start = time.time()
        >>> sim.watch(lambda now: time.time() - start > 60)  # no step for longer than a minute
        >>> sim.step()
        """
        if function is None:
            hook = WatchFunction()
        else:
            heard = function

            def look(_: Any, raw: Any) -> int:
                return heard(iteration_of(raw.contents)) is True

            hook = WatchFunction(_callbacks.guarded(look))
            _callbacks.registered = True
        self._call(lib.brio_sim_watch, hook, None)
        self._alive().watch = hook

    @property
    def time(self) -> float:
        """s"""
        return self._call(lib.brio_sim_time)

    @property
    def h(self) -> float:
        """The step size, in s; of automatic steps that of the last one."""
        return self._call(lib.brio_sim_h)

    @property
    def steps(self) -> Dict[str, float]:
        """How long steps are: ``automatic``, ``tol``, ``h_min``, ``h_max``; of the last step ``h``,
        ``error`` (an estimate, in m) and ``rejected`` (tries that did not count); ``next_h``.

        >>> import brio
        >>> sim = brio.load("cloth", set={"time.h": "auto"})
        >>> sim.step()
        >>> sim.steps["error"] <= sim.steps["tol"]
        True
        """
        found = self._call(lib.brio_sim_steps)
        return {name: getattr(found, name) for name, _ in found._fields_}

    # ---- bodies --------------------------------------------------------------------------------

    @property
    def bodies(self) -> List[str]:
        """Names of the bodies; a body is given by its name or its index here."""
        self._alive()
        return list(self._names)

    def vertices(self, body: Body = 0) -> int:
        """Number of vertices of a body."""
        self._alive()
        return self._vertices[self._body(body)]

    def positions(self, body: Body = 0, out: Optional[np.ndarray] = None) -> np.ndarray:
        """Positions of a body's vertices, an array of n x 3 of your own; ``out`` is filled instead
        of a new one.

        >>> import brio
        >>> sim = brio.load("cloth")
        >>> x = sim.positions("cloth")
        >>> x[:, 1] += 0.5
        >>> sim.set_positions(x, "cloth")
        """
        return self._read(lib.brio_sim_positions, body, out, "positions")

    def velocities(self, body: Body = 0, out: Optional[np.ndarray] = None) -> np.ndarray:
        """Velocities of a body's vertices, like ``positions``."""
        return self._read(lib.brio_sim_velocities, body, out, "velocities")

    def set_positions(self, x: Any, body: Body = 0) -> None:
        """Moves a body's vertices. Fixed ones stay; the change of energy is booked in the ledger's
        ``added``."""
        self._write(lib.brio_sim_set_positions, body, x, "positions")

    def set_velocities(self, v: Any, body: Body = 0) -> None:
        """Sets the velocities of a body's vertices."""
        self._write(lib.brio_sim_set_velocities, body, v, "velocities")

    def _shape(self, body: int) -> Tuple[int, int]:
        return (self._vertices[body], 3)

    def _read(self, function: Any, body: Body, out: Optional[np.ndarray], what: str) -> np.ndarray:
        self._alive()
        number = self._body(body)
        if out is None:
            out = np.empty(self._shape(number))
        elif (
            not isinstance(out, np.ndarray)
            or out.shape != self._shape(number)
            or out.dtype != np.float64
        ):
            got = (
                f"{out.dtype} of shape {out.shape}"
                if isinstance(out, np.ndarray)
                else type(out).__name__
            )
            raise ValueError(
                f'{what} of body "{self._names[number]}": out: expected float64 of shape'
                f" {self._shape(number)}, got {got}"
            )
        elif not out.flags.c_contiguous or not out.flags.writeable or not out.flags.aligned:
            raise ValueError(
                f'{what} of body "{self._names[number]}": out must be contiguous (C order) and'
                " writeable"
            )
        self._call(function, number, out.ctypes)
        return out

    def _write(self, function: Any, body: Body, values: Any, what: str) -> None:
        self._alive()
        number = self._body(body)
        array = np.ascontiguousarray(values, dtype=np.float64)
        if array.shape != self._shape(number):
            raise ValueError(
                f'{what} of body "{self._names[number]}": expected an array of shape'
                f" {self._shape(number)}, got {array.shape}"
            )
        status = self._call(function, number, array.ctypes, None)
        if status:
            bad = np.argwhere(~np.isfinite(array))
            reason = f'{what} of body "{self._names[number]}": '
            if len(bad):
                reason += f"that of vertex {bad[0][0]} is not finite"
            elif status == Status.STEP_REJECTED:
                reason += (
                    "an element would be inverted, or bodies would touch, and that is forbidden"
                )
            else:
                reason += "it may move along x only, or they are not valid for it"
            raise Error(reason, status)

    # ---- views ---------------------------------------------------------------------------------

    def _state_view(self, function: Any) -> np.ndarray:
        handle = self._alive()
        array, memory = _view(
            handle, function(self._call(lib.brio_sim_state)), (self._coordinates,), "<f8"
        )
        if memory is not None:
            handle.views.add(memory)
        return array

    @property
    def q(self) -> np.ndarray:
        """The coordinates themselves, not a copy: a read-only array that shows every step. 3 for
        each vertex that is not fixed, 12 for an affine body.

        ``sim.q.copy()`` keeps an instant. Change them through ``set_positions``, which keeps the
        books.
        """
        return self._state_view(lib.brio_state_q)

    @property
    def v(self) -> np.ndarray:
        """The velocities of the coordinates, likewise."""
        return self._state_view(lib.brio_state_v)

    def _mesh_view(self, function: Any, body: Body, corners: int) -> np.ndarray:
        handle, count = self._alive(), c_int64()
        address = function(self._system, self._body(body), byref(count))
        array, memory = _view(handle, address, (count.value, corners), "<i4")
        if memory is not None:
            handle.meshes.add(memory)
        return array

    def triangles(self, body: Body = 0) -> np.ndarray:
        """The surface of a body: n x 3 vertex numbers, a read-only view."""
        return self._mesh_view(lib.brio_body_triangles, body, 3)

    def edges(self, body: Body = 0) -> np.ndarray:
        """The springs of a body: n x 2 vertex numbers, a read-only view."""
        return self._mesh_view(lib.brio_body_edges, body, 2)

    def tets(self, body: Body = 0) -> np.ndarray:
        """The tets of a body: n x 4 vertex numbers, a read-only view."""
        return self._mesh_view(lib.brio_body_tets, body, 4)

    # ---- energies ------------------------------------------------------------------------------

    def ledger(self) -> Ledger:
        """Energies, momenta and the ledger at this time.

        >>> import brio
        >>> now = brio.load("spinning-cube").ledger()
        >>> bool(now.total == now.kinetic + now.potential)
        True
        """
        ledger = Ledger()
        self._check(self._call(lib.brio_sim_ledger, byref(ledger)), "the energy is not finite")
        return ledger

    def energy(self, body: Body) -> float:
        """Elastic energy of one body, in J."""
        return self._call(lib.brio_sim_body_energy, self._body(body))

    # ---- matrices ------------------------------------------------------------------------------

    @property
    def mass(self) -> Any:
        """M, of the coordinates ``q``: a diagonal sparse matrix of scipy, or without scipy a
        ``brio.Matrix``."""
        found = np.empty(self._coordinates)
        self._call(lib.brio_sim_masses, found.ctypes)
        places = np.arange(len(found), dtype=np.int32)
        return Matrix(len(found), places, places, found).sparse()

    @property
    def gradient(self) -> np.ndarray:
        """dP/dq in N, of all of the potential."""
        found = np.empty(self._coordinates)
        self._check(
            self._call(lib.brio_sim_gradient, found.ctypes), "the potential has no value here"
        )
        return found

    def _hessian(self, elements: bool) -> Any:
        raw, error = CTriplets(), CError()
        status = self._call(lib.brio_sim_hessian, elements, byref(raw), byref(error))
        if status:
            raise error_of(status, error)
        row, column, value = (
            np.ctypeslib.as_array(part, (raw.count,)).copy()
            for part in (raw.row, raw.column, raw.value)
        )
        size = raw.size
        lib.brio_triplets_free(byref(raw))
        return Matrix(size, row, column, value).sparse()

    @property
    def hessian(self) -> Any:
        """d2P/dq2 in N/m, exact, of all of the potential: sparse, as ``mass``.

        >>> import brio
        >>> sim = brio.load("cloth")
        >>> K = sim.hessian
        >>> K.shape == (len(sim.q), len(sim.q))
        True
        """
        return self._hessian(False)

    @property
    def stiffness(self) -> Any:
        """The same without the contact of surfaces: materials, attachments, hands, obstacles with a
        formula."""
        return self._hessian(True)

    def _repr_html_(self) -> str:
        """In a notebook: what it holds, and its bodies in 3D, to be turned with the mouse."""
        now = self.ledger()
        rows = ", ".join(
            f"{html.escape(name)} ({count} vertices)"
            for name, count in zip(self._names, self._vertices)
        )
        return (
            f"<p><b>brio</b>: {html.escape(self.integrator)}, h = {self.h:.6g} s, t ="
            f" {self.time:.6g} s, energy {now.total:.6g} J, {len(self.q)} coordinates; {rows}</p>"
            + _show.frame(_show.scene_page(self), 360)
        )

    # ---- checkpoints ---------------------------------------------------------------------------

    def snapshot(self) -> State:
        """A copy of the state, for ``restore``."""
        pointer = c_void_p()
        self._check(
            self._call(
                lambda sim: lib.brio_state_copy(lib.brio_sim_state(sim), byref(pointer), None)
            )
        )
        return State(pointer.value or 0, self._alive())

    def restore(self, state: State) -> None:
        """Restores a copy of this simulation, which continues from there to the same bits."""
        if not isinstance(state, State):
            raise TypeError("restore takes what snapshot returned; a file is for resume")
        if state._sim() is not self._alive():
            raise Error("this state is of another simulation")
        if state._edition != self._alive().edition:
            raise Error(
                "this state is from before an edit, and of other bodies: save and resume keep both"
            )
        self._call(lambda sim: lib.brio_state_assign(lib.brio_sim_state(sim), state._pointer))

    def save(self, file: "Union[str, os.PathLike[str]]", force: bool = False) -> None:
        """Writes a checkpoint. An existing file raises ``brio.Error`` and is kept, unless
        ``force``."""
        error = CError()
        status = self._call(lib.brio_sim_save, os.fsencode(file), bool(force), byref(error))
        if status:
            raise error_of(status, error)

    def resume(self, file: "Union[str, os.PathLike[str]]") -> None:
        """Restores a checkpoint of the same scene; the simulation continues from there to the
        same bits."""
        error = CError()
        if lib.brio_checkpoint_has_bodies(os.fsencode(file)) > 0:
            self._no_views()
        try:
            status = self._call(lib.brio_sim_restore, os.fsencode(file), byref(error))
        finally:
            self._renewed()
        if status:
            raise error_of(status, error)

    # ---- editing -------------------------------------------------------------------------------

    def _no_views(self) -> None:
        handle = self._alive()
        count = len(handle.views) + len(handle.meshes)
        if count:
            raise Error(
                f"{count} arrays look into the simulation (q, v, triangles, edges, tets), and an"
                " edit makes it again: drop them first, or keep copies"
            )

    def _renewed(self) -> bool:
        """After a call that may replace the system, also one that Ctrl-C followed: whether it
        did."""
        handle = self._handle
        if handle is None or lib.brio_sim_system(handle.pointer) == self._system:
            return False
        handle.edition += 1
        self._driven = set()
        self._look(handle)
        return True

    def edit(self) -> "Edit":
        """Changes of bodies, obstacles, pins, rods and forces, all at once at the end of a ``with``
        block.

        >>> import brio
        >>> sim = brio.load("spinning-cube")
        >>> with sim.edit() as edit:
        ...     tet = edit.body([[0, 3, 0], [1, 3, 0], [0, 4, 0], [0, 3, 1]], tets=[[0, 1, 2, 3]])
        >>> sim.step()
        """
        from ._edit import Edit

        return Edit(self)

    @property
    def obstacles(self) -> List[str]:
        """Names of the obstacles, in order; "" for a removed one. An obstacle is given by its
        name, its index here, or the number that a ``Builder`` returned: -1 is the first."""
        self._alive()
        return [
            _text(lib.brio_obstacle_name(self._system, i))
            for i in range(lib.brio_system_obstacles(self._system))
        ]

    def _obstacle(self, obstacle: Body) -> int:
        names = self.obstacles
        if isinstance(obstacle, str) and obstacle in names:
            return names.index(obstacle)
        if not isinstance(obstacle, str) and -len(names) <= int(obstacle) < len(names):
            return int(obstacle) if obstacle >= 0 else -1 - int(obstacle)
        raise Error(f"there is no obstacle {obstacle!r}; there are {names}")

    def obstacle_positions(self, obstacle: Body = 0) -> np.ndarray:
        """Vertices of a mesh obstacle, n x 3; none for a plane or a solid."""
        number = self._obstacle(obstacle)
        x = np.zeros((lib.brio_obstacle_vertices(self._system, number), 3))
        self._call(lib.brio_sim_obstacle_positions, number, x.ctypes)
        return x

    def obstacle_triangles(self, obstacle: Body = 0) -> np.ndarray:
        """Triangles of a mesh obstacle, n x 3; none for a plane or a solid."""
        count = c_int64()
        number = self._obstacle(obstacle)
        address = lib.brio_obstacle_triangles(self._system, number, byref(count))
        return _view(self._alive(), address, (count.value, 3), "<i4")[0].copy()

    def move_obstacle(self, obstacle: Body, positions: Any) -> None:
        """During the next step the vertices of a mesh (n x 3) move to new positions, and rest
        there. The obstacle pushes bodies in its way."""
        number = self._obstacle(obstacle)
        x = np.ascontiguousarray(positions, dtype=np.float64)
        count = lib.brio_obstacle_vertices(self._system, number)
        if count and x.shape != (count, 3):
            raise ValueError(f"positions: expected an array of shape ({count}, 3), got {x.shape}")
        if number not in self._driven:
            self._no_views()
        driven, error = self._driven | {number}, CError()
        try:
            status = self._call(lib.brio_sim_move_obstacle_to, number, x.ctypes, byref(error))
        finally:
            self._renewed()
        if status:
            raise error_of(status, error)
        self._driven = driven

    def note_contacts(self, most: int = 256) -> None:
        """From now on steps record contacts, up to ``most`` pairs of bodies and obstacles; 0:
        off."""
        error = CError()
        status = self._call(lib.brio_sim_note_contacts, most, byref(error))
        if status:
            raise error_of(status, error)

    def contacts(self) -> List[Contact]:
        """The contacts of the last step, in a fixed order; after ``note_contacts``."""
        count = self._call(lib.brio_sim_contacts, None, 0)
        events = (CContactEvent * max(count, 1))()
        self._call(lib.brio_sim_contacts, ctypes.byref(events), count)
        return [Contact(event, self) for event in events[:count]]

    def draw(
        self,
        body: Body = 0,
        dtype: Any = np.float32,
        out: Optional[Tuple[np.ndarray, np.ndarray]] = None,
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Positions and unit normals of the drawn surface of a body, n x 3 each, in single or
        double precision; into ``out`` if it is given."""
        number = self._body(body)
        shape = (lib.brio_body_drawn_vertices(self._system, number), 3)
        arrays = out or (np.empty(shape, dtype), np.empty(shape, dtype))
        kind = arrays[0].dtype
        if kind not in (np.float32, np.float64) or any(
            a.shape != shape or a.dtype != kind or not a.flags.carray for a in arrays
        ):
            raise ValueError(
                f"out: expected two contiguous, writeable arrays of shape {shape} in single or"
                " double precision"
            )
        buffers = CVertexBuffers()
        ends = ("position_float", "normal_float") if kind == np.float32 else ("position", "normal")
        for name, array in zip(ends, arrays):
            setattr(buffers, name, array.ctypes.data)
        self._check(self._call(lib.brio_sim_draw, number, byref(buffers), None))
        return arrays[0], arrays[1]

    def drawn_triangles(self, body: Body = 0) -> np.ndarray:
        """The triangles of the drawn surface of a body: n x 3 vertex numbers, a read-only view."""
        return self._mesh_view(lib.brio_body_drawn_triangles, body, 3)

    # ---- taking part ---------------------------------------------------------------------------

    def grab(self, point: Vector, body: Optional[Body] = None, k: Optional[float] = None) -> Hand:
        """A hand that grabs the point of a body's surface nearest to ``point``; of all bodies if
        none is given. ``k`` is how firm it is, in N/m.

        >>> import brio
        >>> sim = brio.load("cloth")
        >>> with sim.grab([0, 0, 0.4]) as hand:
        ...     hand.drag([0, 0.3, 0.4])
        ...     sim.step(10)
        >>> bool(sim.ledger().added > 0)
        True
        """
        number = c_int(-1)
        place = vector(point, "grab")
        which = -1 if body is None else self._body(body)
        self._check(
            self._call(
                lib.brio_sim_grab,
                which,
                place.ctypes,
                np.nan if k is None else k,
                byref(number),
                None,
            )
        )
        return Hand(self, number.value)

    def grab_vertex(self, vertex: int, body: Body = 0, k: Optional[float] = None) -> Hand:
        """A hand that grabs a vertex."""
        number = c_int(-1)
        count = self.vertices(body)
        if not 0 <= int(vertex) < count:
            raise Error(
                f'there is no vertex {vertex} in body "{self._names[self._body(body)]}", which has'
                f" {count}"
            )
        self._check(
            self._call(
                lib.brio_sim_grab_vertex,
                self._body(body),
                int(vertex),
                np.nan if k is None else k,
                byref(number),
                None,
            )
        )
        return Hand(self, number.value)

    def grab_ray(
        self, origin: Vector, direction: Vector, k: Optional[float] = None
    ) -> Optional[Hand]:
        """A hand where a ray first hits a body, with the point as ``hit``; None if it hits
        nothing."""
        number, hit = c_int(-1), np.zeros(3)
        start, along = vector(origin, "grab_ray"), vector(direction, "grab_ray")
        self._check(
            self._call(
                lib.brio_sim_grab_ray,
                start.ctypes,
                along.ctypes,
                np.nan if k is None else k,
                byref(number),
                hit.ctypes,
                None,
            )
        )
        return Hand(self, number.value, hit) if number.value >= 0 else None

    @property
    def attachments(self) -> List[Attachment]:
        """The attachments of the scene, in order."""
        found = []
        for i in range(self._call(lib.brio_sim_attachments)):
            raw = CHand()
            self._check(self._call(lib.brio_sim_attachment, i, byref(raw)))
            found.append(Attachment(raw))
        return found

    def move_attachment(self, i: int, point: Vector) -> None:
        """Moves an attachment of the scene to another point."""
        count = self._call(lib.brio_sim_attachments)
        if not 0 <= i < count:
            raise Error(f"there is no attachment {i}; there are {count}")
        self._check(
            self._call(
                lib.brio_sim_move_attachment, i, vector(point, "move_attachment").ctypes, None
            ),
            "",
        )

    def set_force(self, force: int, factor: float) -> None:
        """Sets the factor of a force, by its number in the scene, from now on."""
        self._check(
            self._call(lib.brio_sim_set_force, force, factor, None),
            "there is no such force, or the factor is not finite",
        )

    def reaction(self, constraint: int) -> Tuple[np.ndarray, np.ndarray]:
        """Force (N) and torque about its point (N m) of a constraint on its body a, as the last
        step found them."""
        force, torque = np.zeros(3), np.zeros(3)
        self._check(
            self._call(lib.brio_sim_reaction, constraint, force.ctypes, torque.ctypes),
            "there is no such constraint",
        )
        return force, torque

    def stitches(self) -> Tuple[int, int]:
        """Number of stitches, and number of broken ones."""
        broken = c_int64()
        return self._call(lib.brio_sim_stitches, byref(broken)), broken.value

    def set_gravity(self, gravity: Vector) -> None:
        """Sets gravity from now on, in m/s2."""
        self._check(
            self._call(lib.brio_sim_set_gravity, vector(gravity, "gravity").ctypes, None),
            "gravity must be finite",
        )

    def material(self, name: str, body: Body = 0) -> float:
        """A parameter of a body's material."""
        value = c_double()
        number = self._body(body)
        status = self._call(lib.brio_sim_material, number, name.encode(), byref(value))
        self._check(
            status,
            (
                f"the material {_text(lib.brio_body_material(self._system, number))} has no"
                f" parameter {name}"
            ),
        )
        return value.value

    def set_material(self, name: str, value: float, body: Body = 0) -> None:
        """Changes a parameter of a body's material. Masses and rest shapes cannot be changed."""
        self._check(
            self._call(lib.brio_sim_set_material, self._body(body), name.encode(), value, None)
        )

    def set_damping(self, i: int, name: str, value: float) -> None:
        """Changes a value of the scene's i-th damping model."""
        self._check(self._call(lib.brio_sim_set_damping, i, name.encode(), value, None))

    def damping(self, i: int, name: str) -> float:
        """A value of the scene's i-th damping model."""
        value = c_double()
        self._check(
            self._call(lib.brio_sim_damping, i, name.encode(), byref(value)),
            f"there is no value {name} of damping model {i}",
        )
        return value.value

    @property
    def integrator(self) -> str:
        return _text(self._call(lib.brio_sim_integrator, None))

    def set_integrator(self, name: str, **values: Any) -> None:
        """Uses another integrator from now on, with its defaults except for ``values``.

        >>> import brio
        >>> sim = brio.load("cloth")
        >>> sim.set_integrator("bdf2")
        """
        found = lib.brio_integrator(name.encode())
        if not found:
            raise Error(f'no integrator "{name}"; brio.integrators() names them')
        filled = field_values(found.contents.fields, values, f"integrator {name}")
        handle = self._alive()
        now = lib.brio_integrator(self.integrator.encode()).contents
        if now.history != found.contents.history and len(handle.views):
            raise Error(
                f"{len(handle.views)} arrays look into the state (q, v), and {name} needs another"
                " room for its history, so that the state moves: drop them first, or keep copies"
            )
        self._check(self._call(lib.brio_sim_set_integrator, name.encode(), filled, None))
