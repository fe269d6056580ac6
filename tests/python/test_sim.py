"""Loading, stepping, reading, setting, views, dead handles, checkpoints, hands."""
import gc
import os
import tempfile
import threading
import types
import unittest

import brio
import numpy as np

ROPE = {
    "time": {"h": 0.01},
    "bodies": [
        {
            "name": "rope",
            "shape": {"type": "line", "length": 1, "cells": 10},
            "material": {"type": "hooke", "k": 100, "vertex_mass": 0.01},
            "fix": [{"vertices": [0]}],
        }
    ],
}


class Loading(unittest.TestCase):
    def test_watch(self):
        sim, same = brio.load("cloth"), brio.load("cloth")
        seen = []
        sim.watch(lambda now: seen.append(now))
        sim.step()
        self.assertGreater(len(seen), 1)
        self.assertEqual(
            (seen[0].step, seen[0].iteration, seen[0].moved, seen[0].limit), (1, 0, 1, ())
        )
        self.assertTrue(np.isnan(seen[0].speed) and seen[-1].speed > 0 and seen[-1].tol > 0)
        same.step()
        self.assertEqual(sim.q.tobytes(), same.q.tobytes())
        sim.watch(lambda now: now.iteration == 1)
        with self.assertRaisesRegex(brio.Error, "stopped on request") as caught:
            sim.step()
        self.assertEqual(caught.exception.status, brio.Status.STOPPED)
        self.assertEqual(sim.q.tobytes(), same.q.tobytes())

        def raises(now):
            raise KeyboardInterrupt

        sim.watch(raises)
        with self.assertRaises(KeyboardInterrupt):
            sim.step()
        sim.watch(None)
        sim.step()
        same.step()
        self.assertEqual(sim.q.tobytes(), same.q.tobytes())

    def test_dict_text_and_file_are_the_same(self):
        import json

        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "rope.json")
            with open(file, "w") as text:
                json.dump(ROPE, text)
            ends = []
            frozen = types.MappingProxyType(
                {**ROPE, "bodies": [types.MappingProxyType(body) for body in ROPE["bodies"]]}
            )
            for sim in (
                brio.load(ROPE),
                brio.load(frozen),
                brio.parse(json.dumps(ROPE)),
                brio.load(file),
            ):
                sim.step(5)
                ends.append(sim.q.tobytes())
        self.assertEqual(len(set(ends)), 1)

    def test_sets(self):
        sim = brio.load(
            "cloth",
            set={
                "time.h": 1 / 120,
                "integrator": {"type": "bdf2"},
                "gravity": np.array([0, -1, 0]),
            },
        )
        self.assertEqual((sim.h, sim.integrator), (1 / 120, "bdf2"))
        self.assertEqual(brio.load("cloth", set=["time.h=1/30"]).h, 1 / 30)

    def test_errors_tell_where(self):
        with self.assertRaises(brio.Error) as caught:
            brio.parse(
                "brio: 1\nbodies:\n  - shape: {type: bax}\n    material: {type: hooke}\n",
                name="mine.yaml",
            )
        error = caught.exception
        self.assertEqual(
            (error.status, error.file, error.line, error.path),
            (brio.Status.ERROR_INPUT, "mine.yaml", 3, "bodies[0].shape.type"),
        )
        self.assertGreater(error.column, 0)
        self.assertTrue(str(error).startswith("mine.yaml:3:"), str(error))
        self.assertIn("box", error.message)
        with self.assertRaises(brio.Error) as caught:
            brio.load("no-such-scene")
        self.assertEqual(caught.exception.status, brio.Status.ERROR_FILE)
        with self.assertRaises(ValueError):
            brio.load({**ROPE, "gravity": [0, np.nan, 0]})
        with self.assertRaises(TypeError):
            brio.load("cloth", set="time.h=1")


