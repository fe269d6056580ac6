"""Forces and contact laws written in Python, and plug-ins written in C."""
from __future__ import annotations

import os
from ctypes import byref
from typing import Any, Callable, Dict, List, Optional, Union

import numpy as np

from . import _callbacks
from ._library import (
    CError,
    CForceTypeDef,
    CLawDef,
    LawFunction,
    TypedForceFunction,
    error_of,
    lib,
)
from ._own import Fields, _about, _again, _fields, _Slot, _slots, _table

__all__ = ["force", "law", "load_plugin"]

_ROWS, _COLUMNS = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)
plugins: List[str] = []  #: that were loaded


def _fill(function: Callable[..., Any], potential: bool, c: Any) -> float:
    """Evaluates a force for C: forces or the gradient into its arrays; returns the energy."""
    x = np.ctypeslib.as_array(c.x, (c.count, 3)).copy()
    if not potential:
        v = np.ctypeslib.as_array(c.v, (c.count, 3)).copy()
        found = function(x, v, c.time)
        if found is None:  # which numpy takes for NaN
            raise ValueError(f"the force returned None: expected an array of shape {x.shape}")
        np.ctypeslib.as_array(c.force, (c.count, 3))[:] = found
        return 0.0
    value, gradient, *more = function(x, c.time)
    if c.force:
        np.ctypeslib.as_array(c.force, (c.count, 3))[:] = -np.asarray(gradient)
    if c.hessian and more and more[0] is not None:
        found = np.asarray(more[0])[:, _ROWS, _COLUMNS]
        np.ctypeslib.as_array(c.hessian, (c.count, 6))[:] = found
    return float(value)


@_callbacks.entry
def force_call(function: Callable[..., Any], potential: bool, call: Any) -> float:
    """What C calls for a force in Python; after an exception nothing is a number, so that the step
    is undone."""
    energy = [float("nan")]

    def evaluate() -> None:
        energy[0] = _fill(function, potential, call.contents)

    if _callbacks.guarded(evaluate)() and call.contents.force:
        count = call.contents.count
        np.ctypeslib.as_array(call.contents.force, (count, 3))[:] = np.nan
    return energy[0]


def _register(register: Any, definition: Any, slot: _Slot, key: Any, *kept: Any) -> None:
    error = CError()
    _callbacks.registered = True
    status = _callbacks.call(register, byref(definition), byref(error))
    if status:
        raise error_of(status, error)
    slot.kept = (definition, *kept)
    _slots[key] = slot


ForceFunction = Callable[..., Any]


def force(
    name: str,
    potential: bool = False,
    fields: Fields = None,
    summary: str = "",
    citation: Optional[str] = None,
) -> Callable[[ForceFunction], ForceFunction]:
    """Registers a function as a force that scenes name like any other.

    ``function(x, v, time, values)`` returns forces (n x 3, in N) for positions and velocities
    (n x 3) of its vertices; with ``potential``, ``function(x, time, values)`` returns the energy
    in J, its gradient (n x 3), and if it can the Hessian of each vertex (n x 3 x 3). ``values``
    are the parameters by name. (A function for one simulation alone: ``Builder.force``.)

    >>> import brio, numpy as np
    >>> @brio.force("updraught", fields={"lift": 0.01})
    ... def updraught(x, v, time, values):
    ...     return values["lift"] * np.exp(-np.sum(x[:, [0, 2]] ** 2, axis=1))[:, None] * [0, 1, 0]
    >>> sim = brio.load("cloth", set={"forces": [{"type": "updraught", "lift": 0.02}]})
    >>> sim.step(3)
    """
    table = _fields(fields)

    def register(function: ForceFunction) -> ForceFunction:
        signature = (potential, repr(table))
        if _again("force", name, function, signature):
            return function
        slot, names = _Slot(function, signature), list(table)

        @_callbacks.entry
        def evaluate(_: Any, raw: Any, call: Any) -> float:
            values: Dict[str, float] = dict(zip(names, raw[: len(names)]))
            return force_call(lambda *given: slot.function(*given, values), potential, call)

        c_table, c_function = _table(table), TypedForceFunction(evaluate)
        definition = CForceTypeDef(
            *_about(name, function, summary, citation),
            c_table,
            None,
            c_function,
            potential,
        )
        _register(lib.brio_register_force, definition, slot, ("force", name), c_table, c_function)
        return function

    return register


LawFunctionOf = Callable[[np.ndarray, float, float], Any]


def law(
    name: str, unbounded: bool = False, summary: str = "", citation: Optional[str] = None
) -> Callable[[LawFunctionOf], LawFunctionOf]:
    """Registers a function as a contact law, a barrier between surfaces: ``contact: {type: NAME}``.

    ``function(gap, kappa, dhat)`` returns b (J), b' (N) and b'' (N/m) for an array of gaps
    between 0 and dhat (m). b' must not be positive, b'' not negative, and b and b' go to 0 at
    dhat. ``unbounded``: b' grows without bound towards 0. Up to four laws.

    >>> import brio, numpy as np
    >>> @brio.law("inverse", unbounded=True)
    ... def inverse(gap, kappa, dhat):
    ...     u = gap / dhat  # b = kappa dhat^2 (1/u - 1 - ln(1/u)), which is flat at u = 1
    ...     return (kappa * dhat**2 * (1 / u - 1 + np.log(u)), kappa * dhat * (1 / u - 1 / u**2),
    ...             kappa * (2 / u**3 - 1 / u**2))
    >>> sim = brio.load("ball-soft", set={"contact": {"type": "inverse", "mu": 0.2}})
    >>> sim.step(2)
    """

    def register(function: LawFunctionOf) -> LawFunctionOf:
        if _again("law", name, function, unbounded):
            return function
        slot = _Slot(function, unbounded)

        @_callbacks.entry
        def evaluate(_: Any, kappa: float, dhat: float, count: int, gap: Any, *out: Any) -> None:
            into = [np.ctypeslib.as_array(one, (count,)) for one in out]

            def fill() -> None:
                found = slot.function(np.ctypeslib.as_array(gap, (count,)).copy(), kappa, dhat)
                if found is None or len(found) != 3:
                    raise ValueError(f'law "{name}" did not return three values: b, b\' and b\'\'')
                for array, values in zip(into, found):
                    array[:] = values

            if _callbacks.guarded(fill)():
                for array in into:
                    array[:] = np.nan

        c_function = LawFunction(evaluate)
        definition = CLawDef(
            *_about(name, function, summary, citation),
            None,
            c_function,
            unbounded,
        )
        _register(lib.brio_register_law, definition, slot, ("law", name), c_function)
        return function

    return register


def load_plugin(file: "Union[str, os.PathLike[str]]") -> None:
    """Loads a plug-in, a shared object that registers integrators, energies, forces or contact laws
    written in C (docs/plugins.md). It is code that runs in this process: load only what you trust.
    """
    error = CError()
    status = _callbacks.call(lib.brio_load_plugin, os.fsencode(file), byref(error))
    if status:
        raise error_of(status, error)
    plugins.append(os.path.abspath(file))
