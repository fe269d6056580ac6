"""Energies and integrators written in Python."""
from __future__ import annotations

import ctypes
import enum
import math
import warnings
from ctypes import byref, c_double
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _callbacks
from ._library import (
    MAX_VALUES,
    SCRATCH,
    CElements,
    CEnergyDef,
    CError,
    CField,
    CIntegrator,
    CheckFunction,
    CObjective,
    Error,
    EvalFunction,
    Status,
    StepFunction,
    error_of,
    lib,
)

__all__ = ["Elements", "Field", "Rejected", "Stepper", "Trait", "energy", "integrator"]


# ---- parameters -----------------------------------------------------------------------------------


class _Row(NamedTuple):
    default: float
    unit: str = ""
    min: float = -1e300
    max: float = 1e300
    summary: str = ""


class Field(_Row):
    """A parameter that scenes can set: its default, unit, range and a sentence on it.

    ``Field(default, unit="", min=-1e300, max=1e300, summary="")``"""

    __slots__ = ()

    def __new__(cls, *values: Any, **named: Any) -> Field:
        for old, new in (("standard", "default"), ("least", "min"), ("most", "max")):
            if old in named:  # the names of 0.1, for one version
                warnings.warn(
                    f"brio.Field: {old} is called {new} now", DeprecationWarning, stacklevel=2
                )
                named[new] = named.pop(old)
        return super().__new__(cls, *values, **named)


Fields = Optional[Mapping[str, Union[float, Field]]]


def _table(fields: Dict[str, Field]) -> "ctypes.Array[CField]":
    table = (CField * (len(fields) + 1))()
    for row, (name, field) in zip(table, fields.items()):
        row.name, row.unit, row.summary = name.encode(), field.unit.encode(), field.summary.encode()
        row.default_value, row.min, row.max = field.default, field.min, field.max
    return table


def _fields(given: Fields) -> Dict[str, Field]:
    return {
        name: value if isinstance(value, Field) else Field(float(value))
        for name, value in (given or {}).items()
    }


def _about(name: str, function: Any, summary: str, citation: Optional[str]) -> Tuple[Any, ...]:
    """Name, summary (that of the docstring if none is given) and citation, as C takes them."""
    words = summary or (function.__doc__ or "").split("\n")[0]
    return name.encode(), words.encode(), citation.encode() if citation else None


class _Slot:
    """What C holds of a registration, for good: the struct, its texts and its callback. The
    function behind it may be replaced."""

    def __init__(self, function: Any, signature: Any):
        self.function, self.signature = function, signature
        self.kept: Any = None


_slots: Dict[Tuple[str, str], _Slot] = {}


def _again(kind: str, name: str, function: Any, signature: Any) -> bool:
    """Whether the name is registered already with the same properties: then the function is
    replaced, as a notebook does that runs a cell again."""
    slot = _slots.get((kind, name))
    if slot is None:
        return False
    if slot.signature != signature:
        raise Error(
            f'the {kind} "{name}" was registered before with other properties; give this one'
            " another name"
        )
    slot.function = function
    return True


# ---- energies -------------------------------------------------------------------------------------


class Elements:
    """Elements of a body to be evaluated at once.

    ``x`` and ``rest`` are their vertices' positions, now and at rest (count x nodes x 3); ``size``
    their rest length (springs) or volume (tets), and ``weight`` a factor for each (count);
    ``order`` says what is wanted: 0 energies only, 1 gradients too, 2 Hessians too. Parameters are
    attributes of ``values``: ``e.values["k"]``. All arrays are copies.
    """

    __slots__ = ("count", "nodes", "x", "rest", "size", "weight", "values", "order")

    def __init__(self, raw: CElements, names: List[str]):
        n, nodes = raw.count, raw.nodes
        self.count, self.nodes = n, nodes
        self.x: np.ndarray = np.ctypeslib.as_array(raw.x, (n, nodes, 3)).copy()
        self.rest: np.ndarray = np.ctypeslib.as_array(raw.rest, (n, nodes, 3)).copy()
        self.size: np.ndarray = np.ctypeslib.as_array(raw.size, (n,)).copy()
        self.weight: np.ndarray = np.ctypeslib.as_array(raw.weight, (n,)).copy()
        self.values: Dict[str, float] = dict(zip(names, raw.values[: len(names)]))
        self.order: int = 2 if raw.hessian else 1 if raw.gradient else 0


EnergyFunction = Callable[[Elements], Any]
_KINDS = {"springs": 2, "solid": 1}


