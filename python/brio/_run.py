"""Runs with results in a folder, comparisons, and what there is in this build."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import subprocess
import tempfile
from ctypes import byref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _callbacks
from ._library import (
    CError,
    CProgress,
    CRunDef,
    Error,
    LogFunction,
    ProgressFunction,
    Status,
    _text,
    error_of,
    find_program,
    lib,
    program_environment,
)
from ._sim import Iteration, Scene, Sets, _assignments, _plain, iteration_of, source_of

__all__ = [
    "Progress",
    "RunResult",
    "compare",
    "integrators",
    "isa",
    "materials",
    "program",
    "read_energy",
    "run",
    "scenes",
    "set_log",
    "set_threads",
    "threads",
    "version",
]

Folder = Union[str, "os.PathLike[str]"]


class Progress(NamedTuple):
    """Where a run is: steps done and in all, simulated time and its end (s), total energy (J);
    within a step that takes long, what it is doing."""

    step: int
    steps: int
    time: float
    end: float
    energy: float
    inside: Optional[Iteration] = None


class RunResult(NamedTuple):
    """How a run ended. ``completed`` is False if it was stopped on request: ``resume=True``
    continues it."""

    folder: str
    completed: bool
    steps: int
    time: float
    last_energy: float

    def energy(self) -> np.ndarray:
        """The table energy.csv: a structured array, ``table["total"]``."""
        return read_energy(self.folder)


def _of(raw: CProgress) -> Progress:
    return Progress(
        raw.step,
        raw.steps,
        raw.time,
        raw.end,
        raw.energy,
        iteration_of(raw.inside.contents) if raw.inside else None,
    )


def run(
    scene: Scene,
    out: Folder,
    set: Sets = None,
    force: bool = False,
    resume: bool = False,
    progress: Optional[Callable[[Progress], Any]] = None,
    name: Optional[str] = None,
) -> RunResult:
    """Runs a scene to its end and writes its results into a folder, as ``brio run`` does: the same
    bytes in energy.csv.

    A folder with results is left alone, with ``brio.Error``, unless ``force`` (begin again) or
    ``resume`` (continue). ``progress`` is called before the first and
    after every step, and ten times a second within one that takes more than a second; if it returns
    True, the run stops there. Ctrl-C stops it as well, with a
    checkpoint. A step that fails is a ``brio.Error``, and so is an explosion, with the status
    ``EXPLODED``. ``brio view FOLDER`` makes the page report.html.

    >>> import brio, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> result = brio.run("cloth", folder + "/cloth", set={"time.end": 0.1})
    >>> result.steps, len(result.energy())
    (6, 7)
    """
    definition, last, error = CRunDef(), CProgress(), CError()
    source = source_of(scene, set, name)
    definition.source = source
    definition.out, definition.force, definition.resume = (
        os.fsencode(out),
        bool(force),
        bool(resume),
    )
    problems: List[BaseException] = []

    @ProgressFunction
    def tell(_: Any, raw: Any) -> int:  # also lets Ctrl-C through, since Python looks for it here
        try:
            return bool(progress and progress(_of(raw.contents)) is True)
        except BaseException as problem:
            problems.append(problem)
            return 1

    definition.progress = tell
    status = _callbacks.call(lib.brio_run, byref(definition), byref(last), byref(error))
    if problems:
        raise problems[0]
    if status and status != Status.STOPPED:
        raise error_of(status, error)
    return RunResult(os.fspath(out), status == Status.OK, last.step, last.time, last.energy)


def read_energy(folder: Folder) -> np.ndarray:
    """The table energy.csv of a run as a structured array with a field for each column; what is
    empty is NaN."""
    file = pathlib.Path(folder) / "energy.csv"
    with open(file, encoding="ascii") as text:
        names = text.readline().strip().split(",")
        rows = [
            tuple(float(cell) if cell else np.nan for cell in line.rstrip("\n").split(","))
            for line in text
        ]
    return np.array(rows, dtype=[(name, np.float64) for name in names])


# ---- the program ---------------------------------------------------------------------------------


def program() -> str:
    """The path of the program ``brio`` that belongs to the library: BRIO_PROGRAM, beside the
    library, or in the PATH."""
    found = find_program(lib.brio_place)
    if found:
        return found
    raise Error(
        "the program brio was not found: install it, or give its path in BRIO_PROGRAM",
        Status.ERROR_FILE,
    )


def compare(
    scene: Scene,
    integrators: Sequence[Any],
    h: Sequence[Any] = (),
    out: Optional[Folder] = None,
    reference: Optional[str] = None,
    set: Sets = None,
    force: bool = False,
) -> Dict[str, Any]:
    """One scene with many integrators and step sizes, through the program's ``brio compare``;
    returns what it writes to compare.json.

    An integrator is a name or a map with ``type`` and parameters, a step size a number or a text
    like ``"1/120"``. Without ``out`` the folder with plots
    and report.html is not kept. Integrators and energies of yours are unknown to the program: run
    those with ``brio.run``.

    >>> import brio
    >>> table = brio.compare("cloth", ["backward-euler", {"type": "a-search"}], h=["1/60"], set={"time.end": 0.1})
    >>> [trial["integrator"] for trial in table["trials"]]
    ['backward-euler', 'a-search']
    """
    listed = ",".join(
        one if isinstance(one, str) else json.dumps(one, default=_plain) for one in integrators
    )
    with tempfile.TemporaryDirectory() as temporary:
        if not isinstance(scene, (str, os.PathLike)):
            file = os.path.join(temporary, "scene.json")
            with open(file, "w", encoding="utf-8") as text:
                json.dump(scene, text, default=_plain, allow_nan=False)
            scene = file
        command = [
            program(),
            "compare",
            os.fspath(scene),
            "--json",
            "--quiet",
            "--integrators",
            listed,
            "--out",
            os.fspath(out or os.path.join(temporary, "compared")),
        ]
        if len(h):
            command += [
                "--h",
                ",".join(one if isinstance(one, str) else repr(float(one)) for one in h),
            ]
        if reference:
            command += ["--reference", reference]
        for assignment in _assignments(set):
            command += ["--set", assignment.decode()]
        if force:
            command.append("--force")
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=program_environment(),
        )
    if done.returncode == 2 or not done.stdout.strip():
        raise Error(done.stderr.strip() or "brio compare failed", Status.ERROR_INPUT)
    return json.loads(done.stdout)


# ---- what there is -------------------------------------------------------------------------------


def _names(at: Any) -> List[str]:
    names, i = [], 0
    while True:
        found = at(i)
        if not found:
            return names
        names.append(_text(found if isinstance(found, bytes) else found.contents.name))
        i += 1


def integrators() -> List[str]:
    """Names of all integrators, those of yours included."""
    return _names(lib.brio_integrator_at)


def materials() -> List[str]:
    """Names of all materials, those of yours included."""
    return _names(lib.brio_material_at)


def scenes() -> List[str]:
    """Names of the scenes that ship with brio.

    >>> import brio
    >>> "cloth" in brio.scenes()
    True
    """
    return sorted(
        file.stem for file in pathlib.Path(os.fsdecode(lib.brio_scenes_folder())).glob("*.yaml")
    )


def version() -> str:
    """Of the library."""
    return _text(lib.brio_version())


def isa() -> str:
    """The instruction set in use: "avx512", "avx2" or "baseline"."""
    return _text(lib.brio_isa())


def threads() -> int:
    """How many threads brio uses."""
    return lib.brio_threads()


def set_threads(count: int) -> None:
    """0: one per core. Results do not depend on it."""
    if count < 0:
        raise ValueError(f"threads: expected 0 or more, got {count}")
    lib.brio_set_threads(count)


_log: Any = None


def set_log(function: Optional[Callable[[str, str], None]]) -> None:
    """A function of (level, message) that hears what the library has to say; None: silence. Levels
    are "debug", "info", "warning" and "error".

    An exception in it comes out of the call during which it was raised.

    >>> import brio, logging
    >>> brio.set_log(lambda level, message: logging.getLogger("brio").log(getattr(logging, level.upper()), message))
    >>> brio.set_log(None)
    """
    global _log
    levels = ("debug", "info", "warning", "error")
    if function is None:
        hook = LogFunction()
    else:
        heard = function

        def tell(_: Any, level: int, message: bytes) -> None:
            heard(levels[level], _text(message))

        hook = LogFunction(_callbacks.guarded(tell))
        _callbacks.registered = True
    lib.brio_set_log(hook, None)
    _log = hook
