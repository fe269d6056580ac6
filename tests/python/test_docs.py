"""The examples in the docstrings, and the tutorial."""
import doctest
import os
import subprocess
import sys
import tempfile
import unittest

import brio
from brio import _build, _command, _forces, _library, _own, _results, _run, _sim

ROOT = os.environ.get("BRIO_SOURCE_DIR", ".")


class Docs(unittest.TestCase):
    def test_examples(self):
        tried = 0
        for module in (brio, _build, _command, _forces, _library, _sim, _run, _results, _own):
            result = doctest.testmod(module)
            self.assertEqual(result.failed, 0, module.__name__)
            tried += result.attempted
        print(f"{tried} lines of examples")
        self.assertGreater(tried, 40)

    def test_everything_public_is_explained(self):
        for name in brio.__all__:
            self.assertTrue(getattr(brio, name).__doc__, name)

    def test_pages(self):
        """What README.md and docs/python.md print runs as it stands."""
        import numpy

        for page, count in (("README.md", 1), ("docs/python.md", 4)):
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                blocks = file.read().split("```python\n")[1:]
            self.assertEqual(len(blocks), count, page)
            names = {"brio": brio, "np": numpy}
            for block in blocks:
                exec(block.split("```")[0], names)  # noqa: S102
            if "my_euler" in names:
                sim = names["sim"]
                sim.set_integrator("my-euler")
                sim.step(3)
                self.assertLess(sim.ledger().centre[1], 0)

    def test_tutorial(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}
            done = subprocess.run(
                [sys.executable, os.path.join(ROOT, "python", "tutorial.py")],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        print(done.stdout)
        self.assertIn("The end", done.stdout)
