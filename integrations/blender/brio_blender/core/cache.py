"""What a bake leaves behind, and the frames of a running one as point caches.

    FOLDER/bake.json        what was baked: objects, their places, the runs
    FOLDER/run0, run1, ...  scene and results of each run; `Bake from here` adds one
    FOLDER/NAME.pc2         the motion of an object in its own coordinates
    FOLDER/before           what a new run replaces, until that run has a frame of its own
"""
import json
import os
import re
import shutil

import numpy as np

from . import pc2, space

MANIFEST = "bake.json"
BEFORE = "before"
START = "start"  # in the folder of a run: the state that it starts from


def file_name(name):
    """A name that every file system takes; objects have different ones."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    if plain != name:
        plain += "-%08x" % (int.from_bytes(name.encode(), "little") % 0xfffffffb)
    return plain + ".pc2"


class Cache:
    """The bake in a folder. Frames are counted from 0, the start of the bake."""

    def __init__(self, folder):
        self.folder = folder
        self.data = {"version": 1, "bodies": [], "obstacles": [], "runs": [], "first": 1,
                     "frames": 0, "read": 0, "state": "empty"}
        self.writers, self.inverses = [], []

    @classmethod
    def load(cls, folder):
        """The bake of a folder; an empty one if there is none, or none that can be read."""
        cache = cls(folder)
        try:
            with open(os.path.join(folder, MANIFEST), encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return cache
        if isinstance(found, dict) and found.get("version") == 1:
            cache.data.update(found)
        return cache

    def save(self):
        path = os.path.join(self.folder, MANIFEST)
        with open(path + ".tmp", "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=1)
        os.replace(path + ".tmp", path)

    # ---- runs --------------------------------------------------------------------------------

    def begin(self, first, frames, keep=0, checkpoint=None):
        """A new run, from the start or from frame `keep` of the existing bake, whose state is in
        file `checkpoint`. Returns its folder, empty but for that state, for the scene."""
        state = None
        if checkpoint:
            with open(checkpoint, "rb") as file:
                state = file.read()
        self._set_aside(keep if checkpoint else 0)
        number = 1 + max((int(run["folder"][3:]) for run in self.data["runs"]), default=-1)
        path = os.path.join(self.folder, "run%d" % number)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        if state:
            with open(os.path.join(path, START), "wb") as file:
                file.write(state)
        self.data["runs"].append({"folder": "run%d" % number, "start": keep if state else 0})
        self.data.update(first=first, frames=frames, state="begun", read=keep if state else 0)
        return path

    def _set_aside(self, keep):
        """Moves what a run from frame `keep` on replaces to FOLDER/before."""
        self.close()
        self.restore()  # a session that crashed before its first frame
        runs, before = self.data["runs"], os.path.join(self.folder, BEFORE)
        if runs:
            os.makedirs(before)
            self.save()
            shutil.copy2(os.path.join(self.folder, MANIFEST), before)
        for body in self.data["bodies"]:
            path = os.path.join(self.folder, body["file"])
            if os.path.isfile(path):  # the caches of a continued bake are cut at `keep`
                (shutil.copy2 if keep else shutil.move)(path, before)
        while runs and runs[-1]["start"] >= keep:
            last = os.path.join(self.folder, runs.pop()["folder"])
            if os.path.isdir(last):
                shutil.move(last, before)
        if not keep:
            self.data.update(bodies=[], obstacles=[], read=0)

    def restore(self):
        """The bake that a run without a frame of its own has replaced is back. False: there is
        none."""
        before = os.path.join(self.folder, BEFORE)
        if not os.path.isdir(before):
            return False
        self.close()
        old = Cache.load(before).data
        known = [run["folder"] for run in old["runs"]]
        for run in self.data["runs"]:
            name = run["folder"]
            if name not in known or os.path.isdir(os.path.join(before, name)):
                shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
        # The manifest comes last: until it is back, this can be done again.
        for name in sorted(os.listdir(before), key=lambda name: name == MANIFEST):
            os.replace(os.path.join(before, name), os.path.join(self.folder, name))
        os.rmdir(before)
        self.data = Cache.load(self.folder).data
        return True

    def _replace(self):
        """The new run has a frame: what it replaces goes."""
        shutil.rmtree(os.path.join(self.folder, BEFORE), ignore_errors=True)

    def start_file(self):
        """The checkpoint that the last run starts from; None: it starts from the scene."""
        path = os.path.join(self.run_folder(), START)
        return path if os.path.isfile(path) else None

    def run_folder(self):
        """That of the last run; None: there is none."""
        runs = self.data["runs"]
        return os.path.join(self.folder, runs[-1]["folder"]) if runs else None

    def results(self):
        folder = self.run_folder()
        return folder and os.path.join(folder, "out")

    def checkpoint(self, frame):
        """(frame, file) of the last kept state at or before a frame; (None, None): there is
        none."""
        for run in reversed(self.data["runs"]):
            if run["start"] > frame:
                continue
            kept = os.path.join(self.folder, run["folder"], "out", "checkpoints")
            if not os.path.isdir(kept):
                continue
            numbers = [int(name) for name in os.listdir(kept) if name.isdigit()]
            numbers = [number for number in numbers if number <= frame]
            if numbers:
                return max(numbers), os.path.join(kept, "%06d" % max(numbers))
        return None, None

    # ---- frames ------------------------------------------------------------------------------

    def set_bodies(self, bodies):
        """`bodies`: (name, vertices, matrices), the matrices one or one a frame, to brio's
        space. ValueError: they are not those of the frames that are kept."""
        now = [(name, count) for name, count, _ in bodies]
        before = [(body["name"], body["vertices"]) for body in self.data["bodies"]]
        if self.read and now != before:
            names = sorted({name for name, _ in set(now) ^ set(before)})
            raise ValueError("the bodies, or their numbers of vertices, are not those of this "
                             "bake%s: press Bake" % (" (%s)" % ", ".join(names) if names else ""))
        self.data["bodies"] = [{"name": name, "vertices": count, "file": file_name(name),
                                "matrices": np.asarray(matrices, dtype=float).tolist()}
                               for name, count, matrices in bodies]

    def open(self):
        """Caches to write to: new ones, or the existing ones, up to what was read of them."""
        self.writers, self.inverses = [], []
        for body in self.data["bodies"]:
            self.inverses.append([space.invert(np.array(m)) for m in body["matrices"]])
            path = os.path.join(self.folder, body["file"])
            self.writers.append(pc2.Writer(path, body["vertices"], self.read or None))

    def close(self):
        for writer in self.writers:
            writer.close()
        self.writers = []

    def frame_path(self, frame):
        start = self.data["runs"][-1]["start"]
        return os.path.join(self.results(), "frames", "frame_%06d.npy" % (frame - start))

    def poll(self, most=50):
        """Reads frames that came since; returns how many. `most`: so that a caller stays
        responsive."""
        new = 0
        while new < most:
            frame = self.read
            path = self.frame_path(frame)
            if not os.path.isfile(path):
                break
            rows, first = np.load(path), 0
            for body, writer, inverses in zip(self.data["bodies"], self.writers, self.inverses):
                count = body["vertices"]
                inverse = inverses[min(frame, len(inverses) - 1)]
                writer.append(space.apply(inverse, rows[first:first + count, :3]))
                first += count
            self.data["read"] = frame + 1
            new += 1
        if new and self.advanced:
            self._replace()
        return new

    @property
    def read(self):
        """How many frames can be seen."""
        return self.data["read"]

    @property
    def advanced(self):
        """Whether the last run has a frame beyond the one it started from."""
        runs = self.data["runs"]
        return bool(runs) and self.read > runs[-1]["start"] + 1

    def finish(self, state):
        """The run has ended: its frames are in the caches now."""
        self.close()
        self.data["state"] = state
        frames = os.path.join(self.results(), "frames")
        for name in os.listdir(frames) if os.path.isdir(frames) else ():
            if name.startswith("frame_") and name.endswith(".npy"):
                os.remove(os.path.join(frames, name))
        self.save()

    def clear(self):
        """Removes what a bake has written, and the folder if nothing else is in it."""
        self.close()
        self._replace()
        for run in self.data["runs"]:
            shutil.rmtree(os.path.join(self.folder, run["folder"]), ignore_errors=True)
        for name in [body["file"] for body in self.data["bodies"]] + [MANIFEST]:
            try:
                os.remove(os.path.join(self.folder, name))
            except FileNotFoundError:
                pass
        self.data.update(bodies=[], obstacles=[], runs=[], state="empty", read=0)
        try:
            os.rmdir(self.folder)
        except OSError:
            pass
