#!/usr/bin/env python3
"""The campaign that brio runs against itself: random scenes, damaged inputs, interrupted runs.

    campaign.py BRIO --seconds N [--cases N] [--seed N] [--keep FOLDER] [--shim FILE.so]

A case is a function of its seed. It makes a scene (bodies of every kind, contact, obstacles that
move, forces, integrators, solvers, extreme sizes, exact stacks) and does one of these to it:

    run      an exit code of 0, 1 or 2, with a sentence unless it is 0; never a crash
    threads  the same bytes with 1, 2 and 3 threads
    resume   a run that is killed and continued has the bytes of one that was not
    exact    no accepted state of a run with barriers intersects
    isa      every instruction set runs it
    text     the scene with damaged text is read or refused
    folder   the folder of a run with a damaged file is shown, continued or refused
    memory   a failing allocation, anywhere in the process (with --shim)

A scene that fails is made smaller while it still fails, and kept. The outcome is a table of counts.
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 20  # seconds for one command; what takes longer is ended and counted as slow
INTEGRATORS = [
    "backward-euler",
    "bdf2",
    "a-search",
    "a-1",
    "tr-bdf2",
    "sdirk2",
    "implicit-midpoint",
    "trapezoidal",
    "newmark",
    "generalized-alpha",
    "symplectic-euler",
    "verlet",
    "rk4",
    "linearly-implicit-euler",
    "static",
    "blend",
    "variational",
    "decoupled",
]
ENDS_SOLVED = ["backward-euler", "bdf2", "bdf3", "a-search", "a-1", "tr-bdf2", "sdirk2"]
MATERIALS = ["neo-hookean", "stable-neo-hookean", "corotated", "arap", "stvk", "fixed-corotated"]


def number(rng, low, high):
    """A number with a magnitude between the two, all magnitudes alike."""
    return float("%.4g" % (low * (high / low) ** rng.random()))


def body(rng, size, height, index):
    kind = rng.choice(["solid", "solid", "solid", "affine", "shell", "springs", "points"])
    made = {
        "name": "b%d" % index,
        "kind": kind,
        "transform": {"translate": [rng.uniform(-1, 1) * size, height, rng.uniform(-1, 1) * size]},
    }
    if kind in ("solid", "affine"):
        shape = rng.choice(["box", "ball", "box"])
        made["shape"] = (
            {"type": "box", "size": [size] * 3, "cells": [rng.randint(1, 3)] * 3}
            if shape == "box"
            else {"type": "ball", "radius": size / 2}
        )
        made["material"] = {
            "type": rng.choice(MATERIALS),
            "E": number(rng, 1e3, 1e8),
            "nu": rng.choice([0, 0.3, 0.45, 0.49]),
            "rho": number(rng, 1, 1e4),
        }
        if kind == "affine":
            made["material"] = {
                "type": "affine",
                "E": number(rng, 1e5, 1e9),
                "rho": number(rng, 1, 1e4),
            }
    else:
        cells = rng.randint(1, 4)
        made["shape"] = {
            "type": "grid",
            "width": size,
            "depth": size,
            "cells_x": cells,
            "cells_z": cells,
        }
        if kind == "shell":
            made["material"] = {
                "type": "membrane-stvk",
                "E": number(rng, 1e3, 1e6),
                "rho": 1000,
                "thickness": size / 200,
            }
        elif kind == "springs":
            made["material"] = {"type": "hooke", "k": number(rng, 1, 1e5), "vertex_mass": 0.01}
        else:
            made["material"] = {"type": "mass", "vertex_mass": 0.01}
    if rng.random() < 0.3 and kind != "affine":
        made["fix"] = [{"vertices": [0]}]
    if rng.random() < 0.3:
        made["velocity"] = {"linear": [rng.uniform(-5, 5) for _ in range(3)]}
    return made


def make_scene(rng):
    size = number(rng, 1e-3, 100) if rng.random() < 0.3 else 0.2
    scene = {
        "brio": 1,
        "time": {"h": "1/%d" % rng.choice([25, 60, 100, 1000]), "fps": 100},
        "integrator": rng.choice(INTEGRATORS),
        "output": {"frames": []},
    }
    scene["time"]["end"] = rng.randint(2, 8) / int(scene["time"]["h"][2:])
    contact = rng.choice([None, "ipc", "ipc", "ipc", "penalty"])
    if contact == "ipc" and rng.random() < 0.95:
        scene["integrator"] = rng.choice(ENDS_SOLVED)
    if contact:
        scene["contact"] = {"type": contact, "mu": rng.choice([0, 0, 0.3])}
        if contact == "penalty":
            scene["contact"].update(kappa=1e4, dhat=size / 20)
            scene["contact"].pop("mu")
        scene["obstacles"] = [{"type": "plane", "normal": [0, 1, 0]}]
        if rng.random() < 0.3:
            scene["obstacles"].append(
                {
                    "type": "sphere",
                    "radius": size / 2,
                    "transform": {"translate": [3 * size, size, 0]},
                }
            )
    if rng.random() < 0.3:
        scene["gravity"] = [rng.uniform(-20, 20) for _ in range(3)]
    if rng.random() < 0.3:
        scene["damping"] = [{"type": "rayleigh", "beta": number(rng, 1e-5, 1e-1)}]
    if rng.random() < 0.2:
        scene["solver"] = {
            "type": rng.choice(["newton", "local-global"]),
            "linear": rng.choice(["auto", "ldlt", "pcg", "multilevel"]),
        }
    stack = rng.random() < 0.2  # exactly on top of each other, which has to be refused or solved
    gap = size if stack else 1.2 * size
    scene["bodies"] = [body(rng, size, 0.6 * size + gap * i, i) for i in range(rng.randint(1, 3))]
    return scene


# ---- commands -------------------------------------------------------------------------------


class Case:
    def __init__(self, brio, shim):
        self.brio, self.shim, self.slow = brio, shim, False

    def call(self, *arguments, env=None):
        """The exit code, what was said; a code below zero is a signal, None took too long."""
        command = [self.brio, *arguments]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT,
                env={**os.environ, **(env or {})},
            )
        except subprocess.TimeoutExpired:
            self.slow = True
            return None, ""
        return done.returncode, done.stdout + done.stderr

    def ends_well(self, what, code, said):
        """An empty text, or what is wrong with the end of a command."""
        if code is None:
            return ""
        if code < 0:
            return "%s died of signal %d" % (what, -code)
        if code > 2 or (code and not said.strip()):
            return "%s ended with %d and no sentence" % (what, code)
        return ""

    def run(self, out, *more, env=None):
        shutil.rmtree(out, ignore_errors=True)
        return self.call("run", "s.json", "-o", out, "--quiet", *more, env=env)

    # each returns an empty text, or what is wrong

    def check_run(self, rng):
        return self.ends_well("run", *self.run("out"))

    def check_threads(self, rng):
        found = []
        for threads in ("1", "2", "3"):
            code, said = self.run("out" + threads, "--threads", threads)
            wrong = self.ends_well("run", code, said)
            if wrong or code is None:
                return wrong
            found.append((code, contents("out" + threads)))
        return "" if found[0] == found[1] == found[2] else "threads change the bytes"

    def check_resume(self, rng):
        code, said = self.run("whole", "--checkpoint-every", "1")
        if code != 0:
            return self.ends_well("run", code, said)
        shutil.rmtree("part", ignore_errors=True)
        started = subprocess.Popen(
            [self.brio, "run", "s.json", "-o", "part", "--quiet", "--checkpoint-every", "1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(rng.uniform(0.005, 0.1))
        started.send_signal(signal.SIGKILL)
        started.wait()
        code, said = self.call("run", "s.json", "-o", "part", "--quiet", "--resume")
        if code != 0:
            return "--resume: %s" % said.strip()
        return "" if contents("whole") == contents("part") else "--resume changes the bytes"

    def check_exact(self, rng):
        code, said = self.run("out")
        if code != 0 or '"ipc"' not in open("s.json").read():
            return self.ends_well("run", code, said)
        code, said = self.call("check", "--exact", "out")
        return "" if code in (0, None) else "check --exact: %s" % said.strip()[-300:]

    def check_isa(self, rng):
        for isa in ("baseline", "avx2"):
            code, said = self.run("out", env={"BRIO_ISA": isa})
            wrong = self.ends_well("run with " + isa, code, said)
            if wrong:
                return wrong
        return ""

    def check_text(self, rng):
        text = open("s.json").read()
        for _ in range(8):
            with open("damaged.json", "w") as file:
                file.write(damage_text(rng, text))
            wrong = self.ends_well("check", *self.call("check", "damaged.json"))
            if wrong:
                return wrong
        return ""

    def check_folder(self, rng):
        code, said = self.run("out")
        if code != 0:
            return self.ends_well("run", code, said)
        for _ in range(4):
            shutil.rmtree("bad", ignore_errors=True)
            shutil.copytree("out", "bad")
            name = rng.choice(["checkpoint", "motion.bin", "run.json", "energy.csv"])
            damage_file(rng, os.path.join("bad", name))
            for command in (
                ["view", "bad", "--print"],
                ["convert", "bad", "-o", "bad.glb", "--force"],
                ["run", "s.json", "-o", "bad", "--quiet", "--resume"],
            ):
                wrong = self.ends_well(command[0] + " of a damaged " + name, *self.call(*command))
                if wrong:
                    return wrong
        return ""

    def check_memory(self, rng):
        if not self.shim:
            return ""
        for _ in range(4):
            env = {"LD_PRELOAD": self.shim, "BRIO_FAIL_AT": str(rng.randrange(2000))}
            if rng.random() < 0.5:
                env["BRIO_FAIL_STAYS"] = "1"
            wrong = self.ends_well(
                "run with BRIO_FAIL_AT=" + env["BRIO_FAIL_AT"],
                *self.run("out", "--threads", "1", env=env),
            )
            if wrong:
                return wrong
        return ""


def contents(folder):
    found = {}
    for name in ("energy.csv", "motion.bin"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                found[name] = file.read()
    return found


def damage_text(rng, text):
    words = ["nan", "inf", "-1", "0", "1e308", "1e-308", "null", "[]", "{}", '""', "1/0", "true"]
    kind = rng.randrange(4)
    at = rng.randrange(len(text))
    if kind == 0:  # a number or word becomes another
        spots = [i for i, c in enumerate(text) if c in ":,["]
        at = rng.choice(spots) + 1
        end = at
        while end < len(text) and text[end] not in ",]}":
            end += 1
        return text[:at] + " " + rng.choice(words) + text[end:]
    if kind == 1:
        return text[:at] + text[at + rng.randint(1, 30) :]
    if kind == 2:
        return text[:at] + chr(rng.randint(1, 255)) + text[at + 1 :]
    return text[:at] + text[rng.randrange(len(text)) :]


def damage_file(rng, path):
    if not os.path.exists(path):
        return
    data = bytearray(open(path, "rb").read())
    kind = rng.randrange(3)
    if kind == 0 and data:
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == 1:
        del data[rng.randrange(len(data) + 1) :]
    else:
        data += bytes(rng.randrange(256) for _ in range(64))
    open(path, "wb").write(data)


# ---- making failures smaller ----------------------------------------------------------------


def smaller(scene):
    """Scenes with one thing less."""
    for key in list(scene):
        if key in ("brio", "bodies", "time"):
            continue
        yield {k: v for k, v in scene.items() if k != key}
    for key in ("bodies", "obstacles"):
        for i in range(len(scene.get(key, []))):
            if key == "bodies" and len(scene[key]) == 1:
                continue
            yield {**scene, key: scene[key][:i] + scene[key][i + 1 :]}
    for i, one in enumerate(scene["bodies"]):
        for key in ("fix", "velocity", "transform"):
            if key in one:
                rest = {k: v for k, v in one.items() if k != key}
                yield {**scene, "bodies": scene["bodies"][:i] + [rest] + scene["bodies"][i + 1 :]}


def minimise(scene, fails):
    for _ in range(40):
        for candidate in smaller(scene):
            if fails(candidate):
                scene = candidate
                break
        else:
            return scene
    return scene


def write_scene(scene):
    with open("s.json", "w") as file:
        json.dump(scene, file, indent=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("brio")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cases", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="")
    parser.add_argument("--shim", default="")
    given = parser.parse_args()
    keep = os.path.abspath(given.keep) if given.keep else ""
    case = Case(os.path.abspath(given.brio), os.path.abspath(given.shim) if given.shim else "")
    kinds = ["run", "threads", "resume", "exact", "isa", "text", "folder", "memory"]
    counts = {kind: [0, 0, 0] for kind in kinds}  # cases, slow, wrong
    folder = tempfile.mkdtemp(prefix="brio-campaign-")
    os.chdir(folder)
    begin, seed = time.monotonic(), given.seed
    while (
        seed < given.seed + given.cases if given.cases else time.monotonic() - begin < given.seconds
    ):
        kind = kinds[seed % len(kinds)]
        scene = make_scene(random.Random(seed))

        def fails(candidate):
            write_scene(candidate)
            return getattr(case, "check_" + kind)(random.Random(seed))

        case.slow = False
        wrong = fails(scene)
        counts[kind][0] += 1
        counts[kind][1] += case.slow
        if wrong:
            counts[kind][2] += 1
            print("seed %d, %s: %s" % (seed, kind, wrong), flush=True)
            if keep:
                scene = minimise(scene, fails)
                os.makedirs(keep, exist_ok=True)
                with open(os.path.join(keep, "%s-%d.json" % (kind, seed)), "w") as file:
                    json.dump(scene, file, indent=1)
        seed += 1
    os.chdir("/")
    shutil.rmtree(folder)
    print("%-8s %6s %6s %6s" % ("", "cases", "slow", "wrong"))
    for kind in kinds:
        print("%-8s %6d %6d %6d" % (kind, *counts[kind]))
    total = [sum(counts[kind][i] for kind in kinds) for i in range(3)]
    print(
        "%-8s %6d %6d %6d   seeds %d to %d, %.0f s"
        % ("all", *total, given.seed, seed - 1, time.monotonic() - begin)
    )
    return 1 if total[2] else 0


if __name__ == "__main__":
    sys.exit(main())
