"""Runs through the program and through Python give the same bytes; stopping, resuming,
comparing."""
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import brio
import numpy as np

ROOT = os.environ.get("BRIO_SOURCE_DIR", ".")


def content(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = lambda name: os.path.join(self.folder.name, name)

    def program(self, scene, out, *sets):
        command = [brio.program(), "run", scene, "-o", out, "--quiet"]
        for one in sets:
            command += ["--set", one]
        subprocess.run(command, check=True)

    def test_default_folder(self):
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                result = brio.run("cloth", set={"time.end": 0.05})
                self.assertEqual(result.folder, "cloth-out")
                self.assertTrue(os.path.isfile("cloth-out/energy.csv"))
            finally:
                os.chdir(here)

    def test_defaults_are_those_of_scenes(self):
        listed = subprocess.run(
            [brio.program(), "list", "keys", "--json"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        sections = {
            section["name"]: {key["name"]: key for key in section["keys"]}
            for section in json.loads(listed)
        }
        self.assertEqual(
            list(inspect.signature(brio.Builder).parameters["gravity"].default),
            sections["scene"]["gravity"]["default"],
        )

    def test_same_bytes(self):
        for scene, end, extra in (
            ("cloth", 0.5, {}),
            ("wound-bar", 0.2, {"integrator": "a-search"}),
            ("dice", 0.05, {}),
            ("spinning-cube", 0.1, {"solver.linear": "cholesky"}),
        ):
            sets = {"time.end": end, "output.frames": [], **extra}
            self.program(scene, self.at("c"), *[f"{key}={value}" for key, value in sets.items()])
            result = brio.run(scene, self.at("python"), set=sets)
            self.assertTrue(result.completed)
            for file in (
                ("energy.csv",) + (("probes.csv",) if scene == "cloth" else ()) + ("motion.bin",)
            ):
                self.assertEqual(
                    content(self.at("c"), file),
                    content(self.at("python"), file),
                    f"{scene}: {file}",
                )
            sim = brio.load(scene, set=sets)  # and by steps
            table = result.energy()
            self.assertEqual(table["total"][0], sim.ledger().total)
            sim.step(result.steps)
            self.assertEqual(table["total"][-1], sim.ledger().total)
            with brio.open_run(self.at("c")) as left:
                self.assertEqual(left.q.tobytes(), sim.q.tobytes())
            print(
                f"{scene}: {result.steps} steps, {len(content(self.at('c'), 'energy.csv'))} bytes"
                " of energy.csv are the same"
            )
            for out in ("c", "python"):
                subprocess.run(["rm", "-r", self.at(out)], check=True)

    def test_dict(self):
        scene = {
            "time": {"h": 0.01, "end": 0.1},
            "bodies": [
                {
                    "shape": {"type": "box", "size": [1, 1, 1], "cells": [2, 2, 2]},
                    "material": {"type": "neo-hookean"},
                }
            ],
        }
        result = brio.run(scene, self.at("out"))
        self.assertEqual((result.steps, len(result.energy())), (10, 11))

    def test_stop_resume_and_refusals(self):
        sets = {"time.end": 0.5, "output.frames": []}
        whole = brio.run("cloth", self.at("whole"), set=sets)
        seen = []
        part = brio.run(
            "cloth", self.at("part"), set=sets, progress=lambda p: seen.append(p) or p.step == 7
        )
        self.assertEqual((part.completed, part.steps, len(seen)), (False, 7, 8))
        with self.assertRaises(brio.Error) as caught:
            brio.run("cloth", self.at("part"), set=sets)
        self.assertEqual(caught.exception.status, brio.Status.ERROR_EXISTS)
        rest = brio.run("cloth", self.at("part"), set=sets, resume=True)
        self.assertTrue(rest.completed)
        self.assertEqual(
            content(self.at("part"), "energy.csv"), content(self.at("whole"), "energy.csv")
        )
        self.assertEqual(whole.last_energy, rest.last_energy)
        with self.assertRaises(brio.Error):
            brio.run("cloth", self.at("part"), set=sets, resume=True, force=True)
        with self.assertRaisesRegex(brio.Error, "no-such-scene"):
            brio.run("no-such-scene", self.at("none"))
        self.assertFalse(os.path.exists(self.at("none")))

    def test_explosion(self):
        with self.assertRaises(brio.Error) as raised:
            brio.run(
                "cantilever",
                self.at("out"),
                set={"integrator": "symplectic-euler", "output.motion": False},
            )
        self.assertEqual(raised.exception.status, brio.Status.EXPLODED)
        self.assertIn("the last sane state is that of step ", str(raised.exception))
        with open(self.at("out/run.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["verdict"], "exploded")

    def test_exceptions_of_progress(self):
        def fail(progress):
            if progress.step == 3:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            brio.run("cloth", self.at("out"), progress=fail)
        with brio.open_run(self.at("out")) as sim:
            self.assertAlmostEqual(sim.time, 3 / 60)

    def test_interrupted_at_a_terminal(self):
        """It sends Ctrl-C to the program too, which then ends with a checkpoint all the same."""
        sets = ["bodies[0].shape.cells_x=80", "bodies[0].shape.cells_z=80", "probes=[]"]
        long = [word for one in sets for word in ("--set", one)]  # steps of a quarter of a second

        def interrupt(child, out):
            for _ in range(1000):
                if os.path.isfile(os.path.join(out, "energy.csv")):
                    break
                time.sleep(0.01)
            os.kill(child, signal.SIGINT)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        def stopped(way, slots):
            start, out = getattr(brio._command, way), self.at(way)

            def watched(*arguments):
                child, wait = start(*arguments)
                threading.Thread(target=interrupt, args=[child, out]).start()
                return child, wait

            with mock.patch.object(brio._command, way, watched), mock.patch.object(
                brio._own, "_slots", slots
            ), self.assertRaises(KeyboardInterrupt):
                brio.command("run", "cloth", "-o", out, *long, progress=False)
            self.assertEqual(brio.Run(out).info["verdict"], "stopped")

        stopped("_start", {})
        stopped("_fork", {"something": "registered"})

    def test_interrupted(self):
        """Ctrl-C stops a run with a checkpoint. Python sees it when the library calls back."""
        soon = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        soon.start()
        with self.assertRaises(KeyboardInterrupt):
            brio.run("cloth", self.at("out"), set={"time.end": 100})
        soon.join()
        result = brio.run(
            "cloth", self.at("out"), set={"time.end": 100}, resume=True, progress=lambda now: True
        )
        self.assertFalse(result.completed)
        self.assertLess(result.steps, 6000)
        self.assertEqual(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_compare(self):
        table = brio.compare(
            "cloth",
            ["backward-euler", {"type": "theta", "theta": 0.5}],
            h=[1 / 60, "1/120"],
            set={"time.end": 0.1},
            out=self.at("compared"),
        )
        self.assertEqual(len(table["trials"]), 4)
        self.assertTrue(os.path.exists(self.at("compared/report.html")))
        with self.assertRaisesRegex(brio.Error, "there is no scene"):
            brio.compare("no-such-scene", ["bdf2"])

    def test_without_a_standard_error(self):
        """As in programs without a console."""
        closed = open(os.devnull, "w")
        closed.close()
        for stream in (None, closed, object()):
            with mock.patch.object(sys, "stderr", stream), brio.load("cloth") as sim:
                sim.step(2)
                self.assertIn("[Hairer1996", brio.command("cite", "bdf2"))
                with mock.patch.object(brio._forces, "plugins", ["a plug-in"]):  # forks
                    self.assertIn("[Hairer1996", brio.command("cite", "bdf2"))

    def test_no_command(self):
        """The program prints its help, with the exit code 2."""
        with self.assertRaisesRegex(brio.Error, "^brio failed$"):
            brio.command()

    def test_names_of_files_that_are_not_utf8(self):
        """Python has them with surrogates."""
        scene = os.fsdecode(os.fsencode(self.at("")) + b"caf\xe9.yaml")
        shutil.copy(os.path.join(ROOT, "scenes", "cloth.yaml"), scene)
        for copied in ([], ["a plug-in"]):  # in the program, and in a copy of this process
            with mock.patch.object(brio._forces, "plugins", copied):
                self.assertIn("vertices", brio.command("check", scene))

    def test_failed_commands_leave_no_files_open(self):
        def count():
            return len(os.listdir("/proc/self/fd"))

        before = count()
        with mock.patch.object(brio._command, "find_program", lambda library: None):
            for _ in range(3):
                with self.assertRaisesRegex(brio.Error, "was not found"):
                    brio.command("list")
        self.assertEqual(count(), before)

    def test_module(self):
        import sys

        environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}
        told = subprocess.run(
            [sys.executable, "-m", "brio"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        self.assertIn(f"brio {brio.version()}", told)
        told = subprocess.run(
            [sys.executable, "-m", "brio", "--version"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        self.assertIn("ABI", told)
        broken = subprocess.run(
            [sys.executable, "-c", "import brio"],
            env={**environment, "BRIO_LIBRARY": "/nowhere.so"},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        self.assertIn("BRIO_LIBRARY", broken.stderr.strip().split("\n")[-1])
        broken = subprocess.run(
            [sys.executable, "-c", "import brio"],
            env={**environment, "BRIO_LIBRARY": "libm.so.6"},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        self.assertIn("not the library of brio", broken.stderr.strip().split("\n")[-1])
