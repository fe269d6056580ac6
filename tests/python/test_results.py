"""Matrices against differences of gradients, motions against positions, cages from arrays."""
import os
import tempfile
import unittest

import brio
import numpy as np

SCENE = """
time: {h: 0.01, end: 0.2, fps: 50}
integrator: backward-euler
contact: {type: ipc, dhat: 1e-2, kappa: 1e4}
bodies:
  - {name: a, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}, material: {type: neo-hookean, E: 1e5}}
  - {name: b, shape: {type: sphere, radius: 0.05, subdivisions: 2}, cage: 3, material: {type: neo-hookean, E: 1e5}, transform: {translate: [0.013, 0.106, 0.017]}}
obstacles: [{type: plane, point: [0, -0.06, 0], normal: [0, 1, 0]}]
"""


class Results(unittest.TestCase):
    def test_matrices(self):
        sim = brio.parse(SCENE)
        self.assertGreater(sim.ledger().contacts, 0)
        g, K, A, M = sim.gradient, sim.hessian, sim.stiffness, sim.mass
        n = len(sim.q)
        self.assertEqual((K.shape, A.shape, M.shape), ((n, n),) * 3)
        full = K.toarray()
        self.assertLess(abs(full - full.T).max(), 1e-9 * abs(full).max())
        self.assertGreater(abs(full - A.toarray()).max(), 1)  # contact
        # half of v M v is the kinetic energy
        v = np.random.default_rng(3).normal(size=n)
        self.assertAlmostEqual(M.toarray().trace() / 3, 1000 * (0.001 + volume(sim)), delta=1e-9)
        # gravity pulls with the weight: the sum of the y parts, without what contact and elements balance among themselves
        x, vertices, rests = sim.positions("a"), sim.vertices("a"), []
        for e in (
            1e-6,
            5e-7,
        ):  # of second order. The first coordinates are those of the vertices of a
            d = np.zeros(n)
            d[: 3 * vertices] = v[: 3 * vertices]
            sim.set_positions(x + e * d[: 3 * vertices].reshape(-1, 3), "a")
            rests.append(abs(sim.gradient - g - e * (K @ d)).max())
        slope = np.log2(rests[0] / rests[1])
        print(f"rests {rests[0]:.3g} {rests[1]:.3g}, slope {slope:.3f}")
        self.assertLess(abs(slope - 2), 0.1)
        self.assertIn("coordinates", sim._repr_html_())

    def test_motion(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            with open(os.path.join(folder, "scene.yaml"), "w") as file:
                file.write(SCENE)
            brio.run(os.path.join(folder, "scene.yaml"), out)
            run = brio.Run(out)
            self.assertEqual(run.bodies, ["a", "b"])
            self.assertIsInstance(run["b"].raw.base, np.memmap)
            self.assertEqual(len(run["b"]), 11)
            np.testing.assert_allclose(run.times, np.arange(11) / 50, atol=1e-12)
            sim = brio.parse(SCENE)
            sim.step(20)
            x = sim.positions("b")
            # 24 bits of the size of a body, and the first corner in single precision
            self.assertLess(abs(run["b"][-1] - x).max(), 2e-8)
            self.assertEqual(run["b"][2:5].shape, (3, len(x), 3))
            self.assertEqual(run.triangles("b").tolist(), sim.triangles("b").tolist())
            self.assertIn("vertices", run._repr_html_())
            with self.assertRaises(KeyError):
                run["c"]
            with self.assertRaises(IndexError):
                run["a"][11]
            with self.assertRaises(TypeError):
                run["a"][1.9]  # not instant 1
        with self.assertRaises(brio.Error):
            brio.Run("/nowhere")

    def test_a_body_and_an_obstacle_of_the_same_name(self):
        with tempfile.TemporaryDirectory() as folder:
            mesh = os.path.join(folder, "floor.obj")
            with open(mesh, "w") as file:
                file.write("v 0 -5 0\nv 0 -5 1\nv 1 -5 0\nf 1 2 3\n")
            scene = {
                "time": {"h": 0.01, "end": 0.05},
                "contact": {"type": "ipc"},
                "bodies": [{"name": "thing", "shape": {"type": "grid"}, "material": "cotton"}],
                "obstacles": [{"type": "mesh", "name": "thing", "mesh": mesh}],
            }
            run = brio.Run(brio.run(scene, os.path.join(folder, "out")))
            self.assertEqual((run.bodies, run.obstacles), (["thing"], ["thing"]))
            with brio.load(scene) as sim:
                self.assertEqual(run["thing"].shape[1:], sim.positions("thing").shape)

    def test_motion_that_is_cut_short(self):
        """Of a run that has just begun, or whose disk was full: the instants that are whole."""
        with tempfile.TemporaryDirectory() as folder:
            brio.run("cloth", os.path.join(folder, "out"), set={"time.end": 0.1})
            file = os.path.join(folder, "out", "motion.bin")
            with open(file, "rb") as old:
                data = old.read()
            count = len(brio.Run(os.path.dirname(file)).times)
            for size in (0, 1, 63, 64, 500, len(data) - 1):
                with open(file, "wb") as new:
                    new.write(data[:size])
                if size < 1000:
                    with self.assertRaises(brio.Error):
                        brio.Run(os.path.dirname(file))
                else:
                    run = brio.Run(os.path.dirname(file))
                    self.assertEqual(len(run["cloth"]), count - 1)
                    self.assertTrue(np.isfinite(run["cloth"][:]).all())

    def test_table_of_a_run_that_has_not_ended(self):
        """The last row may be half written, in the middle of a number."""
        with tempfile.TemporaryDirectory() as folder:
            whole = brio.run("cloth", os.path.join(folder, "out"), set={"time.end": 0.1}).energy()
            file = os.path.join(folder, "out", "energy.csv")
            with open(file, "rb") as old:
                text = old.read()
            start = text.rstrip().rindex(b"\n") + 1  # of the last row
            for size in (start, start + 5, start + 40, len(text) - 2):
                with open(file, "wb") as new:
                    new.write(text[:size])
                rows = brio.read_energy(os.path.dirname(file))
                self.assertEqual(rows.tobytes(), whole[:-1].tobytes())
            for size in (0, 10):
                with open(file, "wb") as new:
                    new.write(text[:size])
                with self.assertRaisesRegex(brio.Error, "no row yet"):
                    brio.read_energy(os.path.dirname(file))

    def test_cage(self):
        scene = brio.parse(SCENE)
        x, triangles = scene.positions("b"), scene.triangles("b").copy()
        build = brio.Builder()
        build.body(x, triangles=triangles, material={"type": "neo-hookean", "E": 1e5}, cage=3)
        sim = build.sim(h=0.01)
        self.assertEqual(sim.q.tolist(), scene.q.tolist()[-len(sim.q) :])
        sim.step(3)
        with self.assertRaises(brio.Error):
            brio.Builder().body(x, triangles=triangles[:40], material="neo-hookean", cage=3)


def volume(sim):
    x = sim.positions("b")[sim.triangles("b")]
    return abs(np.einsum("ij,ij->i", x[:, 0], np.cross(x[:, 1], x[:, 2])).sum() / 6)


if __name__ == "__main__":
    unittest.main()
