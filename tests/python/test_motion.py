"""Points that move, and coordinates that are fixed alone, from arrays."""
import unittest

import numpy as np

import brio

X = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)


def tet(**motion):
    build = brio.Builder(gravity=[0, -10, 0])
    body = build.body(X, tets=[[0, 1, 2, 3]], material={"type": "stvk", "E": 1e5, "rho": 100})
    build.fix(body, [0], **motion)
    return build.sim("backward-euler", h=0.01)


class Motion(unittest.TestCase):
    def test_frames_poses_and_formulas(self):
        frames = np.array([[[0, 0, 0]], [[0, 0, 1]]], float)
        for motion in (
            {"times": [0, 1], "frames": frames},
            {"poses": [[0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1]]},
            {"formula": ["0", "0", "t"]},
        ):
            sim = tet(**motion)
            sim.step(10)
            np.testing.assert_allclose(sim.positions()[0], [0, 0, 0.1], atol=1e-14)

    def test_axes(self):
        sim = tet(axes="xz")
        sim.step(10)
        x = sim.positions()
        self.assertEqual((x[0, 0], x[0, 2]), (0, 0))
        self.assertLess(x[0, 1], -0.01)

    def test_refused(self):
        with self.assertRaises(ValueError):
            tet(axes="w")
        with self.assertRaises(brio.Error):
            tet(formula=["sin(", "0", "0"])


if __name__ == "__main__":
    unittest.main()
