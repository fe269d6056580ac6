"""Functions of yours that the library calls: their exceptions come out of the call that led to
them.

The library may call from several threads of its own. So that an exception finds the right caller,
calls of the library are one at a time in the process from the moment that something is registered.
"""
from __future__ import annotations

import threading
from typing import Any, Callable, List, Optional

from ._library import Error, Status

_serial = threading.RLock()
_inside = threading.local()
_pending: List[BaseException] = []
registered = False  #: whether there is anything that can be called


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the library; raises what a callback raised meanwhile."""
    if not registered:
        return function(*arguments)
    if getattr(_inside, "depth", 0):
        raise Error(
            "not from within a function that brio called: it may use what it was given, and nothing"
            " else of brio"
        )
    with _serial:
        try:
            result = function(*arguments)
        finally:  # also where Ctrl-C follows the call: the next one starts without exceptions
            problems = _pending[:]
            _pending.clear()
        if problems:
            raise problems[0]
        return result


def guarded(function: Callable[..., Optional[int]]) -> Callable[..., int]:
    """A callback that never raises: the exception is kept for the caller, and until it is raised
    nothing more is called."""

    def run(*arguments: Any) -> int:
        if _pending:
            return int(Status.ERROR_ARGUMENT)
        _inside.depth = getattr(_inside, "depth", 0) + 1
        try:
            return int(function(*arguments) or 0)
        except BaseException as problem:  # KeyboardInterrupt too: it must not be lost
            _pending.append(problem)
            return int(Status.ERROR_ARGUMENT)
        finally:
            _inside.depth -= 1

    return run
