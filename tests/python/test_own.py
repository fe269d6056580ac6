"""Energies and integrators in Python: they equal the built-in ones, and their exceptions come
out."""
import os
import signal
import tempfile
import threading
import unittest
from unittest import mock

import brio
import numpy as np


def hooke(e):
    """Springs, E = k w/2 (l - l0)^2."""
    d = e.x[:, 1] - e.x[:, 0]
    length = np.sqrt(np.einsum("ij,ij->i", d, d))
    c, stretch = e.values["k"] * e.weight, length - e.size
    n = d / length[:, None]
    pull = (c * stretch)[:, None] * n
    across = c * stretch / length
    K = (
        across[:, None, None] * np.eye(3)
        + (c - across)[:, None, None] * n[:, :, None] * n[:, None, :]
    )
    return c / 2 * stretch**2, np.stack([-pull, pull], axis=1), np.block([[K, -K], [-K, K]])


def stvk(e):
    """E = V (lambda/2 tr(G)^2 + mu G:G), G = (F^T F - I)/2, by its derivatives in F."""
    mu, lam = e.values["mu"], e.values["lambda"]
    Dm = np.moveaxis(e.rest[:, 1:] - e.rest[:, :1], 1, 2)
    B = np.linalg.inv(Dm)
    F = np.moveaxis(e.x[:, 1:] - e.x[:, :1], 1, 2) @ B
    G = (np.moveaxis(F, 1, 2) @ F - np.eye(3)) / 2
    trace = np.trace(G, axis1=1, axis2=2)
    V = e.size
    S = 2 * mu * G + lam * trace[:, None, None] * np.eye(3)
    E = V * (lam / 2 * trace**2 + mu * np.einsum("nij,nij->n", G, G))
    shape = np.concatenate([-B.sum(axis=1)[:, None], B], axis=1)  # F_ij = sum_k x_k,i shape_k,j
    g = V[:, None, None] * np.einsum("nij,nkj->nki", F @ S, shape)
    if e.order < 2:
        return E, g
    I = np.eye(3)
    # dP_ij/dF_ab with P = F S
    FF = F @ np.moveaxis(F, 1, 2)
    C = (
        np.einsum("ia,nbj->nijab", I, S)
        + lam * np.einsum("nij,nab->nijab", F, F)
        + mu * (np.einsum("nib,naj->nijab", F, F) + np.einsum("nia,bj->nijab", FF, I))
    )
    H = V[:, None, None, None, None] * np.einsum("nijab,nkj,nlb->nkila", C, shape, shape)
    return E, g, H.reshape(e.count, 12, 12)


brio.energy("python-hooke", fields={"k": brio.Field(1000, "N/m", 0, 1e15, "Stiffness.")})(hooke)
brio.energy("python-stvk", kind="solid", fields={"mu": 1e5, "lambda": 1e5})(stvk)


@brio.integrator(
    "python-euler",
    order=1,
    traits=brio.Trait.IMPLICIT
    | brio.Trait.KEEPS_LINEAR_MOMENTUM
    | brio.Trait.DISSIPATIVE
    | brio.Trait.END_IS_SOLVED,
)
def euler(s, h):
    """Backward Euler."""
    q, v = s.q, s.v
    next_q = s.minimise(q + h * v, s=h * h, time=s.time + h, h=h)
    s.accept(h, next_q, 1 / h * next_q + -1 / h * q)


@brio.integrator("python-bdf2", order=2, history=2, traits=brio.Trait.IMPLICIT)
def bdf2(s, h):
    """BDF2 for steps of one length, begun by backward Euler."""
    q, v = s.q, s.v
    if s.history_used == 0:
        new = s.minimise(q + h * v, s=h * h, time=s.time + h, h=h)
        velocity = (new - q) / h
    else:
        before, v_before = s.history(0), s.history(1)
        base = (4 * q - before) / 3
        new = s.minimise(
            base + 2 * h / 3 * (4 * v - v_before) / 3, s=4 * h * h / 9, time=s.time + h, h=h
        )
        velocity = 3 / (2 * h) * (new - base)
    s.set_history(0, q)
    s.set_history(1, v)
    s.history_used = 1
    s.accept(h, new, velocity)


