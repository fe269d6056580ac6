"""The program as a separate process: found, started, listened to, ended."""
import json
import os
import shutil
import subprocess
import sys
import threading
import time

NAME = "brio.exe" if sys.platform == "win32" else "brio"
PATIENCE = 0.7  # s that a run has to end by itself; it needs 0.2 s, whatever it is doing


class NotFound(Exception):
    """There is no program."""


def find_program(preferred="", folder=""):
    """The whole path of brio: as the preferences say, in the PATH, next to the add-on."""
    if preferred:
        path = os.path.expanduser(preferred)
        if os.path.isdir(path):
            path = os.path.join(path, NAME)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)  # it is started in the folder of the scene
        raise NotFound(f"there is no program {path}: see the preferences of the add-on")
    found = shutil.which("brio")
    if found:
        return os.path.abspath(found)
    beside = os.path.join(folder, NAME)
    if folder and os.path.isfile(beside) and os.access(beside, os.X_OK):
        return beside
    raise NotFound("the program brio was not found: give its path in the preferences of the "
                   "add-on, or install it")


def run(program, *arguments, cwd=None, seconds=600):
    """Runs the program to its end: (exit code, standard output, standard error). An OSError if
    that takes too long."""
    try:
        done = subprocess.run([program, *arguments], cwd=cwd, capture_output=True, timeout=seconds,
                              check=False, encoding="utf-8", errors="replace")
    except subprocess.TimeoutExpired:
        raise TimeoutError("brio %s took more than %g s, and was ended" %
                           (arguments[0], seconds)) from None
    return done.returncode, done.stdout, done.stderr


class Run:
    """`brio run SCENE -o OUT` while it runs. Nothing here waits but `cancel` and `wait`."""

    def __init__(self, program, scene, out, resume=False, start=None, threads=0):
        command = [program, "run", os.path.basename(scene), "-o", out, "--json-lines"]
        command.append("--resume" if resume else "--force")
        if start:
            command += ["--from", start]
        if threads:
            command += ["--threads", str(threads)]
        self.progress, self.summary, self.errors = {}, {}, []
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, encoding="utf-8",
                                        errors="replace", cwd=os.path.dirname(scene) or None)
        self.threads = [threading.Thread(target=target, daemon=True)
                        for target in (self._listen, self._complain)]
        for thread in self.threads:
            thread.start()

    def _listen(self):
        for line in self.process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if "verdict" in said:
                self.summary = said
            else:
                self.progress = said

    def _complain(self):
        for line in self.process.stderr:
            self.errors.append(line.rstrip("\n"))

    @property
    def running(self):
        return self.process.poll() is None

    def fraction(self):
        """How much is done, 0 to 1."""
        return min(self.progress.get("step", 0) / max(self.progress.get("steps", 1), 1), 1.0)

    def remaining(self):
        """Seconds left, by the mean of the steps so far; None: not known yet."""
        p = self.progress
        done = p.get("step", 0) - p.get("first", 0)
        if done <= 0 or p.get("wall", 0) <= 0:
            return None
        return p["wall"] / done * (p["steps"] - p["step"])

    def wait(self, seconds=None):
        """The exit code, when all that was said has been read; None: it still runs."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        for thread in self.threads:
            thread.join(1)
        return self.process.returncode

    def cancel(self, patience=PATIENCE):
        """Ends it with a checkpoint, or, if it does not answer, at once. Seconds that it took."""
        before = time.monotonic()
        if self.running:
            self.process.terminate()
            if self.wait(patience) is None:
                self.process.kill()
        self.wait(1)
        return time.monotonic() - before