def energy(
    name: str,
    kind: str = "springs",
    fields: Fields = None,
    summary: str = "",
    citation: Optional[str] = None,
) -> Callable[[EnergyFunction], EnergyFunction]:
    """Registers a function as a material for bodies of springs (``kind="springs"``) or of tets
    (``kind="solid"``).

    It takes ``brio.Elements`` and returns their energies (count), gradients (count x nodes x 3) and
    Hessians (count x 3 nodes x 3 nodes); the last two may be None or left out where ``order`` does
    not ask for them. An infinite energy forbids a state. ``fields`` are its parameters with their
    defaults; ``rho`` and, for springs, ``vertex_mass`` are there without being named. Scenes then
    use it like any material:

    >>> import brio, numpy as np
    >>> @brio.energy("cubic", fields={"k": 100.0})
    ... def cubic(e):
    ...     d = e.x[:, 1] - e.x[:, 0]
    ...     c = e.values["k"] * e.weight
    ...     E = c / 4 * np.sum(d * d, axis=1) ** 2
    ...     g = (c * np.sum(d * d, axis=1))[:, None] * d
    ...     K = c[:, None, None] * (2 * d[:, :, None] * d[:, None, :] + np.sum(d * d, axis=1)[:, None, None] * np.eye(3))
    ...     return E, np.stack([-g, g], axis=1), np.block([[K, -K], [-K, K]])
    >>> sim = brio.load({"bodies": [{"shape": {"type": "line", "length": 1, "cells": 4},
    ...                              "material": {"type": "cubic", "k": 50, "vertex_mass": 0.1}}]})
    >>> sim.step(3)
    """
    if kind not in _KINDS:
        raise ValueError(f'kind: expected "springs" or "solid", got {kind!r}')
    own = _fields(fields)
    mass = Field(
        math.nan if kind == "springs" else 1000.0,
        "kg/m2" if kind == "springs" else "kg/m3",
        1e-300,
        1e15,
        "Density.",
    )
    table = {
        **own,
        **(
            {
                "vertex_mass": Field(
                    math.nan, "kg", 1e-300, 1e15, "Mass of every vertex; or give rho."
                )
            }
            if kind == "springs"
            else {}
        ),
        "rho": mass,
        **own,
    }

    def register(function: EnergyFunction) -> EnergyFunction:
        # texts, because a NaN is unequal to itself
        if _again("energy", name, function, (kind, repr(table))):
            return function
        slot = _Slot(function, (kind, repr(table)))
        names = list(table)

        @EvalFunction
        @_callbacks.guarded
        def evaluate(_: Any, raw: Any) -> None:
            elements = Elements(raw.contents, names)
            _fill(name, elements, slot.function(elements), raw.contents)

        c_table = _table(table)
        c_def = CEnergyDef(
            *_about(name, function, summary, citation),
            _KINDS[kind],
            c_table,
            None,
            evaluate,
        )
        error = CError()
        status = lib.brio_register_energy(byref(c_def), byref(error))
        if status:
            raise error_of(status, error)
        slot.kept = (c_def, c_table, evaluate)
        _slots["energy", name] = slot
        _callbacks.registered = True
        return function

    return register


def _fill(name: str, e: Elements, results: Any, raw: CElements) -> None:
    given = list(results) if isinstance(results, tuple) else [results]
    given += [None] * (3 - len(given))
    wide = 3 * e.nodes
    for what, value, address, shape in (
        ("energies", given[0], raw.energy, (e.count,)),
        ("gradients", given[1], raw.gradient, (e.count, e.nodes, 3)),
        ("Hessians", given[2], raw.hessian, (e.count, wide, wide)),
    ):
        if not address:
            continue
        if value is None:
            raise ValueError(f'energy "{name}" returned no {what}, which order {e.order} asks for')
        array = np.ascontiguousarray(value, dtype=np.float64)
        if array.shape != shape:
            raise ValueError(
                f'energy "{name}" returned {what} of shape {array.shape}: expected {shape}'
            )
        ctypes.memmove(address, array.ctypes.data, array.nbytes)


# ---- integrators ----------------------------------------------------------------------------------


class Trait(enum.IntFlag):
    """What an integrator does, as in brio.h. Contact by barriers wants END_IS_SOLVED, rods
    TAKES_CONSTRAINTS."""

    IMPLICIT = 1
    SYMPLECTIC = 2
    KEEPS_LINEAR_MOMENTUM = 4
    KEEPS_ANGULAR_MOMENTUM = 8
    ENERGY_CONTROLLED = 16
    DISSIPATIVE = 32
    END_IS_SOLVED = 64
    SPRINGS_ONLY = 128
    TAKES_CONSTRAINTS = 256
    LINEARISED = 512
    USES_COMPONENTS = 1024
    TAKES_TETS = 2048