class Energies(unittest.TestCase):
    def difference(self, scene, own, steps, sets=None):
        sims = [brio.load(scene, set=change) for change in (sets or {}, {**(sets or {}), **own})]
        most = 0
        for sim in sims:
            sim.step(steps)
        x = [np.concatenate([sim.positions(body) for body in sim.bodies]) for sim in sims]
        most = np.abs(x[0] - x[1]).max()
        energies = [sim.ledger() for sim in sims]
        self.assertLess(
            abs(energies[0].total - energies[1].total),
            1e-9 * (abs(energies[0].kinetic) + abs(energies[0].elastic)),
        )
        return most

    def test_spring_equals_hooke(self):
        # solved to 1e-10 m/s: both minimise the same function, and stop within h tol of its minimum
        sets = {"solver.tol": 1e-10}
        most = self.difference("cloth", {"bodies.0.material.type": "python-hooke"}, 30, sets)
        print(f"cloth of Python's springs: {most:.2g} m apart from hooke after 30 steps")
        self.assertLess(most, 1e-11)

    def test_threads_do_not_matter(self):
        ends = []
        for threads in (1, 2):
            brio.set_threads(threads)
            sim = brio.load(
                "cloth",
                set={
                    "bodies.0.material.type": "python-hooke",
                    "bodies.0.shape.cells_x": 32,
                    "bodies.0.shape.cells_z": 32,
                },
            )
            sim.step(3)
            ends.append(sim.q.tobytes())
        brio.set_threads(0)
        self.assertEqual(*ends)

    def test_solid_equals_stvk(self):
        E, nu = 1e5, 0.3
        mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
        scene = {
            "time": {"h": 0.01},
            "solver": {"tol": 1e-10},
            "bodies": [
                {
                    "name": "bar",
                    "shape": {
                        "type": "bar",
                        "length": 1,
                        "height": 0.2,
                        "width": 0.2,
                        "cells": 5,
                        "across": 2,
                    },
                    "material": {"type": "stvk", "E": E, "nu": nu, "rho": 1000},
                    "fix": [{"box": [[-1, -1, -1], [0, 1, 1]]}],
                }
            ],
        }
        own = {"bodies.0.material": {"type": "python-stvk", "mu": mu, "lambda": lam, "rho": 1000}}
        most = self.difference(scene, own, 15)
        print(f"bar of Python's StVK: {most:.2g} m apart from stvk after 15 steps")
        self.assertLess(most, 1e-10)

    def test_a_run_is_possible(self):
        with tempfile.TemporaryDirectory() as folder:
            result = brio.run(
                "cloth",
                folder + "/out",
                set={
                    "time.end": 0.1,
                    "bodies.0.material.type": "python-hooke",
                    "integrator": "python-euler",
                },
            )
            self.assertTrue(result.completed)

    def test_again_and_wrong(self):
        brio.energy("python-hooke", fields={"k": brio.Field(1000, "N/m", 0, 1e15, "Stiffness.")})(
            hooke
        )  # as a cell that is run again
        with self.assertRaisesRegex(brio.Error, "other properties"):
            brio.energy("python-hooke", fields={"k": 1})(hooke)
        with self.assertRaisesRegex(brio.Error, 'there is an energy "hooke" already'):
            brio.energy("hooke")(hooke)
        with self.assertRaises(ValueError):
            brio.energy("x", kind="liquid")
        self.assertIn("python-hooke", brio.materials())

    def test_old_names_of_fields(self):
        with self.assertWarnsRegex(DeprecationWarning, "least is called min now"):
            old = brio.Field(standard=1.0, unit="m", least=0.0, most=2.0)
        self.assertEqual(old, brio.Field(1.0, "m", 0.0, 2.0))

    def test_exceptions_come_out(self):
        class Mine(Exception):
            pass

        state = {"fail": False}

        @brio.energy("python-fails", fields={"k": 100.0})
        def fails(e):
            if state["fail"]:
                raise Mine("from inside")
            return hooke(e)

        sim = brio.load("cloth", set={"bodies.0.material.type": "python-fails"})
        sim.step()
        before, time = sim.q.copy(), sim.time
        state["fail"] = True
        for call in (sim.step, sim.ledger, lambda: sim.set_positions(sim.positions())):
            with self.assertRaisesRegex(Mine, "from inside"):
                call()
        self.assertEqual((before.tobytes(), time), (sim.q.tobytes(), sim.time))
        with self.assertRaises(Mine):
            brio.load("cloth", set={"bodies.0.material.type": "python-fails"})
        state["fail"] = False
        sim.step()
        sim.ledger()

    def test_wrong_results(self):
        results = {"value": None}
        brio.energy("python-wrong", fields={"k": 100.0})(lambda e: results["value"](e))
        for value, text in (
            (lambda e: np.zeros(3), "energies of shape"),
            (lambda e: (np.zeros(e.count), np.zeros((e.count, 6))), "gradients of shape"),
            (lambda e: np.zeros(e.count), "returned no"),
            (lambda e: None, "returned no energies"),
        ):
            results["value"] = hooke
            sim = brio.load("cloth", set={"bodies.0.material.type": "python-wrong"})
            results["value"] = value
            with self.assertRaisesRegex(ValueError, text):
                sim.step()

    def test_infinite_forbids(self):
        brio.energy("python-infinite", fields={"k": 100.0})(
            lambda e: (np.full(e.count, np.inf),) + hooke(e)[1:]
        )
        with self.assertRaisesRegex(brio.Error, "initial state"):
            brio.load("cloth", set={"bodies.0.material.type": "python-infinite"})

    def test_forbidden_states_are_avoided(self):
        """Chains that no force stretches beyond a tenth: E = -k m^2/2 ln(1 - (l - l0)^2/m^2),
        infinite beyond."""

        @brio.energy("python-chain", fields={"k": 100.0})
        def chain(e):
            d = e.x[:, 1] - e.x[:, 0]
            l = np.linalg.norm(d, axis=1)
            n, m, stretch = d / l[:, None], 0.1 * e.size, l - e.size
            k, left = e.values["k"] * e.weight, 1 - (stretch / m) ** 2
            allowed = left > 0
            left = np.where(allowed, left, 1)
            E = np.where(allowed, -k * m**2 / 2 * np.log(left), np.inf)
            first, second = k * stretch / left, k / left + 2 * k * stretch**2 / (m * left) ** 2
            K = (first / l)[:, None, None] * np.eye(3) + (second - first / l)[:, None, None] * n[
                :, :, None
            ] * n[:, None, :]
            return (
                E,
                np.stack([-first[:, None] * n, first[:, None] * n], axis=1),
                np.block([[K, -K], [-K, K]]),
            )

        sim = brio.load(
            {
                "time": {"h": 1 / 60},
                "gravity": [0, -10, 0],
                "bodies": [
                    {
                        "shape": {"type": "line", "length": 1, "cells": 10},
                        "material": {"type": "python-chain", "k": 1000, "vertex_mass": 0.1},
                        "fix": [{"vertices": [0]}],
                    }
                ],
            }
        )
        most = 0
        for _ in range(40):
            sim.step()
            ends = sim.positions()[sim.edges()]
            most = max(most, np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max())
        print(f"links of 0.1 m that may be stretched to 0.11 m: {most:.6f} m at most")
        self.assertTrue(0.105 < most < 0.11)


