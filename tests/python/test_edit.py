"""Editing a simulation that runs."""
import gc
import os
import tempfile
import unittest
from unittest import mock

import brio
import numpy as np

TETS = [[0, 1, 2, 3], [1, 2, 3, 4]]
TWO = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], float) * 0.1
MATERIAL = {"type": "stable-neo-hookean", "E": 1e5, "rho": 1000}
PLATE = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], float)


def scene():
    build = brio.Builder()
    build.contact(dhat=2e-3, mu=0.1)
    build.body(TWO + [0, 0.02, 0], tets=TETS, material=MATERIAL, name="one")
    build.obstacle(PLATE, triangles=[[0, 2, 1], [0, 3, 2]], name="plate")
    return build.sim("backward-euler", h=0.01)


class Edits(unittest.TestCase):
    def test_add_and_remove(self):
        sim = scene()
        sim.step(3)
        before = sim.ledger()
        with sim.edit() as edit:
            number = edit.body(TWO + [0, 0.3, 0], tets=TETS, material=MATERIAL, name="two")
            edit.fix(number, [0])
            edit.force("constant", bodies=[0], force=[1, 0, 0], name="push")
        now = sim.ledger()
        self.assertAlmostEqual(now.added - before.added, now.total - before.total, delta=1e-12)
        self.assertEqual(sim.bodies, ["one", "two"])
        sim.step(5)
        with sim.edit() as edit:
            edit.remove_body("one")
            edit.unfix(1, [0])
        self.assertEqual((sim.bodies, number), (["", "two"], 1))
        self.assertEqual(sim.vertices(0), 0)
        sim.step(5)
        with sim.edit() as edit:
            self.assertEqual(edit.body(TWO + [2, 0.3, 0], tets=TETS, material=MATERIAL), 0)

    def test_names_of_bodies_without_one(self):
        build = brio.Builder()
        for name in ("body1", None, None):
            build.body(TWO, tets=TETS, material=MATERIAL, name=name)
        sim = build.sim(h=0.01)
        self.assertEqual(sim.bodies, ["body1", "body2", "body3"])
        with sim.edit() as edit:
            edit.remove_body(0)
            numbers = [edit.body(TWO, tets=TETS, material=MATERIAL) for _ in range(3)]
        self.assertEqual(numbers, [0, 3, 4])
        self.assertEqual(len(set(sim.bodies)), 5)

    def test_numbers_of_obstacles(self):
        """A new one takes the number of one that was removed; all calls take these numbers."""
        build = brio.Builder()
        build.contact(dhat=2e-3, mu=0.1)
        build.body(TWO + [0, 0.02, 0], tets=TETS, material=MATERIAL, name="one")
        planes = [build.plane([0, -1 - i, 0], [0, 1, 0], name=f"p{i}") for i in range(3)]
        self.assertEqual(planes, [-1, -2, -3])
        sim = build.sim(h=0.01)
        with sim.edit() as edit:
            edit.remove_obstacle("p1")
        with sim.edit() as edit:
            edit.remove_obstacle(planes[2])
            one = edit.obstacle(PLATE, triangles=[[0, 2, 1], [0, 3, 2]], name="plate")
            two = edit.plane([0, -5, 0], [0, 1, 0], name="two")
            three = edit.plane([0, -6, 0], [0, 1, 0], name="three")
            four = edit.plane([0, -7, 0], [0, 1, 0], name="four")
            edit.exclude(0, one)
            edit.remove_obstacle(four)
        self.assertEqual((one, two, three, four), (-2, -3, -4, -5))
        self.assertEqual(sim.obstacles[:4], ["p0", "plate", "two", "three"])
        np.testing.assert_array_equal(sim.obstacle_positions(one), PLATE)
        sim.step(20)
        self.assertLess(sim.positions("one")[:, 1].min(), 0)  # it falls through the plate
        with self.assertRaisesRegex(brio.Error, "there is no obstacle -6"):
            sim.obstacle_positions(-6)

    def test_interrupted(self):
        """Ctrl-C while the library works is raised when it has returned: the edit is made."""

        def interrupted(function, *arguments):
            original(function, *arguments)
            raise KeyboardInterrupt

        sim, calls, original = scene(), [], brio._callbacks.call
        state = sim.snapshot()
        edit = sim.edit()
        edit.body(TWO + [0, 0.3, 0], tets=TETS, material=MATERIAL, name="two")
        edit.force("function", function=lambda x, v, t: calls.append(t) or np.zeros(x.shape))
        with mock.patch.object(brio._callbacks, "call", interrupted):
            with self.assertRaises(KeyboardInterrupt):
                edit.commit()
        del edit
        gc.collect()
        self.assertEqual(sim.bodies, ["one", "two"])
        self.assertEqual(sim.positions("two").shape, TWO.shape)
        with self.assertRaisesRegex(brio.Error, "before an edit"):
            sim.restore(state)
        sim.step(2)
        self.assertGreater(len(calls), 0)
        with mock.patch.object(brio._callbacks, "call", interrupted):
            with self.assertRaises(KeyboardInterrupt):
                sim.move_obstacle("plate", PLATE)  # makes the simulation again
        sim.step()
        self.assertEqual(len(sim.triangles("two")), 6)

    def test_refused_or_left(self):
        sim = scene()
        q = sim.q.copy()
        with self.assertRaisesRegex(brio.Error, "the edit was not made"):
            with sim.edit() as edit:
                edit.body(TWO + [0.01, 0.03, 0.01], tets=TETS, material=MATERIAL)
        with self.assertRaises(KeyError):
            with sim.edit() as edit:
                edit.remove_obstacle("plate")
                raise KeyError
        self.assertEqual(sim.obstacles, ["plate"])
        self.assertTrue((sim.q == q).all())
        view = sim.triangles()
        with self.assertRaisesRegex(brio.Error, "arrays look into"):
            with sim.edit() as edit:
                edit.fix(0, [1])
        del view
        state = sim.snapshot()
        with sim.edit() as edit:
            edit.fix(0, [1])
        with self.assertRaisesRegex(brio.Error, "before an edit"):
            sim.restore(state)

    def test_cut(self):
        sim = scene()
        with sim.edit() as edit:
            self.assertEqual(edit.cut(0, sim.positions().mean(axis=0), [1, 1, 1]), 1)
        self.assertEqual(sim.vertices(0), 8)
        sim.step(10)

    def test_moving_and_contacts(self):
        sim = scene()
        sim.note_contacts()
        seen = set()
        for i in range(1, 21):
            sim.move_obstacle("plate", PLATE + [0, 0.02 * i, 0])
            sim.step()
            for contact in sim.contacts():
                self.assertEqual((contact.bodies, contact.obstacle), (("one",), "plate"))
                self.assertGreater(contact.impulse[1], 0)
                seen.add(contact.change)
        self.assertIn("begins", seen)
        self.assertTrue((sim.obstacle_positions("plate")[:, 1] == 0.4).all())
        self.assertGreater(sim.positions()[:, 1].min(), 0.4)

    def test_draw(self):
        sim = scene()
        sim.step(2)
        x, normal = sim.draw(dtype=np.float64)
        self.assertTrue((x == sim.positions()).all())
        self.assertTrue(np.allclose(np.linalg.norm(normal, axis=1), 1))
        arrays = np.empty((5, 3), np.float32), np.empty((5, 3), np.float32)
        single = sim.draw(out=arrays)
        self.assertIs(single[0], arrays[0])
        self.assertTrue((single[0] == x.astype(np.float32)).all())

    def test_resume(self):
        sim = scene()
        with sim.edit() as edit:
            edit.body(TWO + [0, 0.3, 0], tets=TETS, material=MATERIAL, name="two")
        sim.step(3)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "checkpoint")
            sim.save(file)
            sim.step(5)
            other = scene()
            other.resume(file)
            self.assertEqual(other.bodies, ["one", "two"])
            other.step(5)
        self.assertTrue((other.q == sim.q).all())


if __name__ == "__main__":
    unittest.main()