class Rejected(Exception):
    """A step that cannot be done at this length: brio tries it again in halves. Raised by
    ``Stepper`` and, if you like, by you."""

    def __init__(self, reason: str = "", status: int = 4):
        super().__init__(reason)
        self.status = status


class Stepper:
    """What an integrator sees during a step: the state at its beginning, and tools. Of no use after
    the step. Arrays are copies of your own, of the length of ``q``."""

    def __init__(self, pointer: int):
        self._pointer: Optional[int] = pointer
        self._size: int = lib.brio_stepper_coordinates(pointer)
        self._accepted = False

    def _live(self) -> int:
        if self._pointer is None:
            raise Error("this step is over: a Stepper can be used during its step only")
        return self._pointer

    def _in(self, array: Any, what: str) -> np.ndarray:
        found = np.ascontiguousarray(array, dtype=np.float64)
        if found.shape != (self._size,):
            raise ValueError(
                f"{what}: expected an array of shape ({self._size},), got {found.shape}"
            )
        return found

    def _copy(self, address: Optional[int]) -> np.ndarray:
        out = np.empty(self._size)
        ctypes.memmove(out.ctypes.data, address or 0, out.nbytes)
        return out

    @property
    def q(self) -> np.ndarray:
        """Coordinates at the start of the step."""
        return self._copy(lib.brio_stepper_q(self._live()))

    @property
    def v(self) -> np.ndarray:
        """Their velocities."""
        return self._copy(lib.brio_stepper_v(self._live()))

    @property
    def time(self) -> float:
        return lib.brio_stepper_time(self._live())

    @property
    def last_h(self) -> float:
        """The length of the step before."""
        return lib.brio_stepper_last_h(self._live())

    def value(self, field: str) -> float:
        """A parameter of the integrator."""
        found = lib.brio_stepper_value(self._live(), field.encode())
        if math.isnan(found):
            raise Error(f"the integrator has no parameter {field}")
        return found

    def minimise(
        self,
        target: Any,
        s: float,
        time: float,
        h: float,
        a: float = 1.0,
        linear: bool = False,
        undamped: bool = False,
        weight: float = 0.0,
    ) -> np.ndarray:
        """argmin 1/2 |q - target|^2_M + s P(a q + (1 - a) q_n), the primitive of implicit methods
        (brio.h); raises ``Rejected`` if it finds none."""
        goal, out = self._in(target, "target"), np.empty(self._size)
        objective = CObjective(
            target=goal.ctypes.data,
            s=s,
            a=a,
            time=time,
            h=h,
            linear=linear,
            undamped=undamped,
            weight=weight,
        )
        status = lib.brio_stepper_minimise(self._live(), byref(objective), out.ctypes)
        if status:
            raise Rejected(status=status)
        return out

    def potential(self, q: Any, time: float) -> float:
        """P(q)."""
        return lib.brio_stepper_potential(self._live(), self._in(q, "q").ctypes, time, None)

    def gradient(self, q: Any, time: float) -> np.ndarray:
        """grad P(q)."""
        out = np.empty(self._size)
        if not math.isfinite(
            lib.brio_stepper_potential(self._live(), self._in(q, "q").ctypes, time, out.ctypes)
        ):
            raise Rejected("the potential is not finite")
        return out

    def force(self, q: Any, v: Any, time: float, h: float, weight: float = 1.0) -> np.ndarray:
        """-grad P(q) and the damping forces at (q, v), counted in the ledger by ``weight``."""
        out = np.empty(self._size)
        lib.brio_stepper_force(
            self._live(),
            self._in(q, "q").ctypes,
            self._in(v, "v").ctypes,
            time,
            h,
            weight,
            out.ctypes,
        )
        return out

    def mass_solve(self, f: Any) -> np.ndarray:
        """M^-1 f."""
        out = np.empty(self._size)
        lib.brio_stepper_mass_solve(self._live(), self._in(f, "f").ctypes, out.ctypes)
        return out

    def mass_multiply(self, v: Any) -> np.ndarray:
        """M v."""
        out = np.empty(self._size)
        lib.brio_stepper_mass_multiply(self._live(), self._in(v, "v").ctypes, out.ctypes)
        return out

    def kinetic(self, v: Any) -> float:
        """1/2 v.M v."""
        return lib.brio_stepper_kinetic(self._live(), self._in(v, "v").ctypes)

    def linear_solve(self, q: Any, time: float, s: float, b: Any) -> np.ndarray:
        """(M + s K)^-1 b with K the semidefinite part of the Hessian at q."""
        out = np.empty(self._size)
        status = lib.brio_stepper_linear_solve(
            self._live(), self._in(q, "q").ctypes, time, s, self._in(b, "b").ctypes, out.ctypes
        )
        if status:
            raise Rejected(status=status)
        return out

    def history(self, k: int) -> np.ndarray:
        """The k-th vector that the state keeps for the integrator; ``history_used`` says how many
        hold something."""
        address = lib.brio_stepper_history(self._live(), k)
        if not address:
            raise Error(f"there is no history {k}: register the integrator with history={k + 1}")
        return self._copy(address)

    def set_history(self, k: int, vector: Any) -> None:
        """Keeps a vector for the steps that follow."""
        address = lib.brio_stepper_history(self._live(), k)
        if not address:
            raise Error(f"there is no history {k}: register the integrator with history={k + 1}")
        kept = self._in(vector, "history")
        ctypes.memmove(address, kept.ctypes.data, kept.nbytes)

    @property
    def history_used(self) -> int:
        return lib.brio_stepper_history_used(self._live())

    @history_used.setter
    def history_used(self, count: int) -> None:
        lib.brio_stepper_set_history_used(self._live(), count)

    @property
    def target(self) -> float:
        """The energy that the last step aimed at; NaN at first."""
        return lib.brio_stepper_target(self._live())

    def set_target(self, target: float, alpha: float) -> None:
        """The energy that this step aims at, and how: both go to the ledger."""
        lib.brio_stepper_set_target(self._live(), target, alpha)

    def work(self, q: Any, h: float) -> Tuple[float, float]:
        """What a step that ends at q would book as added and as dissipated."""
        added, dissipated = c_double(), c_double()
        lib.brio_stepper_work(
            self._live(), self._in(q, "q").ctypes, h, byref(added), byref(dissipated)
        )
        return added.value, dissipated.value

    def accept(self, h: float, q: Any, v: Any) -> None:
        """Ends the step with a new state; raises ``Rejected`` if that is not allowed."""
        status = lib.brio_stepper_accept(
            self._live(), h, self._in(q, "q").ctypes, self._in(v, "v").ctypes
        )
        if status:
            raise Rejected(status=status)
        self._accepted = True