class Integrators(unittest.TestCase):
    def test_backward_euler_to_the_bit(self):
        for scene, steps in (("cloth", 30), ("spinning-cube", 20), ("dice", 5)):
            ends = []
            for name in ("backward-euler", "python-euler"):
                sim = brio.load(scene, set={"integrator": name})
                sim.step(steps)
                ends.append((sim.q.tobytes(), sim.v.tobytes(), sim.ledger().total))
            self.assertEqual(*ends)
            print(f"{scene}: the bits of backward-euler after {steps} steps")

    def test_bdf2(self):
        ends = []
        for name in ("bdf2", "python-bdf2"):
            sim = brio.load("cloth", set={"integrator": name, "solver.tol": 1e-11})
            sim.step(20)
            ends.append(sim.q.copy())
        print(f"python-bdf2: {np.abs(ends[0] - ends[1]).max():.2g} m apart from bdf2")
        self.assertLess(np.abs(ends[0] - ends[1]).max(), 1e-12)

    def test_lists_will_do(self):
        @brio.integrator("python-lists")
        def lists(s, h):
            v = (s.v + h * s.mass_solve(list(s.force(list(s.q), list(s.v), s.time, h)))).tolist()
            s.accept(h, (s.q + h * np.array(v)).tolist(), v)

        ends = []
        for name in ("symplectic-euler", "python-lists"):
            sim = brio.load("cloth", set={"integrator": name, "time.h": 1e-4})
            sim.step(20)
            ends.append(sim.q.copy())
        np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-12)

    def test_exceptions_come_out(self):
        @brio.integrator("python-divides")
        def divides(s, h):
            return 1 / 0

        sim = brio.load("cloth", set={"integrator": "python-divides"})
        for _ in range(2):
            with self.assertRaises(ZeroDivisionError):
                sim.step()
        self.assertEqual(sim.time, 0)
        sim.set_integrator("backward-euler")
        sim.step()

    def test_mistakes_of_an_integrator(self):
        kept = {}
        mistakes = {
            "nothing": (lambda s, h: None, brio.Error, "without accepting"),
            "shape": (
                lambda s, h: s.accept(h, s.q[1:], s.v),
                ValueError,
                "expected an array of shape",
            ),
            "nan": (lambda s, h: s.accept(h, s.q * np.nan, s.v), brio.Error, "finite"),
            "rejects": (
                lambda s, h: (_ for _ in ()).throw(brio.Rejected("not today")),
                brio.Error,
                "not today",
            ),
            "inside": (lambda s, h: kept["sim"].step(), brio.Error, "in use|from within"),
            "history": (lambda s, h: s.history(0), brio.Error, "history=1"),
            "keeps": (lambda s, h: kept.update(s=s) or s.accept(h, s.q, s.v), None, ""),
        }
        for name, (function, kind, text) in mistakes.items():
            brio.integrator("python-" + name)(function)
            kept["sim"] = sim = brio.load("cloth", set={"integrator": "python-" + name})
            if kind is None:
                sim.step()
                with self.assertRaisesRegex(brio.Error, "this step is over"):
                    kept["s"].q
                continue
            with self.assertRaisesRegex(kind, text):
                sim.step()

    def test_interrupted(self):
        """Ctrl-C while the library works, which then calls a function of yours."""
        size = {"bodies[0].shape.cells_x": 80, "bodies[0].shape.cells_z": 80, "probes": []}
        push = {"forces": [{"type": "python-nothing"}]}
        brio.force("python-nothing")(lambda x, v, time, values: 0 * x)
        sims = [brio.load("cloth", set=size), brio.load("cloth", set={**size, **push})]
        sims[0].watch(lambda now: None)
        for sim in sims:
            soon = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
            soon.start()
            with self.assertRaises(KeyboardInterrupt):
                sim.step(20)
            soon.join()
            self.assertTrue(np.isfinite(sim.q).all())
            sim.step()

    def test_two_exceptions_of_a_call(self):
        """Ctrl-C after an exception of a function of yours: the next call starts without either."""
        sim, calls, step = brio.load("cloth"), [], brio._library.lib.brio_sim_step

        def look(now):
            calls.append(now)
            if len(calls) == 1:
                raise ZeroDivisionError

        def interrupted(*arguments):
            step(*arguments)
            raise KeyboardInterrupt

        sim.watch(look)
        with mock.patch.object(brio._library.lib, "brio_sim_step", interrupted):
            with self.assertRaises(KeyboardInterrupt):
                sim.step()
        sim.step()
        self.assertGreater(len(calls), 1)

    def test_log_hook(self):
        heard = []
        brio.set_log(lambda level, message: heard.append((level, message)))
        brio.integrator("python-halves")(
            lambda s, h: (
                s.accept(h, s.q, s.v)
                if h < 0.01
                else (_ for _ in ()).throw(brio.Rejected("too long"))
            )
        )
        sim = brio.load("cloth", set={"integrator": "python-halves"})
        sim.step()
        self.assertEqual(heard[0][0], "warning")
        self.assertIn("too long", heard[0][1])

        def fails(level, message):
            raise RuntimeError("hook")

        brio.set_log(fails)
        with self.assertRaisesRegex(RuntimeError, "hook"):
            sim.step()
        brio.set_log(None)
        sim.step()