class Arrays(unittest.TestCase):
    def setUp(self):
        self.sim = brio.load(ROPE)

    def test_shapes(self):
        for wrong in (
            np.zeros((10, 3)),
            np.zeros((11, 2)),
            np.zeros(33),
            np.zeros((11, 3, 1)),
            1.0,
        ):
            for function in (self.sim.set_positions, self.sim.set_velocities):
                with self.assertRaisesRegex(
                    ValueError, r"rope.*expected an array of shape \(11, 3\), got"
                ):
                    function(wrong)
        for wrong in (np.zeros((10, 3)), np.zeros((11, 3), np.float32), np.zeros((3, 11)).T, [0]):
            with self.assertRaises(ValueError):
                self.sim.positions(out=wrong)
        frozen = np.zeros((11, 3))
        frozen.flags.writeable = False
        with self.assertRaises(ValueError):
            self.sim.positions(out=frozen)
        with brio.load("cloth") as cloth:
            x, normals = cloth.draw("cloth")
            x.flags.writeable = False
            before = x.copy()
            cloth.step()
            with self.assertRaisesRegex(ValueError, "writeable"):
                cloth.draw("cloth", out=(x, normals))
            np.testing.assert_array_equal(x, before)
        with self.assertRaisesRegex(ValueError, "three numbers"):
            self.sim.set_gravity([1, 2])
        with self.assertRaisesRegex(brio.Error, "there is no body 'cloth'; there are: rope"):
            self.sim.positions("cloth")
        with self.assertRaises(brio.Error):
            self.sim.positions(1)

    def test_not_finite(self):
        x = self.sim.positions()
        before = self.sim.q.copy()
        x[3, 1] = np.nan
        with self.assertRaisesRegex(brio.Error, "vertex 3 is not finite"):
            self.sim.set_positions(x)
        with self.assertRaises(brio.Error):
            self.sim.set_velocities(np.full((11, 3), np.inf))
        with self.assertRaises(brio.Error):
            self.sim.set_gravity([0, np.nan, 0])
        for h in (0, -1, np.nan, np.inf):
            with self.assertRaisesRegex(brio.Error, "positive and finite"):
                self.sim.step(h=h)
        self.assertEqual(before.tobytes(), self.sim.q.tobytes())

    def test_set_and_read(self):
        x, v = self.sim.positions(), np.arange(33.0).reshape(11, 3)
        x[1:, 2] += 0.25
        self.sim.set_positions(x)
        self.sim.set_velocities(v.tolist())
        out = np.empty((11, 3))
        self.assertIs(self.sim.positions(out=out), out)
        np.testing.assert_array_equal(out, x)
        np.testing.assert_array_equal(self.sim.velocities()[1:], v[1:])
        self.assertTrue((self.sim.velocities()[0] == 0).all())  # fixed

    def test_views_show_the_engine(self):
        q, v = self.sim.q, self.sim.v
        self.assertEqual(q.shape, (30,))
        before = q.copy()
        self.sim.step(5)
        self.assertFalse((q == before).all())
        np.testing.assert_array_equal(q.reshape(10, 3), self.sim.positions()[1:])
        np.testing.assert_array_equal(v.reshape(10, 3), self.sim.velocities()[1:])
        for view in (q, v, self.sim.edges(), self.sim.q[3:6]):
            with self.assertRaises(ValueError):
                view[0] = 1
        self.assertEqual(self.sim.edges().shape, (10, 2))
        self.assertEqual(self.sim.triangles().shape, (0, 3))
        self.assertEqual(brio.load("spinning-cube").tets().shape[1], 4)

    def test_views_outlive_the_simulation(self):
        q, part, edges = self.sim.q, self.sim.q[::2].reshape(5, 3), self.sim.edges()
        kept = q.copy(), part.copy(), edges.copy()
        self.sim.close()
        del self.sim
        gc.collect()
        others = [brio.load(ROPE) for _ in range(50)]  # would take the memory
        for sim in others:
            sim.set_positions(sim.positions() + 5)
        for view, copy in zip((q, part, edges), kept):
            np.testing.assert_array_equal(view, copy)

    def test_views_and_another_integrator(self):
        q = self.sim.q
        self.sim.set_integrator("implicit-midpoint")  # no more history: nothing moves
        with self.assertRaisesRegex(brio.Error, "1 arrays look into the state"):
            self.sim.set_integrator("bdf2")
        half = q[:3]
        del q
        with self.assertRaises(brio.Error):
            self.sim.set_integrator("bdf2")
        del half
        self.sim.set_integrator("bdf2")
        self.sim.step()


