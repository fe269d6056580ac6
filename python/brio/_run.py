"""Runs with results in a folder, comparisons, and what there is in this build."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import tempfile
from ctypes import byref
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

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
    lib,
)
from ._command import execute, program
from ._progress import Bar
from ._sim import Iteration, Scene, Sets, _assignments, _plain, iteration_of, source_of

__all__ = [
    "Progress",
    "RunResult",
    "command",
    "compare",
    "forces",
    "integrators",
    "isa",
    "laws",
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

    def _repr_html_(self) -> str:
        """In a notebook: the report of the run, with its motion in 3D."""
        from ._results import Run

        return Run(self.folder)._repr_html_()


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
    out: Optional[Folder] = None,
    set: Sets = None,
    force: bool = False,
    resume: bool = False,
    progress: Union[bool, Callable[[Progress], Any], None] = None,
    name: Optional[str] = None,
) -> RunResult:
    """Runs a scene to its end and writes its results into a folder, as ``brio run`` does: the same
    bytes in energy.csv. The folder is ``out``, otherwise NAME-out in the current folder.

    A folder with results is left alone, with ``brio.Error``, unless ``force`` (begin again) or
    ``resume`` (continue). A bar shows how far it is, in notebooks and on terminals; ``progress``
    is True or False for a bar or none, or a function that is called before the first and after
    every step, and ten times a second within one that takes more than a second: if it returns
    True, the run stops there. Ctrl-C stops it as well, with a checkpoint. A step that fails is a
    ``brio.Error``, and so is an explosion, with the status ``EXPLODED``. ``brio.Run`` has the
    results.

    >>> import brio, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> result = brio.run("cloth", folder + "/cloth", set={"time.end": 0.1})
    >>> result.steps, len(result.energy())
    (6, 7)
    """
    if out is None:
        named = name or ("scene" if isinstance(scene, Mapping) else os.fspath(scene))
        out = pathlib.Path(named).stem + "-out"
    definition, last, error = CRunDef(), CProgress(), CError()
    source = source_of(scene, set, name)
    definition.source = source
    definition.out, definition.force, definition.resume = (
        os.fsencode(out),
        bool(force),
        bool(resume),
    )
    problems: List[BaseException] = []
    hears = progress if callable(progress) else None
    bar = Bar(False if hears else progress)  # type: ignore[arg-type]

    @ProgressFunction
    @_callbacks.entry
    def tell(_: Any, raw: Any) -> int:  # Python looks for Ctrl-C here
        if problems:
            return 1
        try:
            if bar.due():
                at = raw.contents
                words = f"t = {at.time:.4g} of {at.end:.4g} s  E = {at.energy:.5g} J"
                if at.inside:
                    words += (
                        f"  step {at.inside.contents.step}, iteration"
                        f" {at.inside.contents.iteration}"
                    )
                bar.update(at.step / max(at.steps, 1), words)
            return bool(hears and hears(_of(raw.contents)) is True)
        except BaseException as problem:
            problems.append(problem)
            return 1

    definition.progress = tell
    try:
        with _callbacks.keeping(problems):
            status = _callbacks.call(lib.brio_run, byref(definition), byref(last), byref(error))
    finally:
        bar.close()
    if problems:
        raise problems[0]
    if status and status != Status.STOPPED:
        raise error_of(status, error)
    return RunResult(os.fspath(out), status == Status.OK, last.step, last.time, last.energy)


def read_energy(folder: Folder) -> np.ndarray:
    """The table energy.csv of a run as a structured array with a field for each column; what is
    empty is NaN. Of a run that has not ended: the rows so far."""
    file = pathlib.Path(folder) / "energy.csv"
    # what follows the last end of a line is still being written
    lines = file.read_text(encoding="ascii").split("\n")[:-1]
    if not lines:
        raise Error(f"{file} has no row yet", Status.ERROR_INPUT)
    names = lines[0].split(",")
    rows = [
        tuple(float(cell) if cell else np.nan for cell in line.split(",")) for line in lines[1:]
    ]
    return np.array(rows, dtype=[(name, np.float64) for name in names])


# ---- the program ---------------------------------------------------------------------------------


def command(*arguments: Any, progress: Optional[bool] = None) -> str:
    """A command of the program, ``brio.command("stability", "cloth")``; returns what it prints.

    It knows your own integrators, energies, forces and contact laws. If it fails (an exit code other
    than 0), it raises a ``brio.Error``. Long commands show a progress bar.

    >>> import brio
    >>> brio.command("cite", "bdf2").split("]")[0]
    '[Hairer1996'
    """
    code, text, words = execute([str(one) for one in arguments], progress)
    if code:
        raise Error(
            words or f"{' '.join(['brio', *map(str, arguments[:1])])} failed",
            _STATUS_OF.get(code, Status.ERROR_INPUT),
        )
    return text


_STATUS_OF = {1: Status.NOT_CONVERGED, 2: Status.ERROR_INPUT}


def compare(
    scene: Scene,
    integrators: Sequence[Any],
    h: Sequence[Any] = (),
    out: Optional[Folder] = None,
    reference: Optional[str] = None,
    set: Sets = None,
    force: bool = False,
    progress: Optional[bool] = None,
) -> Dict[str, Any]:
    """Runs one scene with several integrators and step sizes, as ``brio compare``; returns what it
    writes to compare.json.

    An integrator is a name, one of yours too, or a map with ``type`` and parameters; a step size is
    a number or a text like ``"1/120"``. Without ``out`` the folder with plots and report.html is
    not kept. A bar shows how far it is, in notebooks and on terminals.

    >>> import brio
    >>> table = brio.compare("cloth", ["backward-euler", {"type": "a-search"}], h=["1/60"],
    ...                      set={"time.end": 0.1})
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
        folder = os.fspath(out or os.path.join(temporary, "compared"))
        arguments = [
            "compare",
            os.fspath(scene),
            "--json",
            "--integrators",
            listed,
            "--out",
            folder,
        ]
        if len(h):
            sizes = [one if isinstance(one, str) else repr(float(one)) for one in h]
            arguments += ["--h", ",".join(sizes)]
        if reference:
            arguments += ["--reference", reference]
        for assignment in _assignments(set):
            arguments += ["--set", assignment.decode()]
        if force:
            arguments.append("--force")
        code, printed, words = execute(arguments, progress, quiet=["--quiet"])
    if code == 2 or not printed.strip():
        raise Error(words or "brio compare failed", Status.ERROR_INPUT)
    return json.loads(printed)


