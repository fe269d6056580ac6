"""Point Cache 2, as Blender's Mesh Cache modifier and brio's sequences read it.

The head says how many frames there are. It is written after the frame that it counts, so that a
reader never meets a frame that is not whole: a file can be shown while it grows.
"""
import os
import struct

import numpy as np

HEAD = struct.Struct("<12siiffi")
LETTERS = b"POINTCACHE2\0"


class Writer:
    """A cache that grows: `append` adds a frame. An existing one goes on with `frames` of its own
    (None: a new file)."""

    def __init__(self, path, points, frames=None):
        self.path, self.points, self.frames = path, points, 0
        if frames is None:
            self.file = open(path, "wb")
            self._head()
        else:
            self.file = open(path, "r+b")
            letters, _, found, _, _, count = HEAD.unpack(self.file.read(HEAD.size))
            if letters != LETTERS or found != points or count < frames:
                self.file.close()
                raise ValueError(f"{path} is not a cache of {points} points and {frames} frames")
            self.frames = frames
            self._head()
            self.file.truncate(HEAD.size + 12 * points * frames)

    def _head(self):
        self.file.seek(0)
        self.file.write(HEAD.pack(LETTERS, 1, self.points, 0.0, 1.0, self.frames))
        self.file.flush()

    def append(self, points):
        points = np.ascontiguousarray(points, dtype="<f4")
        if points.shape != (self.points, 3):
            raise ValueError(f"{self.path}: {points.shape} instead of {(self.points, 3)}")
        self.file.seek(HEAD.size + 12 * self.points * self.frames)
        self.file.write(points.tobytes())
        self.file.flush()
        self.frames += 1
        self._head()

    def close(self):
        self.file.close()


class Motion:
    """A cache that remembers whether anything moved: what stands still needs no file."""

    def __init__(self, path, points):
        self.writer, self.first, self.farthest = Writer(path, points), None, 0.0

    def append(self, points):
        if self.first is None:
            self.first = np.array(points)
        if len(points):
            self.farthest = max(self.farthest, float(np.abs(points - self.first).max()))
        self.writer.append(points)

    def close(self):
        """The name of the file, or None (and no file) if nothing moved by more than rounding."""
        self.writer.close()
        size = float(np.abs(self.first).max()) if self.first is not None and self.first.size else 0
        if self.farthest > 1e-6 * max(size, 1e-3):
            return os.path.basename(self.writer.path)
        os.remove(self.writer.path)
        return None


def info(path):
    """(points, frames) of a cache; (0, 0) if there is none."""
    try:
        with open(path, "rb") as file:
            letters, _, points, _, _, frames = HEAD.unpack(file.read(HEAD.size))
    except (OSError, struct.error):
        return 0, 0
    return (points, frames) if letters == LETTERS else (0, 0)


def read(path, frame):
    """The points of a frame, n x 3."""
    points, frames = info(path)
    if not 0 <= frame < frames:
        raise IndexError(f"{path} has {frames} frames, not {frame}")
    with open(path, "rb") as file:
        file.seek(HEAD.size + 12 * points * frame)
        return np.frombuffer(file.read(12 * points), dtype="<f4").reshape(points, 3)
