"""The add-on for Blender, as far as it needs no Blender: scene files, process, frames, messages."""
import importlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import urllib.parse

import numpy as np

root = os.environ.get("BRIO_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
program = os.environ.get("BRIO_PROGRAM") or os.path.join(root, "build", "brio")
sys.path.insert(0, os.path.join(root, "integrations", "blender"))

import brio_blender  # noqa: E402
from brio_blender.core import cache, messages, pc2, presets, process, scene, space  # noqa: E402


def ball(rings=10, sides=16, radius=0.3, centre=(0, 1, 0)):
    """A closed surface."""
    points = [(0, radius, 0)]
    for j in range(1, rings):
        for i in range(sides):
            up, turn = np.pi * j / rings, 2 * np.pi * i / sides
            points.append((radius * np.sin(up) * np.cos(turn), radius * np.cos(up),
                           radius * np.sin(up) * np.sin(turn)))
    points.append((0, -radius, 0))
    last, triangles = len(points) - 1, []
    for i in range(sides):
        k = (i + 1) % sides
        triangles += [(0, 1 + k, 1 + i), (last - sides + i, last - sides + k, last)]
        for j in range(rings - 2):
            a, b = 1 + j * sides + i, 1 + j * sides + k
            triangles += [(a, b, b + sides), (a, b + sides, a + sides)]
    return np.array(points) + centre, np.array(triangles)


def sheet(cells=8, size=0.6, height=1.0):
    row = cells + 1
    at = np.arange(row) / cells * size - size / 2
    points = np.array([(x, height, z) for z in at for x in at])
    triangles = []
    for j in range(cells):
        for i in range(cells):
            a = j * row + i
            triangles += [(a, a + row, a + row + 1), (a, a + row + 1, a + 1)]
    return points, np.array(triangles)


def soft(name="Soft", **changes):
    points, triangles = ball()
    return scene.Body(name, scene.SOFT, points, triangles, {"type": "silicone"}, cells=4,
                      density=1070, **changes)


def cloth(name="Cloth", **changes):
    points, triangles = sheet()
    return scene.Body(name, scene.CLOTH, points, triangles, {"type": "cotton"}, density=0.12,
                      **changes)


class Case(unittest.TestCase):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.folder = self.kept.name
        self.addCleanup(self.kept.cleanup)

    def settings(self, **changes):
        return scene.Settings(**{"frames": 6, "quality": "preview", **changes})

    def bake(self, bodies, settings=None, **more):
        """A bake to its end: the cache."""
        work = cache.Cache(os.path.join(self.folder, "cache"))
        folder = work.begin(1, (settings or self.settings()).frames)
        path = scene.write(folder, settings or self.settings(), bodies, **more)
        work.set_bodies([(body.name, len(body.points), [space.to_brio(np.eye(4))])
                         for body in bodies])
        return work, self.run_on(work, path)

    def run_on(self, work, path, **how):
        work.open()
        run = process.Run(program, path, work.results(), threads=1, **how)
        while run.running:
            work.poll()
            time.sleep(0.01)
        run.wait()
        while work.poll():
            pass
        return run


class Space(unittest.TestCase):
    def test_z_is_up(self):
        """Up stays up, left stays left, and the way back is the way there."""
        np.testing.assert_allclose(space.vector([0, 0, 1]), [0, 1, 0])
        np.testing.assert_allclose(space.vector([1, 0, 0]), [1, 0, 0])
        self.assertAlmostEqual(np.linalg.det(space.TURN), 1)

    def test_there_and_back(self):
        world = np.array([[0.5, 0.2, 0, 3], [-0.1, 2, 0.3, -1], [0, 0.4, 1.5, 2], [0, 0, 0, 1]])
        points = np.random.default_rng(1).normal(size=(20, 3))
        matrix = space.to_brio(world, 0.01)
        there = space.apply(matrix, points)
        np.testing.assert_allclose(there[0], 0.01 * (space.TURN @ (world[:3, :3] @ points[0] +
                                                                   world[:3, 3])))
        np.testing.assert_allclose(space.apply(space.invert(matrix), there), points, atol=1e-12)

    def test_flat(self):
        with self.assertRaisesRegex(ValueError, "scale is zero"):
            space.invert(space.to_brio(np.diag([1, 0, 1, 1])))


class PointCache(Case):
    def test_grows(self):
        """A reader sees whole frames only, at any moment."""
        path = os.path.join(self.folder, "a.pc2")
        writer = pc2.Writer(path, 2)
        self.assertEqual(pc2.info(path), (2, 0))
        for k in range(3):
            writer.append(np.full((2, 3), float(k)))
            self.assertEqual(pc2.info(path), (2, k + 1))
            self.assertEqual(os.path.getsize(path), 32 + 24 * (k + 1))
        writer.close()
        with open(path, "rb") as file:
            self.assertEqual(struct.unpack("<12siiffi", file.read(32)),
                             (b"POINTCACHE2\0", 1, 2, 0.0, 1.0, 3))
        np.testing.assert_array_equal(pc2.read(path, 2), np.full((2, 3), 2))

    def test_goes_on(self):
        path = os.path.join(self.folder, "a.pc2")
        writer = pc2.Writer(path, 1)
        for k in range(5):
            writer.append([[k, k, k]])
        writer.close()
        writer = pc2.Writer(path, 1, 2)
        self.assertEqual(pc2.info(path), (1, 2))
        writer.append([[9, 9, 9]])
        writer.close()
        self.assertEqual(os.path.getsize(path), 32 + 12 * 3)
        self.assertEqual([float(pc2.read(path, k)[0, 0]) for k in range(3)], [0, 1, 9])
        with self.assertRaises(ValueError):
            pc2.Writer(path, 2, 1)
        with self.assertRaises(IndexError):
            pc2.read(path, 3)

    def test_what_stands_still_needs_no_file(self):
        for moved, wanted in ((0.0, None), (1e-8, None), (0.01, "m.pc2")):
            motion = pc2.Motion(os.path.join(self.folder, "m.pc2"), 1)
            motion.append(np.array([[1.0, 2, 3]]))
            motion.append(np.array([[1.0 + moved, 2, 3]]))
            self.assertEqual(motion.close(), wanted)
            self.assertEqual(os.path.exists(os.path.join(self.folder, "m.pc2")), bool(wanted))


class Presets(unittest.TestCase):
    def test_parse(self):
        _, said, _ = process.run(program, "list", "presets", "--json")
        found = {preset["name"]: preset for preset in presets.parse(said)}
        self.assertEqual(found["silicone"]["values"], {"E": 1e5, "nu": 0.45, "rho": 1070})
        self.assertFalse(found["jelly"]["sheet"])
        self.assertTrue(found["cotton"]["sheet"] and found["paper"]["sheet"])
        for preset in found.values():  # what the add-on takes of each
            self.assertIn("areal" if preset["sheet"] else "rho", preset["values"])
            self.assertNotIn("{", preset["summary"])


class SceneFile(Case):
    def entry(self, body):
        return scene.body_entry(body, "x.obj", 24)

    def test_every_role_is_accepted(self):
        """All roles, colliders, floors and pins in one scene: the program takes it."""
        vertices = [0, 1, 2]
        pins = scene.split_pins(vertices, [1, 0.5, 0])
        points, triangles = ball(centre=(2, 1, 0))
        bodies = [soft(pins=list(pins)), cloth(pins=list(pins)),
                  scene.Body("Net", scene.SPRINGS, sheet()[0] + [4, 0, 0], sheet()[1],
                             {"type": "hooke", "k": 50, "vertex_mass": 0.01}),
                  scene.Body("Stone", scene.RIGID, points, triangles,
                             {"type": "affine", "E": 1e7, "rho": 1000}, pins=list(pins))]
        bodies[1].points = bodies[1].points + [0, 1, 0]
        wall = scene.Collider("Wall", *ball(centre=(6, 1, 0)))
        path = scene.write(self.folder, self.settings(wind=[1, 0, 0], distance=1e-3), bodies,
                           [wall], [scene.Floor("Floor", [0, -1, 0], [0, 1, 0])])
        code, said, complaint = process.run(program, "check", path, "--json", cwd=self.folder)
        self.assertEqual(code, 0, complaint + said)
        self.assertEqual(json.loads(said)["settings"]["dhat"], 1e-3)

    def test_pins(self):
        full, partial = scene.split_pins([3, 4, 5, 6], [1, 0.25, 0, 1])
        self.assertEqual((full.vertices.tolist(), partial.vertices.tolist()), ([3, 6], [4]))
        entry = self.entry(cloth(pins=[full, partial]))
        self.assertEqual(entry["fix"], [{"vertices": [3, 6]}])
        self.assertEqual(entry["attach"][0]["weights"], [0.25])
        full.motion = "pins.pc2"
        self.assertEqual(self.entry(cloth(pins=[full]))["fix"][0]["sequence"], "pins.pc2")
        moved = self.entry(soft(pins=[full]))  # a cage follows frames by springs
        self.assertNotIn("fix", moved)
        self.assertEqual(moved["attach"][0]["sequence"], "pins.pc2")
        self.assertEqual(scene.split_pins([1], [0]), [])

    def test_self_contact(self):
        """A body that intersects itself is baked without it, and refused with it."""
        points, triangles = ball(centre=(0, 1, 0))
        more, others = ball(centre=(0.35, 1, 0), radius=0.1)
        head = soft(self_contact=False)
        head.points = np.vstack([points, more])
        head.triangles = np.vstack([triangles, others + len(points)])
        for self_contact in (True, False):
            head.self_contact = self_contact
            path = scene.write(self.folder, self.settings(), [head])
            code, _, _ = process.run(program, "check", path, "--json", cwd=self.folder)
            self.assertEqual(code, 1 if self_contact else 0)

    def test_stiffness_of_pins_carries_the_body(self):
        body = soft(pins=scene.split_pins(range(10), [1] * 10))
        self.assertAlmostEqual(scene.mass_of(body), 1070 * 4 / 3 * np.pi * 0.3 ** 3, delta=10)
        k = scene.pin_stiffness(body, body.pins[0])
        self.assertAlmostEqual(scene.mass_of(body) * 9.81 / (10 * k), 0.6 / 1000, delta=1e-6)
        body.pins[0].stiffness = 7
        self.assertEqual(scene.pin_stiffness(body, body.pins[0]), 7)

    def test_ground_is_below_all(self):
        body = soft()
        floor = scene.Floor("f", [0, -2, 0], [0, 1, 0])
        low = scene.ground(self.settings(), [body], floors=[floor])
        self.assertAlmostEqual(low, -2 * 9.81 * scene.mass_of(body), delta=0.01)
        self.assertEqual(scene.ground(self.settings(gravity=[0, 0, 0]), [body]), 0)

    def test_names_of_all_sorts(self):
        body = cloth('Tücher "rot": [1]')
        path = scene.write(self.folder, self.settings(), [body])
        code, _, complaint = process.run(program, "check", path, "--json", cwd=self.folder)
        self.assertEqual(code, 0, complaint)
        self.assertNotEqual(cache.file_name("a b"), cache.file_name("a_b"))
        self.assertEqual(cache.file_name("Cube.001"), "Cube.001.pc2")


class Messages(Case):
    def said(self, bodies, settings=None, **more):
        _, run = self.bake(bodies, settings, **more)
        self.assertNotEqual(run.process.returncode, 0)
        names = [body.name for body in bodies], [c.name for c in more.get("colliders", [])]
        return messages.parse_all(run.errors, *names)

    def test_material(self):
        wrong = cloth()
        wrong.material = {"type": "jelly"}
        found = [m for m in self.said([soft(), wrong]) if not m.warning]
        self.assertEqual(found[0].objects, ["Cloth"])
        self.assertTrue(found[0].text.startswith("material neo-hookean is for bodies of kind"),
                        found[0].text)

    def test_intersection(self):
        collider = scene.Collider("Wall", *ball(centre=(0.1, 1, 0)))
        found = self.said([soft()], colliders=[collider])
        self.assertEqual(found[-1].objects, ["Soft", "Wall"])
        self.assertRegex(found[-1].text, r"^edge \(.* in the initial state, one of \d+ "
                         "intersections; move the objects apart, or choose Untangle at the start$")

    def test_lines(self):
        names = ["a", "b"], ["wall"]
        for line, objects, text, warning in (
                ('x/scene.yaml:3:1: obstacles[0].mesh: gone', ["wall"], "gone", False),
                ('scene.yaml:3:1: obstacles[0]: vertex 2 of body "a" is behind it', ["wall", "a"],
                 'vertex 2 of body "a" is behind it', False),
                ('scene.yaml:3:1: time.h: bad', [], "bad", False),
                ('warning: body "b" is small', ["b"], 'body "b" is small', True),
                ("brio run: out of memory", [], "out of memory", False)):
            found = messages.parse(line, *names)
            self.assertEqual((found.objects, found.text, found.warning), (objects, text, warning))
        for line in ("", " 12 %  t = 0.1 of 1 s", "step 3 of 9, 2 s: iteration 4"):
            self.assertIsNone(messages.parse(line, *names))


class Bakes(Case):
    def test_frames_are_those_of_the_run(self):
        """The caches hold the doubles of the run, in the object's own coordinates."""
        world = np.array([[0, -1, 0, 2], [1, 0, 0, 1], [0, 0, 2, 0.5], [0, 0, 0, 1.0]])
        matrix = space.to_brio(world, 0.5)
        body = soft()
        work = cache.Cache(os.path.join(self.folder, "cache"))
        folder = work.begin(1, 6)
        path = scene.write(folder, self.settings(), [body])
        work.set_bodies([("Soft", len(body.points), [matrix])])
        run = self.run_on(work, path)
        self.assertEqual((run.process.returncode, work.read), (0, 7), run.errors)
        self.assertEqual(run.summary["verdict"], "completed")
        self.assertEqual(run.fraction(), 1)
        worst = 0.0
        for frame in range(7):
            rows = np.load(work.frame_path(frame))
            local = pc2.read(os.path.join(work.folder, "Soft.pc2"), frame)
            worst = max(worst, abs(space.apply(matrix, local.astype(float)) - rows[:, :3]).max())
        self.assertLess(worst, 1e-6)  # single precision
        self.assertGreater(abs(rows[:, 4]).max(), 1)  # velocities: it falls
        work.finish("baked")
        self.assertEqual(os.listdir(os.path.join(work.results(), "frames")), [])
        self.assertEqual(cache.Cache.load(work.folder).read, 7)
        work.clear()
        self.assertFalse(os.path.exists(work.folder))

    def test_from_a_frame(self):
        """A run from a kept state begins with its positions, and frames go on after those kept."""
        body = cloth(pins=scene.split_pins([0, 8], [1, 1]))
        work, run = self.bake([body])
        before = [pc2.read(os.path.join(work.folder, "Cloth.pc2"), k).copy() for k in range(7)]
        work.finish("baked")
        self.assertEqual(work.checkpoint(4), (4, os.path.join(work.results(), "checkpoints",
                                                              "000004")))
        number, state = work.checkpoint(3)
        folder = work.begin(1, 6, number, state)
        self.assertEqual(work.read, 3)
        path = scene.write(folder, self.settings(gravity=[0, 5, 0]), [body])
        run = self.run_on(work, path, start=work.start_file())
        self.assertEqual((run.process.returncode, work.read), (0, 7), run.errors)
        after = [pc2.read(os.path.join(work.folder, "Cloth.pc2"), k) for k in range(7)]
        for k in range(4):
            np.testing.assert_array_equal(after[k], before[k])
        self.assertGreater((after[6] - before[6])[:, 2].max(), 0.01)  # Blender's z is up
        work.finish("baked")
        # once more with nothing changed: the same bits, from a run that itself began at a frame
        number, state = work.checkpoint(5)
        folder = work.begin(1, 6, number, state)
        path = scene.write(folder, self.settings(gravity=[0, 5, 0]), [body])
        run = self.run_on(work, path, start=work.start_file())
        self.assertEqual((run.process.returncode, work.read), (0, 7), run.errors)
        for k in range(7):
            np.testing.assert_array_equal(
                pc2.read(os.path.join(work.folder, "Cloth.pc2"), k), after[k])
        work.finish("baked")
        # and again from before that
        number, state = work.checkpoint(2)
        self.assertEqual(number, 2)
        work.begin(1, 6, number, state)
        self.assertEqual([r["start"] for r in work.data["runs"]], [0, 2])

    def test_refused_bake_keeps_the_old_one(self):
        """A bake that never gets a frame of its own leaves the one before as it was, bytes and
        all: started again, started from a frame, and after a crash in between."""
        body = cloth(pins=scene.split_pins([0, 8], [1, 1]))
        work, _ = self.bake([body])
        work.finish("baked")

        def files():
            found = {}
            for folder, _, names in os.walk(work.folder):
                for name in names:
                    with open(os.path.join(folder, name), "rb") as file:
                        found[os.path.relpath(os.path.join(folder, name), work.folder)] = file.read()
            return found

        before = files()
        for frame in (0, 3):
            for crash in (False, True):
                state = work.checkpoint(frame)[1] if frame else None
                folder = work.begin(1, 6, frame, state)
                path = scene.write(folder, self.settings(gravity=["up", 0, 0]), [body])
                if not frame:
                    self.assertFalse(os.path.exists(os.path.join(work.folder, "Cloth.pc2")))
                work.set_bodies([("Cloth", len(body.points), [np.eye(4)])])
                work.save()
                run = self.run_on(work, path, start=work.start_file())
                self.assertNotEqual(run.process.returncode, 0)
                self.assertFalse(work.advanced)
                if crash:
                    work.close()
                    work = cache.Cache.load(work.folder)
                self.assertTrue(work.restore())
                self.assertEqual((work.data["state"], work.read), ("baked", 7))
                self.assertEqual(files(), before)
        self.assertFalse(work.restore())
        # One with frames replaces it.
        path = scene.write(work.begin(1, 6), self.settings(gravity=[0, 5, 0]), [body])
        work.set_bodies([("Cloth", len(body.points), [np.eye(4)])])
        self.run_on(work, path)
        self.assertFalse(os.path.exists(os.path.join(work.folder, cache.BEFORE)))
        self.assertFalse(work.restore())

    def test_from_a_frame_with_other_bodies(self):
        """It says so, and the bake stays as it was."""
        flag = cloth("Flag")
        flag.points = flag.points + [0, 1, 0]
        work, _ = self.bake([cloth(), flag])
        work.finish("baked")
        counts = [(body.name, len(body.points)) for body in (cloth(), flag)]
        for now, words in ((counts[:1], r"\(Flag\): press Bake"),
                           (counts + [("New", 8)], r"\(New\): press Bake"),
                           ([("Cloth", 5), counts[1]], r"\(Cloth\): press Bake"),
                           (counts[::-1], "this bake: press Bake")):
            work.begin(1, 6, *work.checkpoint(3))
            with self.assertRaisesRegex(ValueError, words):
                work.set_bodies([(name, count, [np.eye(4)]) for name, count in now])
                work.open()
            self.assertTrue(work.restore())
            self.assertEqual((work.data["state"], work.read), ("baked", 7))
        work.begin(1, 6)
        work.set_bodies([("New", 8, [np.eye(4)])])

    def test_cancel_and_resume(self):
        """Cancelled, it ends with a checkpoint; the rest leads to the same bits."""
        long = self.settings(frames=40, quality="film")
        work, run = self.bake([soft()], long)
        whole = pc2.read(os.path.join(work.folder, "Soft.pc2"), 40).copy()
        folder = work.begin(1, 40)
        path = scene.write(folder, long, [soft()])
        work.set_bodies([("Soft", len(soft().points), [space.to_brio(np.eye(4))])])
        work.open()
        run = process.Run(program, path, work.results(), threads=1)
        while run.running and work.read < 1:
            work.poll()
            time.sleep(0.001)
        print("cancelled after %.2f s" % run.cancel(patience=60))
        self.assertFalse(run.running)
        while work.poll():
            pass
        self.assertEqual(run.summary["verdict"], "stopped")
        self.assertLess(work.read, 41)
        work.finish("part")
        work = cache.Cache.load(work.folder)
        run = self.run_on(work, path, resume=True)
        self.assertEqual((run.process.returncode, work.read), (0, 41), run.errors)
        np.testing.assert_array_equal(pc2.read(os.path.join(work.folder, "Soft.pc2"), 40), whole)

    def test_after_a_crash(self):
        """A bake that nobody ended: what it says of itself is of its start, and it goes on."""
        body = cloth()
        work = cache.Cache(os.path.join(self.folder, "cache"))
        path = scene.write(work.begin(1, 6), self.settings(), [body])
        work.set_bodies([("Cloth", len(body.points), [np.eye(4)])])
        work.save()
        self.run_on(work, path)
        whole = pc2.read(os.path.join(work.folder, "Cloth.pc2"), 6).copy()
        work.close()
        work = cache.Cache.load(work.folder)
        self.assertEqual((work.data["state"], work.read), ("begun", 0))
        run = self.run_on(work, path, resume=True)
        self.assertEqual((run.process.returncode, work.read), (0, 7), run.errors)
        np.testing.assert_array_equal(pc2.read(os.path.join(work.folder, "Cloth.pc2"), 6), whole)

    def test_nobody_listens(self):
        """Blender is gone: the run ends by itself, with a checkpoint."""
        path = scene.write(self.folder, self.settings(frames=100000), [soft()])
        run = subprocess.Popen([program, "run", path, "-o", "out", "--json-lines", "-j", "1"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.folder)
        run.stdout.readline()
        run.stdout.close()
        self.assertEqual(run.wait(), 1)
        with open(os.path.join(self.folder, "out", "run.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["verdict"], "stopped")

    def test_moving_collider_and_pins(self):
        """Sequences that the sampler writes are what the program follows."""
        body = cloth(pins=scene.split_pins([0, 8], [1, 1]))
        work = cache.Cache(os.path.join(self.folder, "cache"))
        folder = work.begin(1, 6)
        motion = pc2.Motion(os.path.join(folder, "pins0-0.pc2"), 2)
        for k in range(7):
            motion.append(body.points[[0, 8]] + [0.05 * k, 0, 0])
        body.pins[0].motion = motion.close()
        path = scene.write(folder, self.settings(), [body])
        work.set_bodies([("Cloth", len(body.points), [np.eye(4)])])
        run = self.run_on(work, path)
        self.assertEqual(run.process.returncode, 0, run.errors)
        last = pc2.read(os.path.join(work.folder, "Cloth.pc2"), 6)
        np.testing.assert_allclose(last[[0, 8]], body.points[[0, 8]] + [0.3, 0, 0], atol=1e-6)


class Program(Case):
    def test_takes_too_long(self):
        path = scene.write(self.folder, self.settings(frames=100000), [soft()])
        with self.assertRaisesRegex(OSError, "brio run took more than 0.2 s"):
            process.run(program, "run", path, "-o", "out", cwd=self.folder, seconds=0.2)

    def test_found(self):
        self.assertEqual(process.find_program(program), program)
        self.assertEqual(process.find_program(os.path.dirname(program)), program)
        path = os.environ["PATH"]
        try:
            os.environ["PATH"] = os.path.dirname(program)
            self.assertEqual(process.find_program(), program)
            near = os.path.relpath(program)
            self.assertEqual(process.find_program(near), program)
            os.environ["PATH"] = os.path.dirname(near) or os.curdir
            self.assertEqual(process.find_program(), program)
            os.environ["PATH"] = ""
            self.assertEqual(process.find_program("", os.path.dirname(program)), program)
            with self.assertRaisesRegex(process.NotFound, "preferences"):
                process.find_program("", self.folder)
            with self.assertRaisesRegex(process.NotFound, "no program"):
                process.find_program(os.path.join(self.folder, "brio"))
        finally:
            os.environ["PATH"] = path


def stand_in():
    """As much of bpy as the add-on's modules need to be imported, and a bake to be started."""
    nothing = types.SimpleNamespace
    bpy = types.ModuleType("bpy")
    bpy.props = types.ModuleType("bpy.props")
    for kind in ("Bool", "Enum", "Float", "FloatVector", "Int", "Pointer", "String"):
        setattr(bpy.props, kind + "Property", lambda **_: None)
    bpy.types = nothing(**{name: type(name, (), {}) for name in (
        "Operator", "Panel", "PropertyGroup", "AddonPreferences")})
    bpy.app = nothing(tempdir=tempfile.gettempdir(), background=False,
                      handlers=nothing(persistent=lambda function: function, load_pre=[]))
    bpy.path = nothing(basename=os.path.basename, abspath=lambda path: path)
    bpy.data = nothing(filepath="", scenes={}, objects={})
    return bpy


class AddOn(Case):
    """The modules that talk to Blender, where it does not matter what it answers."""

    def setUp(self):
        super().setUp()
        self.bpy = stand_in()
        modules = {"bpy": self.bpy, "bpy.props": self.bpy.props}
        for patch in (unittest.mock.patch.dict(sys.modules, modules),
                      unittest.mock.patch.dict(vars(brio_blender))):
            patch.start()
            self.addCleanup(patch.stop)  # forgets the modules that were imported meanwhile
        self.job, self.operators, self.sample = (
            importlib.import_module("brio_blender." + name)
            for name in ("job", "operators", "sample"))
        self.scene = types.SimpleNamespace(
            name="Scene", objects={}, brio=types.SimpleNamespace(
                folder=os.path.join(self.folder, "cache"), error="", warning="", status="",
                progress=0))
        self.bpy.data.scenes["Scene"] = self.scene
        self.event, self.removed = types.SimpleNamespace(type="TIMER"), []
        self.context = types.SimpleNamespace(
            scene=self.scene, object=None, window=None,
            window_manager=types.SimpleNamespace(windows=[],
                                                 event_timer_remove=self.removed.append))

    def begin(self, pieces):
        with unittest.mock.patch.object(self.job.Job, "_bake", lambda *_: pieces):
            return self.job.start(self.context, "BAKE")

    def test_a_bake_ends_with_any_exception(self):
        """Otherwise no other could be started."""
        def pieces():
            yield "piece"
            raise RuntimeError("something of Blender")

        self.begin(pieces())
        operator = self.operators.BRIO_OT_bake()
        operator.report = lambda kind, text: None
        with unittest.mock.patch("traceback.print_exc"):
            self.assertEqual(operator.modal(self.context, self.event), {"CANCELLED"})
        self.assertFalse(self.job.is_running())
        self.assertEqual(len(self.removed), 1)  # the timer
        self.assertIn("RuntimeError: something of Blender", self.scene.brio.error)

    def test_report_in_a_folder_of_any_name(self):
        self.scene.brio.folder = os.path.join(self.folder, "50 % #2 ü")
        work = self.job.cache_of(self.scene)
        report = os.path.join(work.begin(1, 6), "out", "report.html")
        work.save()
        with unittest.mock.patch("webbrowser.open") as opened:
            self.operators.BRIO_OT_open_report().execute(self.context)
        url = urllib.parse.urlsplit(opened.call_args[0][0])
        self.assertEqual(urllib.parse.unquote(url.path), report)

    def test_another_scene_while_frames_are_looked_at(self):
        """Its objects do not follow the frames of the first."""
        flag = types.SimpleNamespace(name="Flag", type="MESH", visible_get=lambda **_: True,
                                     brio=types.SimpleNamespace(role="CLOTH"))
        scene_of = types.SimpleNamespace(objects=[flag], unit_settings=types.SimpleNamespace(
            scale_length=1.0))
        context = types.SimpleNamespace(scene=scene_of, view_layer=None,
                                        evaluated_depsgraph_get=lambda: None)
        sampler = self.sample.Sampler(context, self.folder)
        sampler.frame()
        context.scene = self.scene
        with self.assertRaisesRegex(self.sample.Refused, "another scene"):
            sampler.frame()

    def test_what_may_move(self):
        """All frames are looked at where the place of an object may change."""
        def thing(**given):
            return types.SimpleNamespace(**{"parent": None, "animation_data": None,
                                            "constraints": [], "rigid_body": None, **given})

        rig = thing()  # its bones follow others by constraints
        self.assertFalse(self.sample._may_move(thing()))
        for given in ({"parent": rig}, {"animation_data": 1}, {"constraints": [1]},
                      {"rigid_body": 1}):
            self.assertTrue(self.sample._may_move(thing(**given)), given)

    def test_scene_renamed_during_the_bake(self):
        for problem, ends in ((None, {"FINISHED"}), (OSError("no room"), {"CANCELLED"})):
            def pieces(problem=problem):
                yield "wait"
                yield "wait"
                if problem:
                    raise problem

            self.bpy.data.scenes["Scene"] = self.scene
            self.begin(pieces())
            operator = self.operators.BRIO_OT_bake()
            operator.report = lambda kind, text: None
            self.assertEqual(operator.modal(self.context, self.event), {"PASS_THROUGH"})
            del self.bpy.data.scenes["Scene"]
            self.assertEqual(operator.modal(self.context, self.event), {"PASS_THROUGH"})
            self.assertEqual(operator.modal(self.context, self.event), ends)
            self.assertFalse(self.job.is_running())


if __name__ == "__main__":
    unittest.main()