# ---- what there is -------------------------------------------------------------------------------


def _names(at: Any) -> List[str]:
    names: List[str] = []
    i = 0
    while True:
        found = at(i)
        if not found:
            return names
        names.append(_text(found if isinstance(found, bytes) else found.contents.name))
        i += 1


def laws() -> List[str]:
    """Names of all contact laws, your own included."""
    return _names(lib.brio_law_at)


def forces() -> List[str]:
    """Names of all forces, your own included."""
    return _names(lib.brio_force_at)


def integrators() -> List[str]:
    """Names of all integrators, your own included."""
    return _names(lib.brio_integrator_at)


def materials() -> List[str]:
    """Names of all materials, your own included."""
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
    """Version of the library."""
    return _text(lib.brio_version())


def isa() -> str:
    """The instruction set in use: "avx512", "avx2" or "baseline"."""
    return _text(lib.brio_isa())


def threads() -> int:
    """Number of threads that brio uses."""
    return lib.brio_threads()


def set_threads(count: int) -> None:
    """0: one per core. Results do not depend on it."""
    if count < 0:
        raise ValueError(f"threads: expected 0 or more, got {count}")
    lib.brio_set_threads(count)


_log: Any = None


def set_log(function: Optional[Callable[[str, str], None]]) -> None:
    """Sets a function of (level, message) for messages of the library; None: silence. Levels
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