StepFunctionOf = Callable[[Stepper, float], None]


def integrator(
    name: str,
    order: int = 0,
    traits: Trait = Trait(0),
    fields: Fields = None,
    history: int = 0,
    summary: str = "",
    citation: Optional[str] = None,
) -> Callable[[StepFunctionOf], StepFunctionOf]:
    """Registers a function as an integrator: it takes a ``brio.Stepper`` and the step h, and ends
    with ``accept``.

    >>> import brio
    >>> @brio.integrator("semi-implicit", order=1, traits=brio.Trait.SYMPLECTIC)
    ... def semi_implicit(s, h):
    ...     v = s.v + h * s.mass_solve(s.force(s.q, s.v, s.time, h))
    ...     s.accept(h, s.q + h * v, v)
    >>> sim = brio.load("cloth", set={"time.h": 1e-4, "integrator": "semi-implicit"})
    >>> sim.step(10)
    """
    table = _fields(fields)
    if len(table) > MAX_VALUES:
        raise ValueError(f"at most {MAX_VALUES} parameters")

    def register(function: StepFunctionOf) -> StepFunctionOf:
        signature = (order, int(traits), history, repr(table))
        if _again("integrator", name, function, signature):
            return function
        slot = _Slot(function, signature)

        @StepFunction
        @_callbacks.guarded
        def step(pointer: Any, h: float) -> int:
            stepper = Stepper(pointer)
            try:
                slot.function(stepper, h)
                return 0
            except Rejected as reason:
                if str(reason):
                    return lib.brio_stepper_fail(pointer, reason.status, str(reason).encode())
                return reason.status
            finally:
                stepper._pointer = None

        c_table = _table(table)
        c_integrator = CIntegrator(
            *_about(name, function, summary, citation),
            order,
            history,
            int(traits),
            c_table,
            step,
            CheckFunction(),
        )
        error = CError()
        status = lib.brio_register_integrator(byref(c_integrator), byref(error))
        if status:
            raise error_of(status, error)
        slot.kept = (c_integrator, c_table, step)
        _slots["integrator", name] = slot
        _callbacks.registered = True
        return function

    return register