class Life(unittest.TestCase):
    def test_dead_handles_raise(self):
        sim = brio.load(ROPE)
        hand = sim.grab_vertex(5)
        state = sim.snapshot()
        sim.close()
        sim.close()
        self.assertTrue(sim.closed)
        self.assertIn("closed", repr(sim))
        calls = [
            sim.step,
            sim.settle,
            lambda: sim.time,
            lambda: sim.h,
            lambda: sim.bodies,
            sim.vertices,
            sim.positions,
            sim.velocities,
            sim.ledger,
            sim.snapshot,
            lambda: sim.q,
            lambda: sim.v,
            sim.edges,
            sim.triangles,
            sim.tets,
            lambda: sim.integrator,
            lambda: sim.set_integrator("bdf2"),
            lambda: sim.energy(0),
            lambda: sim.set_positions(np.zeros((11, 3))),
            lambda: sim.set_velocities(np.zeros((11, 3))),
            lambda: sim.save("never"),
            lambda: sim.resume("never"),
            lambda: sim.restore(state),
            lambda: sim.grab([0, 0, 0]),
            lambda: sim.grab_vertex(0),
            lambda: sim.grab_ray([0, 0, 0], [0, 1, 0]),
            lambda: sim.attachments,
            lambda: sim.move_attachment(0, [0, 0, 0]),
            lambda: sim.set_gravity([0, 0, 0]),
            lambda: sim.material("k"),
            lambda: sim.set_material("k", 1),
            lambda: sim.damping(0, "a"),
            lambda: sim.set_damping(0, "a", 1),
            lambda: hand.drag([0, 0, 0]),
            lambda: hand.now,
            hand.release,
            sim.__enter__,
        ]
        for call in calls:
            with self.assertRaisesRegex(brio.Error, "closed"):
                call()
        self.assertFalse(os.path.exists("never"))
        print(f"{len(calls)} calls on a closed simulation raise")

    def test_with(self):
        with brio.load(ROPE) as sim:
            sim.step()
        self.assertTrue(sim.closed)

    def test_one_thread_at_a_time(self):
        sim, problems, go = brio.load("cloth"), [], threading.Event()

        def work():
            go.wait()
            for _ in range(20):
                try:
                    sim.step()
                except brio.Error as problem:
                    problems.append(problem)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        go.set()
        for thread in threads:
            thread.join()
        done = round(sim.time / sim.h)
        print(f"{done} steps done, {len(problems)} refused of 60 that three threads asked for")
        self.assertEqual(done + len(problems), 60)
        self.assertTrue(all("in use" in str(problem) for problem in problems))


