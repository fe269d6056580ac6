"""``Builder``: what it makes is what the same scene makes."""
import unittest

import brio
import numpy as np


def box(cells=2, size=0.1, height=0.06):
    """Vertices and tets of a box of brio's own."""
    shape = {"type": "box", "size": [size] * 3, "cells": [cells] * 3}
    scene = {"bodies": [{"shape": shape, "material": {"type": "neo-hookean"}}]}
    with brio.load(scene) as sim:
        return sim.positions() + [0, height, 0], sim.tets().copy()


class Build(unittest.TestCase):
    def compare(self, build, scene, steps=20, **definition):
        with build.sim(**definition) as a, brio.load(scene) as b:
            a.step(steps)
            b.step(steps)
            for body in range(len(b.bodies)):
                apart = np.abs(a.positions(body) - b.positions(body)).max()
                self.assertLess(apart, 1e-9)
            self.assertAlmostEqual(a.ledger().dissipated, b.ledger().dissipated, places=9)
            return a.ledger(), b.ledger()

    def scene(self, **more):
        shape = {"type": "box", "size": [0.1] * 3, "cells": [2] * 3}
        body = {
            "shape": shape,
            "material": {"type": "neo-hookean", "E": 2e4},
            "transform": {"translate": [0, 0.06, 0]},
        }
        return {
            "time": {"h": 0.01},
            "contact": {"type": "ipc", "dhat": 1e-3, "kappa": 1e5, "mu": 0.2, "epsv": 1e-3},
            "bodies": [body],
            "solver": {"tol": 1e-9},
            **more,
        }

    def builder(self):
        build = brio.Builder()
        x, tets = box()
        build.body(x, tets=tets, material={"type": "neo-hookean", "E": 2e4})
        build.contact(law="ipc", dhat=1e-3, kappa=1e5, mu=0.2, epsv=1e-3)
        return build

    def test_plane_damping_solver(self):
        build = self.builder()
        self.assertEqual(build.plane([0, 0, 0], [0, 1, 0]), -1)
        build.damping("rayleigh", beta=0.002)
        floor = {"type": "plane", "point": [0, 0, 0], "normal": [0, 1, 0]}
        scene = self.scene(obstacles=[floor], damping=[{"type": "rayleigh", "beta": 0.002}])
        a, _ = self.compare(
            build, scene, h=0.01, solver={"type": "newton", "linear": "ldlt", "tol": 1e-9}
        )
        self.assertGreater(a.contacts, 0)
        self.assertGreater(a.dissipated, 0)

    def test_solid_and_heights(self):
        build = self.builder()
        self.assertEqual(build.solid("sphere", [0, -0.2, 0], radius=0.2), -1)
        sphere = {"type": "sphere", "radius": 0.2, "formula": True}
        sphere["transform"] = {"translate": [0, -0.2, 0]}
        self.compare(build, self.scene(obstacles=[sphere]), h=0.01, tol=1e-9)
        build = self.builder()
        self.assertEqual(build.heightfield(np.zeros((5, 5)), 0.2), -1)
        sim = build.sim(h=0.01)
        sim.step(20)
        self.assertGreater(sim.positions()[:, 1].min(), 0)

    def test_moving_obstacle(self):
        build = self.builder()
        square = [[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]]
        corners = [[0, 2, 1], [0, 3, 2]]
        build.obstacle(square, corners, formula=["x", "y + 0.1 * t", "z"])
        sim = build.sim(h=0.01)
        sim.step(30)
        self.assertAlmostEqual(sim.obstacle_positions(0)[0, 1], 0.03, places=9)
        self.assertEqual(sim.obstacle_triangles(0).shape, (2, 3))
        self.assertGreater(sim.positions()[:, 1].min(), 0.03)

    def test_friction_and_exclude(self):
        build = self.builder()
        floor = build.plane([0, 0, 0], [0, 1, 0])
        build.exclude(0, floor)
        sim = build.sim(h=0.01)
        sim.step(30)
        self.assertLess(sim.positions()[:, 1].min(), -0.1)  # it falls through
        build = self.builder()
        build.friction(0, build.plane([0, 0, 0], [0, 1, 0]), 0.7)
        build.sim(h=0.01).step(3)

    def test_state_presets_springs(self):
        build = brio.Builder()
        x, tets = box()
        build.body(x, tets=tets, material="rubber", state=np.hstack([x, 0 * x + [1, 0, 0]]))
        sim = build.sim(h=0.01)
        np.testing.assert_allclose(sim.velocities(), np.broadcast_to([1, 0, 0], x.shape))
        build = brio.Builder(gravity=[0, 0, 0])
        material = {"type": "hooke", "vertex_mass": 1.0}
        edges = [[0, 1]]
        build.body([[0, 0, 0], [1, 0, 0]], edges=edges, material=material, springs=[[100, 0.5]])
        self.assertAlmostEqual(build.sim().ledger().potential, 100 / 2 * 0.5**2)

    def test_wrong_arrays(self):
        """What has as many numbers by chance is rejected, and so are numbers that would be cut."""
        build = self.builder()
        poses = np.zeros((11, 9))  # eleven rows without a scale of three
        poses[:, 0], poses[:, 4] = range(11), 1
        push = {"type": "constant", "force": [1, 0, 0]}
        for call, words in (
            (lambda: build.fix(0, [0], poses=poses), r"poses: .* \(n, 11\), got \(11, 9\)"),
            (lambda: build.force(**push, keys=[[0, 1, 2], [3, 4, 5]]), r"keys: .* \(n, 2\)"),
            (lambda: build.force(**push, path=np.zeros((4, 3))), r"path: .* \(n, 4\)"),
            (lambda: build.force(**push, box=[0, 0, 0]), "box: expected six numbers"),
            (lambda: build.force(**push, bodies=[0.5]), "bodies: expected integers"),
            (lambda: build.force(**push, bodies=0, vertices=[1.5]), "vertices: expected integers"),
            (lambda: build.force(**push, bodies=0, vertices=[2**32]), "vertices: expected int"),
            (lambda: build.force(**push, bodies=0, vertices=[True, False]), "vertices: exp"),
            (lambda: build.fix(0, [0], times=[0, 1]), "times: .* frames, which are missing"),
            (lambda: build.constraint("rod", (0, 1, 2, 3)), "an end: expected a body"),
            (lambda: build.constraint("rod", (0,)), "an end: expected a body"),
            (lambda: build.stitch(0, 0, vertices=[0.5]), "vertices: expected integers"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                call()
        build.force(**push, bodies=0, vertices=np.int64(3), keys=[[0, 1], [1, 2]])
        build.sim(h=0.01).step()

    def test_mistakes(self):
        build = self.builder()
        for call, words in (
            (lambda: build.contact(mue=1), "contact has no 'mue'"),
            (lambda: build.contact(start="slowly"), "strict, relax, untangle"),
            (lambda: build.damping("glue"), 'no damping model "glue"'),
            (lambda: build.solid("cone"), 'no shape "cone"'),
            (lambda: build.heightfield([1, 2], 1), "rows and columns"),
            (lambda: build.sim(quality="best"), "preview, film, exact"),
            (lambda: build.sim(solver={"tool": 1}), "solver has no 'tool'"),
        ):
            with self.assertRaisesRegex((ValueError, brio.Error), words):
                call()


if __name__ == "__main__":
    unittest.main()
