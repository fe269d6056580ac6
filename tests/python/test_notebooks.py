"""The notebooks as scripts, what notebooks show, progress, the API page, and the types."""
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import brio
from brio import _progress, _show

ROOT = os.path.abspath(os.environ.get("BRIO_SOURCE_DIR", "."))
FOLDER = os.path.join(ROOT, "python", "notebooks")


def run(*command, cwd=ROOT):
    environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}
    done = subprocess.run(
        [sys.executable, "-B", *command],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


class Notebooks(unittest.TestCase):
    def test_scripts(self):
        for name in ("first_soft_body", "own_integrator"):
            with tempfile.TemporaryDirectory() as folder:
                code, told = run(os.path.join(FOLDER, f"{name}.py"), cwd=folder)
            self.assertEqual(code, 0, told)
            self.assertTrue(told.endswith("The end\n"), told)
        orders = [float(one) for one in re.findall(r"order (\d\.\d+)", told)]
        self.assertEqual([round(one) for one in orders], [2, 1, 1])

    def test_notebooks_are_those_of_the_scripts(self):
        code, told = run(os.path.join(FOLDER, "make.py"), "--check")
        self.assertEqual(code, 0, told)

    def test_api_page(self):
        code, told = run(os.path.join(ROOT, "python", "api.py"), "--check")
        self.assertEqual(code, 0, told)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "there is no mypy; apt-get install mypy")
    def test_types(self):
        code, told = run("-m", "mypy", "--cache-dir", os.devnull)
        self.assertEqual(code, 0, told)

    def test_what_they_show(self):
        with brio.load("cloth") as sim:
            page = sim._repr_html_()
        self.assertIn("289 vertices", page)
        self.assertIn("srcdoc=", page)
        with tempfile.TemporaryDirectory() as folder:
            result = brio.run("cloth", folder + "/cloth", set={"time.end": 0.1})
            self.assertFalse(os.path.exists(folder + "/cloth/report.html"))
            page = brio.Run(result)._repr_html_()
            self.assertTrue(os.path.exists(folder + "/cloth/report.html"))
            self.assertEqual(page, result._repr_html_())
        self.assertIn("<iframe", page)
        self.assertGreater(len(page), 20000)

    def test_large_meshes_are_thinned(self):
        import numpy as np

        part = np.zeros((5 * _show.MOST + 1, 3), int)
        piece = _show._piece(np.zeros((1, 3)), part, "#ffffff")
        self.assertLessEqual(len(piece["part"]) * 3 // 4, 12 * _show.MOST)


class Bars(unittest.TestCase):
    def test_terminal(self):
        clock = iter([0.0] + [0.2, 10.0, 10.0, 10.01, 10.02, 10.2, 10.2, 30.0])
        with unittest.mock.patch.object(_progress.time, "monotonic", lambda: next(clock)):
            with unittest.mock.patch.object(sys, "stderr", io.StringIO()) as told:
                bar = _progress.Bar(True)
                bar.update(0.01)  # too early
                bar.update(0.25, "E = 3 J")
                bar.update(0.26)  # too soon
                bar.close()
        text = told.getvalue()
        self.assertIn(" 25 %  10.0 s, 30.0 s left  E = 3 J", text)
        self.assertNotIn("26 %", text)
        self.assertTrue(text.endswith("\r\033[K"))

    def test_notebook(self):
        shown = []

        class Handle:
            def update(self, page):
                shown.append(page)

        class Display:
            HTML = staticmethod(str)

            @staticmethod
            def display(page, display_id):
                shown.append(page)
                return Handle()

        with unittest.mock.patch.object(_progress, "notebook", lambda: Display):
            with unittest.mock.patch.object(_progress, "_AFTER", 0):
                with unittest.mock.patch.object(_progress, "_EVERY", 0):
                    with brio.load("cloth") as sim:
                        sim.step(3)
                    with tempfile.TemporaryDirectory() as folder:
                        brio.run("cloth", folder + "/cloth", set={"time.end": 0.1})
                    brio.compare("cloth", ["bdf2"], set={"time.end": 10})  # long enough for a bar
                    with unittest.mock.patch.object(os, "openpty", side_effect=OSError):
                        brio.compare("cloth", ["bdf2"], set={"time.end": 0.1})  # without a bar
        self.assertTrue(all("<progress" in one for one in shown if one))
        self.assertIn('value="0.6667"', "".join(shown))
        self.assertIn("1 of 1: bdf2", "".join(shown))
        self.assertEqual(shown[-1], "")

    def test_nobody_looks(self):
        self.assertFalse(_progress.Bar(False).on)
        with unittest.mock.patch.object(sys, "stderr", io.StringIO()):
            self.assertFalse(_progress.Bar().on)


if __name__ == "__main__":
    unittest.main()