class Building(unittest.TestCase):
    def test_from_arrays_equals_the_scene(self):
        scene = brio.load("cloth", set={"probes": []})
        build = brio.Builder()
        cloth = build.body(
            scene.positions(),
            triangles=scene.triangles(),
            edges=scene.edges(),
            material={"type": "hooke", "k": 200, "rho": 0.2},
            name="cloth",
        )
        build.fix(cloth, [0, 16])
        sim = build.sim("backward-euler", h=1 / 60, tol=1e-4)
        for one in (scene, sim):
            one.step(10)
        self.assertEqual(sim.bodies, ["cloth"])
        self.assertEqual(scene.q.tobytes(), sim.q.tobytes())

    def test_planes_and_lists(self):
        build = brio.Builder(
            gravity=(0, -5, 0)
        )  # lists and tuples, which become arrays that live only as long as the call
        build.body(
            [[0, 1, 0], [1, 1, 0], [0, 2, 0], [0, 1, 1]], tets=[[0, 1, 2, 3]], velocity=(1, 2, 3)
        )
        build.plane([0, 0.25, 0], [0, 2, 0])
        sim = build.sim("backward-euler", h=0.01)
        self.assertAlmostEqual(sim.ledger().min_distance, 0.75)
        np.testing.assert_array_equal(sim.velocities(), [[1, 2, 3]] * 4)
        sim.step()
        np.testing.assert_allclose(sim.velocities(), [[1, 2 - 0.05, 3]] * 4, rtol=1e-12)
        sim.set_gravity((0, 0, 7))
        sim.step()
        np.testing.assert_allclose(sim.velocities(), [[1, 2 - 0.05, 3.07]] * 4, rtol=1e-12)
        with sim.grab_vertex(0) as hand:
            for k in range(100):
                hand.drag((k, 2 * k, 3 * k))
                np.testing.assert_array_equal(hand.now.point, [k, 2 * k, 3 * k])
        blocked = brio.Builder()
        blocked.body([[0, 1, 0], [1, 1, 0], [0, 2, 0], [0, 1, 1]], tets=[[0, 1, 2, 3]])
        blocked.plane([0, 1.5, 0], [0, 1, 0])
        with self.assertRaisesRegex(brio.Error, "behind|touches"):
            blocked.sim()
        with self.assertRaisesRegex(brio.Error, "has made its simulation"):
            blocked.sim()

    def test_constraints_and_stitches(self):
        tet = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
        builder = brio.Builder(gravity=(0, -10, 0))
        for i in range(2):
            builder.body(
                tet + (0, -2 * i, 0),
                tets=[[0, 1, 2, 3]],
                material={"type": "neo-hookean", "E": 1e6, "rho": 6},
            )
        builder.constraint("point-to-point", (0, 0), (0, 0, 0))
        builder.constraint("ball", 0, at=(1, 0, 0))
        builder.constraint("point-on-plane", (0, 3), (0, 0, 1), axis=(0, 1, 0))
        self.assertEqual(builder.stitch(1, 0, vertices=[2], k=1e3), 1)
        with self.assertRaisesRegex(brio.Error, "needs an axis"):
            builder.constraint("hinge", 0, 1, at=(0, 0, 0))
        sim = builder.sim("backward-euler", h=0.02)
        sim.step(400)
        self.assertLess(sim.ledger().rods, 1e-12)
        self.assertEqual(sim.stitches(), (1, 0))
        self.assertAlmostEqual(
            sum(sim.reaction(i)[0][1] for i in range(3)), 20, delta=1
        )  # two of 1 kg, still swinging

    def test_forces(self):
        tet = [[0, 1, 0], [1, 1, 0], [0, 2, 0], [0, 1, 1]]

        def build(**force):
            builder = brio.Builder(gravity=(0, 0, 0))
            builder.body(
                tet,
                tets=[[0, 1, 2, 3]],
                velocity=(1, 2, 3),
                material={"type": "neo-hookean", "E": 1e6, "rho": 6},
            )
            builder.force(**force)
            return builder.sim("implicit-midpoint", h=0.01, tol=1e-10)

        sim = build(type="constant", force=(0, 0, 5), per="total", keys=[[0, 1], [1, 3]])
        sim.step(10)
        self.assertAlmostEqual(sim.ledger().momentum[2], 3 + 5 * 0.11, 10)  # 1 kg
        sim.set_force(0, 0)
        sim.step(10)
        self.assertAlmostEqual(sim.ledger().momentum[2], 3 + 5 * 0.11, 10)
        spring = dict(type="radial", strength=2.0, centre=(1, 0, 0))

        def written(x, time):
            d = x - (1, 0, 0)
            return (d**2).sum(), 2 * d, np.broadcast_to(2 * np.eye(3), (len(x), 3, 3))

        sims = [build(**spring), build(type="function", function=written, potential=True)]
        for one in sims:
            one.step(10)
        np.testing.assert_allclose(sims[0].positions(), sims[1].positions(), rtol=1e-12)
        honey = build(type="function", function=lambda x, v, time: -0.1 * v)
        honey.step(10)
        self.assertLess(honey.ledger().added, -0.1)
        self.assertLess(abs(honey.ledger().remainder), 1e-9)

        def no_hessian(x, time):
            return (*written(x, time)[:2], None)

        one = build(type="function", function=no_hessian, potential=True)
        one.step(10)
        np.testing.assert_allclose(one.positions(), sims[0].positions(), rtol=1e-6)
        self.assertEqual(one.hessian.shape, (12, 12))
        for forgot in (dict(function=lambda x, v, t: None), dict(function=lambda x, v, t: x[:2])):
            with self.assertRaises(ValueError):
                build(type="function", **forgot).step()

        def wrong(x, v, time):
            raise KeyError("no")

        broken = build(type="function", function=wrong)
        before = broken.q.copy()
        with self.assertRaises(KeyError):
            broken.step()
        np.testing.assert_array_equal(broken.q, before)
        for bad in (
            dict(type="gale"),
            dict(type="wind", speed=3),
            dict(type="wind", formula="sin(q)"),
            dict(type="function"),
        ):
            with self.assertRaises(brio.Error):
                build(**bad)

    def test_refusals(self):
        tet = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        build = brio.Builder()
        for wrong in (
            dict(vertices=[0, 0, 0]),
            dict(vertices=tet, tets=[[0, 1, 2]]),
            dict(vertices=tet, tets=[[0, 1, 2, 4]]),
            dict(vertices=tet, tets=[[0, 1, 2, -1]]),
            dict(vertices=tet, tets=[[0.0, 1, 2, 3]]),
            dict(vertices=tet, tets=[[0, 1, 2, 3]], velocity=[1]),
            dict(vertices=tet, kind="gas"),
        ):
            with self.assertRaises(ValueError):
                build.body(**wrong)
        for wrong in (
            dict(vertices=tet),
            dict(vertices=tet, tets=[[0, 2, 1, 1]]),
            dict(vertices=np.array(tet) * np.nan, tets=[[0, 1, 2, 3]]),
            dict(vertices=tet, tets=[[0, 1, 2, 3]], material="cheese"),
            dict(vertices=tet, tets=[[0, 1, 2, 3]], material={"type": "stvk", "G": 1}),
            dict(vertices=tet, tets=[[0, 1, 2, 3]], material={"type": "stvk", "E": -1}),
        ):
            with self.assertRaises(brio.Error):
                build.body(**wrong)
        body = build.body(tet, tets=[[0, 1, 2, 3]])
        with self.assertRaises(brio.Error):
            build.fix(7, [0])
        with self.assertRaises(ValueError):
            build.fix(body, [4])
        build.attach(body, 0, [0, 0, 0], 10)
        with self.assertRaises(brio.Error):
            build.sim("none")
        self.assertEqual(len(build.sim("bdf2").attachments), 1)
        for call in (
            build.sim,
            lambda: build.fix(body, [0]),
            lambda: build.plane([0, 0, 0], [0, 1, 0]),
        ):
            with self.assertRaisesRegex(brio.Error, "has made its simulation"):
                call()
        with self.assertRaises(brio.Error):
            brio.Builder(gravity=[0, np.nan, 0])


