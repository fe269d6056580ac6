"""The results of a run: its table, and its motion as arrays that stay in the file."""
from __future__ import annotations

import contextlib
import html
import json
import operator
import os
import pathlib
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from ._command import execute
from ._library import Error, Status
from ._show import frame
from ._run import Folder, RunResult, read_energy

__all__ = ["Run", "Trajectory"]

_HEAD = (
    "name",
    "kind",
    "closed",
    "still",
    "vertices",
    "carriers",
    "weights",
    "triangles",
    "edges",
    "faces",
    "corners",
    "uvs",
    "normals",
    "groups",
)
_VERSION = 2
_KINDS = ("body", "obstacle", "rods")


class _Bytes:
    """A cursor over the file."""

    def __init__(self, data: np.ndarray):
        self.data, self.at = data, 0

    def take(self, dtype: str, count: int = 1) -> np.ndarray:
        size = np.dtype(dtype).itemsize * count
        if count < 0 or self.at + size > len(self.data):
            raise Error("motion.bin ends too early", Status.ERROR_INPUT)
        found = (
            self.data[self.at : self.at + size].view(dtype)
            if self.at % np.dtype(dtype).itemsize == 0
            else np.frombuffer(self.data[self.at : self.at + size].tobytes(), dtype)
        )
        self.at += size
        return found


class _Part:
    def __init__(self, source: _Bytes):
        head = dict(zip(_HEAD, source.take("<i4", len(_HEAD)).tolist()))
        self.name = source.take("u1", head["name"]).tobytes().decode(errors="replace")
        self.kind, self.still = _KINDS[head["kind"]], bool(head["still"])
        self.vertices, self.carriers = head["vertices"], head["carriers"]
        self.number = source.take("<i4", self.carriers).copy()  #: of the carriers, in their body
        self.rest = source.take("<f4", 3 * self.vertices).reshape(-1, 3)
        self.triangles = source.take("<i4", 3 * head["triangles"]).reshape(-1, 3)
        self.edges = source.take("<i4", 2 * head["edges"]).reshape(-1, 2)
        self.start: Optional[np.ndarray] = None
        if head["weights"]:
            self.start = source.take("<i4", self.vertices + 1).copy()
            self.carrier = source.take("<i4", head["weights"]).copy()
            self.weight = source.take("<f8", head["weights"]).copy()
        if head["faces"]:
            source.take("<i4", head["faces"] + 1 + head["corners"])
            if head["uvs"]:
                source.take("<f8", 2 * head["uvs"])
                source.take("<i4", head["corners"])
            if head["normals"]:
                source.take("<i4", head["corners"])
            if head["groups"]:
                source.take("<i4", head["faces"])
            for _ in range(head["groups"]):
                source.take("u1", int(source.take("<i4")[0]))

    def seen(self, carriers: np.ndarray) -> np.ndarray:
        """The vertices, from those that are kept."""
        if self.start is None:
            return carriers
        owner = np.repeat(np.arange(self.vertices), np.diff(self.start))
        found = np.zeros((self.vertices, 3))
        np.add.at(found, owner, self.weight[:, None] * carriers[self.carrier])
        return found


class Trajectory:
    """Positions of a body at every instant of a run: ``trajectory[k]`` is an array of n x 3,
    ``trajectory[a:b]`` one of m x n x 3. The vertices are those that are drawn: of tets, those of
    the surface only, so that their numbers differ from those in ``Sim.positions``.

    The file stays where it is, mapped into memory: an instant is read when it is asked for.
    Positions are kept with 24 bits of the size of the body.
    """

    def __init__(self, run: "Run", part: _Part, offset: int):
        self._run, self._part, self._offset = run, part, offset
        self.raw: np.ndarray = run._frames[
            :, offset : offset + (0 if part.still else 16 + 9 * part.carriers)
        ]  #: the bytes, a memory-mapped array

    def __len__(self) -> int:
        return len(self._run.times)

    @property
    def shape(self) -> Tuple[int, int, int]:
        return (len(self), self._part.vertices, 3)

    def _at(self, k: int) -> np.ndarray:
        part = self._part
        if part.still:
            return part.rest.astype(np.float64)
        row = np.ascontiguousarray(self.raw[k])
        head = row[:16].view("<f4").astype(np.float64)
        numbers = row[16:].reshape(-1, 3, 3).astype(np.uint32)
        levels = numbers[..., 0] | numbers[..., 1] << 8 | numbers[..., 2] << 16
        return part.seen(head[:3] + head[3] * levels)

    def __getitem__(self, index: Union[int, slice]) -> np.ndarray:
        if isinstance(index, slice):
            chosen = [self._at(k) for k in range(*index.indices(len(self)))]
            return np.stack(chosen) if chosen else np.zeros((0, *self.shape[1:]))
        k = operator.index(index)
        if not -len(self) <= k < len(self):
            raise IndexError(f"there is no instant {k}; there are {len(self)}")
        return self._at(k % len(self))

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self._at(k) for k in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)

    def __repr__(self) -> str:
        return (
            f"Trajectory({self._part.name!r}, {self.shape[0]} instants of {self.shape[1]} vertices)"
        )


