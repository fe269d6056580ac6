"""Forces, contact laws and integrators of Python, and plug-ins in C, in runs and comparisons."""
import os
import tempfile
import unittest

import brio
import numpy as np

BOXES = {
    "time": {"h": 1 / 200, "end": 0.05},
    "solver": {"tol": 1e-9},
    "contact": {"type": "cubic", "mu": 0.3, "dhat": 2e-3, "kappa": 1e6},
    "obstacles": [{"type": "plane", "point": [0, 0, 0], "normal": [0, 1, 0]}],
    "bodies": [
        {
            "shape": {"type": "box", "size": [0.1, 0.1, 0.1], "cells": [2, 2, 2]},
            "material": {"type": "neo-hookean", "E": 1e5},
            "transform": {"rotate": [[0, 1, 0], 30 * i], "translate": [0.02 * i, y, 0]},
        }
        for i, y in enumerate((0.0515, 0.1525))
    ],
}


@brio.law("python-cubic")
def cubic(gap, kappa, dhat):
    left, c = dhat - gap, 2 * kappa / dhat
    return c / 3 * left**3, -c * left**2, 2 * c * left


@brio.force("python-lift", fields={"lift": 0.001})
def lift(x, v, time, values):
    return np.broadcast_to([0, values["lift"], 0], x.shape)


@brio.force("python-spring", potential=True, fields={"k": brio.Field(2.0, "N/m")})
def spring(x, time, values):
    k = values["k"]
    return k / 2 * np.sum(x * x), k * x, np.broadcast_to(k * np.eye(3), (len(x), 3, 3))


@brio.integrator("python-euler", order=1, traits=brio.Trait.IMPLICIT | brio.Trait.END_IS_SOLVED)
def euler(s, h):
    q = s.minimise(s.q + h * s.v, s=h * h, time=s.time + h, h=h)
    s.accept(h, q, (q - s.q) / h)


class Own(unittest.TestCase):
    def ends(self, *sets, scene=BOXES, steps=10):
        found = []
        for one in sets:
            with brio.load(scene, set={"solver": {"tol": 1e-11}, **one}) as sim:
                sim.step(steps)
                found.append((sim.positions(), sim.ledger().contact))
        return found

    def test_law(self):
        (x, energy), (y, again) = self.ends(
            {"contact.type": "cubic"}, {"contact.type": "python-cubic"}
        )
        print(f"law: {np.abs(x - y).max():.1e} m apart, {energy:.3e} J in contacts")
        self.assertLess(np.abs(x - y).max(), 1e-9)
        self.assertGreater(again, 1e-6)
        self.assertIn("python-cubic", brio.laws())

    def test_laws_that_cannot_be(self):
        with self.assertRaisesRegex(brio.Error, "must not be negative"):
            brio.law("pulls")(lambda gap, kappa, dhat: (gap, gap, gap))
        with self.assertRaisesRegex(brio.Error, "go to 0 at dhat"):
            brio.law("jumps")(lambda gap, kappa, dhat: (2 * dhat - gap, -1 + 0 * gap, 0 * gap))
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            brio.law("raises")(lambda gap, kappa, dhat: 1 / 0)
        for short in (lambda gap, kappa, dhat: (0 * gap, 0 * gap), lambda gap, kappa, dhat: None):
            with self.assertRaisesRegex(ValueError, '"short" did not return three values'):
                brio.law("short")(short)
        self.assertNotIn("raises", brio.laws())

    def test_forces(self):
        built_in = [{"type": "constant", "per": "vertex", "force": [0, 0.002, 0]}]
        (x, _), (y, _) = self.ends(
            {"forces": built_in},
            {"forces": [{"type": "python-lift", "lift": 0.002}]},
            scene="cloth",
        )
        self.assertLess(np.abs(x - y).max(), 1e-8)
        pulls = {"type": "potential", "per": "vertex", "formula": "0.05*(x*x + y*y + z*z)"}
        (x, _), (y, _) = self.ends(
            {"forces": [pulls]}, {"forces": [{"type": "python-spring", "k": 0.1}]}, scene="cloth"
        )
        self.assertLess(np.abs(x - y).max(), 1e-8)
        with self.assertRaisesRegex(brio.Error, "did you mean .lift"):
            brio.load("cloth", set={"forces": [{"type": "python-lift", "left": 1}]})

    def test_in_every_command(self):
        table = brio.compare(
            BOXES, ["backward-euler", "python-euler"], set={"contact.type": "python-cubic"}
        )
        rows = table["trials"]
        self.assertEqual([row["outcome"] for row in rows], ["completed", "completed"])
        changes = [row["energy_change"] for row in rows]
        self.assertAlmostEqual(changes[0], changes[1], places=9)
        self.assertIn("python-cubic", brio.command("list", "laws"))
        told = brio.command(
            "stability",
            "--integrator",
            "python-euler",
            "--k",
            1,
            "--m",
            1,
            "--d",
            0,
            "--h",
            1,
            "--json",
        )
        self.assertIn('"det": 0.5', told)
        with tempfile.TemporaryDirectory() as folder:
            result = brio.run(BOXES, folder + "/run", set={"integrator": "python-euler"})
            self.assertTrue(result.completed)
        with self.assertRaisesRegex(brio.Error, "did you mean"):
            brio.command("lost")

    def test_exceptions_come_out_of_a_comparison(self):
        @brio.integrator("python-broken", order=1)
        def broken(s, h):
            raise KeyError("the pocket")

        with self.assertRaisesRegex(brio.Error, "KeyError: 'the pocket'"):
            brio.compare("cloth", ["python-broken"], set={"time.end": 0.05})

    @unittest.skipUnless(os.environ.get("BRIO_TEST_PLUGIN"), "BRIO_TEST_PLUGIN names no plug-in")
    def test_plugin(self):
        brio.load_plugin(os.environ["BRIO_TEST_PLUGIN"])
        self.assertIn("plug-euler", brio.integrators())
        table = brio.compare("cloth", ["plug-euler", "python-euler"], set={"time.end": 0.05})
        self.assertEqual([row["outcome"] for row in table["trials"]], ["completed"] * 2)
        with self.assertRaisesRegex(brio.Error, "cannot load the plug-in"):
            brio.load_plugin("/nowhere.so")


if __name__ == "__main__":
    unittest.main()