class Physics(unittest.TestCase):
    def test_ledger(self):
        sim = brio.load("spinning-cube")
        first = sim.ledger()
        sim.step(5)
        now = sim.ledger()
        self.assertEqual(now.step, 5)
        self.assertEqual(now.total, now.kinetic + now.potential)
        self.assertEqual(
            (now.momentum.shape, now.angular.shape, now.centre.shape, now.dissipated_by.shape),
            ((3,), (3,), (3,), (9,)),
        )
        np.testing.assert_allclose(now.momentum, first.momentum, atol=1e-9)
        self.assertIn("total=", repr(now))
        self.assertAlmostEqual(sum(sim.energy(body) for body in sim.bodies), now.elastic)

    def test_checkpoints(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "saved")
            a = brio.load("cloth", set={"integrator": "bdf2"})
            a.step(5)
            a.save(file)
            state = a.snapshot()
            with self.assertRaisesRegex(brio.Error, "already exists") as caught:
                a.save(file)
            self.assertEqual(caught.exception.status, brio.Status.ERROR_EXISTS)
            a.save(file, force=True)
            a.step(5)
            end = a.q.tobytes() + a.v.tobytes()
            b = brio.load("cloth", set={"integrator": "bdf2"})
            b.resume(file)
            b.step(5)
            self.assertEqual(b.q.tobytes() + b.v.tobytes(), end)
            a.restore(state)
            a.step(5)
            self.assertEqual(a.q.tobytes() + a.v.tobytes(), end)
            with self.assertRaisesRegex(brio.Error, "another simulation"):
                b.restore(state)
            c = brio.load("cloth")
            with self.assertRaisesRegex(brio.Error, "remembers another number of steps"):
                c.resume(file)
            other = brio.load(ROPE)
            with self.assertRaisesRegex(brio.Error, "other bodies"):
                other.resume(file)
            raw = bytearray(open(file, "rb").read())
            for at, text in (
                (0, "no checkpoint"),
                (len(raw) // 2, "damaged"),
                (len(raw) - 1, "damaged"),
            ):
                broken = bytearray(raw)
                broken[at] ^= 1
                with open(file, "wb") as out:
                    out.write(broken)
                before = b.q.copy()
                with self.assertRaisesRegex(brio.Error, text):
                    b.resume(file)
                self.assertEqual(before.tobytes(), b.q.tobytes())
            with self.assertRaises(brio.Error) as caught:
                b.resume(os.path.join(folder, "none"))
            self.assertEqual(caught.exception.status, brio.Status.ERROR_FILE)

    def test_hands(self):
        sim = brio.load("cloth")
        hand = sim.grab_ray([0, 2, 0.1], [0, -1, 0])
        self.assertAlmostEqual(hand.hit[0], 0)
        self.assertIsNone(sim.grab_ray([0, 2, 0.1], [0, 1, 0]))
        hand.drag(hand.hit + [0, 0.5, 0])
        sim.step(20)
        held = hand.now
        self.assertGreater(held.force[1], 0)
        np.testing.assert_allclose(held.weights.sum(), 1)
        np.testing.assert_allclose(
            (held.weights[:, None] * sim.positions()[held.vertices]).sum(0), held.grip, atol=1e-14
        )
        self.assertGreater(sim.ledger().added, 0)
        hand.release()
        hand.release()
        with self.assertRaisesRegex(brio.Error, "let go"):
            hand.drag([0, 0, 0])
        with sim.grab([0, 0, 0], k=10) as other:
            self.assertEqual(other.now.k, 10)
        with self.assertRaises(brio.Error):
            sim.grab_vertex(10**6)

    def test_knobs(self):
        sim = brio.load(
            {
                **ROPE,
                "damping": [{"type": "rayleigh"}],
                "bodies": [{**ROPE["bodies"][0], "attach": [{"vertices": [10], "k": 50}]}],
            }
        )
        self.assertEqual(sim.material("k"), 100)
        sim.set_material("k", 150)
        self.assertEqual(sim.material("k", "rope"), 150)
        with self.assertRaisesRegex(brio.Error, "no parameter"):
            sim.material("kk")
        with self.assertRaises(brio.Error):
            sim.set_material("vertex_mass", 1)
        self.assertEqual(len(sim.attachments), 1)
        sim.move_attachment(0, [1, 1, 0])
        np.testing.assert_array_equal(sim.attachments[0].point, [1, 1, 0])
        sim.set_integrator("theta", theta=0.75)
        with self.assertRaisesRegex(brio.Error, "has no thata; there are: theta"):
            sim.set_integrator("theta", thata=0.75)
        with self.assertRaises(brio.Error):
            sim.set_integrator("none")

    def test_settle(self):
        sim = brio.load(
            {
                "bodies": [
                    {
                        "shape": {
                            "type": "bar",
                            "length": 0.6,
                            "height": 0.1,
                            "width": 0.1,
                            "cells": 6,
                            "across": 1,
                        },
                        "material": {"type": "neo-hookean", "E": 2e6, "nu": 0.4, "rho": 1000},
                        "fix": [{"box": [[-1, -1, -1], [0, 1, 1]]}],
                    }
                ]
            }
        )
        sim.settle()
        rest = sim.positions()
        self.assertEqual(np.abs(sim.v).max(), 0)
        sim.step(3)
        self.assertLess(np.abs(sim.positions() - rest).max(), 1e-6)
        with self.assertRaisesRegex(brio.Error, "nothing holds"):
            brio.load("spinning-cube", set={"gravity": [0, -9.8, 0]}).settle()