class Run:
    """The results of a run in a folder.

    >>> import brio, tempfile
    >>> folder = tempfile.mkdtemp() + "/cloth"
    >>> result = brio.run("cloth", folder, set={"time.end": 0.1})
    >>> run = brio.Run(folder)
    >>> run.bodies, run["cloth"][-1].shape
    (['cloth'], (289, 3))
    """

    def __init__(self, folder: "Union[Folder, RunResult]"):
        self.folder = pathlib.Path(folder.folder if isinstance(folder, RunResult) else folder)
        file = self.folder / "motion.bin"
        if not file.is_file():
            raise Error(
                (
                    f"{self.folder} has no motion.bin: it is no folder of a run, or the run kept no"
                    " motion"
                ),
                Status.ERROR_FILE,
            )
        if file.stat().st_size == 0:  # which cannot be mapped
            raise Error(f"{file} is empty: its run has just begun, or failed", Status.ERROR_INPUT)
        data = np.memmap(file, dtype=np.uint8, mode="r")
        source = _Bytes(data)
        if len(data) < 64 or source.take("u1", 8).tobytes() != b"brio-mot":
            raise Error(f"{file} is no motion of brio", Status.ERROR_INPUT)
        version, mark = source.take("<u4", 2).tolist()
        if version != _VERSION or mark != 0x01020304:
            raise Error(
                (
                    f"{file} has version {version} or another byte order; this package reads"
                    f" version {_VERSION}"
                ),
                Status.ERROR_UNSUPPORTED,
            )
        head = int(source.take("<u8")[0])
        self.fps = float(source.take("<f8")[0])  #: instants in a second
        self.stride = int(source.take("<i8")[0])  #: every Nth of them is kept
        counts = source.take("<i4", 4).tolist()
        self._parts = [_Part(source) for _ in range(counts[0])]
        self._velocities = bool(counts[2])
        offsets, size = [], 8
        for part in self._parts:
            offsets.append(size)
            size += 0 if part.still else (16 + 9 * part.carriers) * (2 if self._velocities else 1)
        count = (len(data) - head) // size  # a frame that is not whole is left out
        self._frames = data[head : head + count * size].reshape(count, size)
        self.times: np.ndarray = np.ascontiguousarray(self._frames[:, :8]).view("<f8").ravel()  #: s
        self._trajectories: Dict[str, Trajectory] = {}
        for part, offset in zip(self._parts, offsets):  # bodies first: they keep their names
            self._trajectories.setdefault(part.name, Trajectory(self, part, offset))

    @property
    def bodies(self) -> List[str]:
        """Names of the bodies."""
        return [part.name for part in self._parts if part.kind == "body"]

    @property
    def obstacles(self) -> List[str]:
        """Names of the obstacles that are drawn."""
        return [part.name for part in self._parts if part.kind == "obstacle"]

    def __getitem__(self, body: str) -> Trajectory:
        """The motion of a body or an obstacle."""
        if body not in self._trajectories:
            raise KeyError(f"there is no {body!r}; there are: {', '.join(self._trajectories)}")
        return self._trajectories[body]

    def triangles(self, body: str) -> np.ndarray:
        """The drawn triangles: n x 3 vertex numbers of its trajectory."""
        return self[body]._part.triangles

    def energy(self) -> Any:
        """The table energy.csv: a pandas.DataFrame if pandas is installed, otherwise a
        structured array."""
        table = read_energy(self.folder)
        try:
            import pandas
        except ImportError:
            return table
        return pandas.DataFrame(table)

    @property
    def info(self) -> Dict[str, Any]:
        """run.json: the resolved scene, totals, the verdict."""
        with open(self.folder / "run.json", encoding="utf-8") as file:
            return json.load(file)

    def __repr__(self) -> str:
        return (
            f"Run({os.fspath(self.folder)!r}, {len(self.times)} instants, bodies:"
            f" {', '.join(self.bodies)})"
        )

    def _repr_html_(self) -> str:
        """In a notebook: the report of the run, with its motion in 3D. ``brio view`` makes it where
        it has not been made; a table where it cannot."""
        report = self.folder / "report.html"
        if not report.is_file():
            with contextlib.suppress(Error):
                execute(["view", "--print", os.fspath(self.folder)], False)
        if report.is_file():
            return frame(report.read_text(encoding="utf-8"), 900)
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{self[name].shape[1]} vertices</td></tr>"
            for name in self.bodies
        )
        return (
            f"<b>{html.escape(os.fspath(self.folder))}</b>: {len(self.times)} instants to"
            f" {self.times[-1] if len(self.times) else 0:.6g} s<table>{rows}</table>"
        )
