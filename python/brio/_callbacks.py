"""Functions of yours that the library calls: their exceptions come out of the call that led to
them.

The library may call from several threads of its own. So that an exception finds the right caller,
calls of the library are one at a time in the process from the moment that something is registered.
"""
from __future__ import annotations

import contextlib
import signal
import threading
from types import CodeType
from typing import Any, Callable, Iterator, List, Optional, Set

from ._library import Error, Status

_serial = threading.RLock()
_inside = threading.local()
_pending: List[BaseException] = []
_entries: Set[CodeType] = set()
registered = False  #: whether there is anything that can be called


def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that the library calls, and not yet one of yours."""
    _entries.add(function.__code__)
    return function


@contextlib.contextmanager
def keeping(problems: List[BaseException]) -> Iterator[None]:
    """Around a call of the library that calls back: Ctrl-C goes to ``problems``.

    Python acts on it at the first line of an entry, before any ``try``, and loses what is raised
    there. In a function of yours it is raised, as everywhere."""
    before = signal.getsignal(signal.SIGINT)

    def keep(number: int, frame: Any) -> None:
        try:
            before(number, frame)  # type: ignore[misc, operator]
        except BaseException as problem:
            if frame is None or frame.f_code not in _entries:
                raise
            problems.append(problem)

    held = callable(before)
    try:
        if held:
            signal.signal(signal.SIGINT, keep)
    except ValueError:  # not in the main thread, which alone gets signals
        held = False
    try:
        yield
    finally:
        if held:
            signal.signal(signal.SIGINT, before)


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
            with keeping(_pending):
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

    @entry
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
