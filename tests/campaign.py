#!/usr/bin/env python3
"""The campaign that brio runs against itself: random scenes, damaged inputs, interrupted runs.

    campaign.py BRIO --seconds N [--cases N] [--seed N] [--keep FOLDER] [--replay] [--shim FILE.so]

A case is a function of its seed. It makes a scene (random_scene.py: every registered integrator,
material, shape, force, constraint, law and solver; obstacles that move, sequences, stitches, cages,
extreme sizes, exact stacks, degenerate meshes), leaves out what `brio check` refuses, a few times,
and does one of these to it:

    run      an exit code of 0, 1 or 2, with a sentence unless it is 0; never a crash, and no
             number of a completed run is not finite
    threads  the same bytes with 1, 2 and 3 threads
    resume   a run that is killed, up to three times, and continued has the bytes of one that was not
    disk     the same if a write, sync, rename or removal fails or is the last thing it does (strace)
    exact    no accepted state of a run with barriers intersects
    isa      every instruction set runs it
    text     the scene with damaged text is read or refused
    folder   the folder of a run with a damaged file is shown, continued or refused; what is
             continued has the right bytes
    files    the meshes and sequences that a scene names are damaged
    tools    check, settle, stability, compare, spectrum, render, convert end well
    limits   too little memory for the process, too short files: no hang, no crash
    memory   a failing allocation, anywhere in the process (with --shim)

A command that takes longer than LIMIT (or WAIT, by the clock) is asked to end (Ctrl-C); it counts
as slow if it does, and as wrong if it does not. A scene that fails is made smaller while it still
fails, and kept in a folder KIND-SEED of FOLDER; kept scenes run before the others. The outcome is a
table of counts.
"""
import argparse
import collections
import csv
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import random_scene

SCENE = "s.yaml"  # JSON, which is YAML
LIMIT = 10  # seconds of the processor for one command
WAIT = 300  # seconds by the clock for it, as on a busy machine; one that sleeps for so long hangs
KINDS = "run threads resume disk exact isa text folder files tools limits memory".split()
CALLS = "write fsync renameat ftruncate unlinkat mkdirat".split()


# ---- commands -------------------------------------------------------------------------------


def seconds_of(process):
    """What a process has had of the processor."""
    try:
        with open("/proc/%d/stat" % process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0


def spoken(process, limit, wait):
    """What a process says until it ends; None if it takes longer, and then it still runs."""
    begin, first = time.monotonic(), seconds_of(process)
    while True:
        try:
            return "".join(process.communicate(timeout=0.5))
        except subprocess.TimeoutExpired:
            if seconds_of(process) - first > limit or time.monotonic() - begin > wait:
                return None


class Case:
    def __init__(self, brio, shim):
        self.brio, self.shim, self.slow = brio, shim, False
        self.codes = collections.Counter()  # of the first run of each case

    def call(self, *arguments, env=None, limits=None, before=()):
        """The exit code, what was said; a code below zero is a signal, None took too long. `before`
        are a program and its arguments that start it."""

        def limit():
            for what, most in (limits or {}).items():
                resource.setrlimit(what, (most, most))

        process = subprocess.Popen(
            [*before, self.brio, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, **(env or {})},
            preexec_fn=limit,
        )
        said = spoken(process, LIMIT, WAIT)
        if said is not None:
            return process.returncode, said
        self.slow = True
        process.send_signal(signal.SIGINT)
        if spoken(process, LIMIT, WAIT) is not None:
            return None, ""
        process.kill()
        process.communicate()
        return -signal.SIGINT, "it does not answer Ctrl-C"

    def ends_well(self, what, code, said):
        """An empty text, or what is wrong with the end of a command."""
        if code is None:
            return ""
        if code < 0:
            return "%s died of signal %d %s" % (what, -code, said[-300:])
        if code > 2 or (code and not said.strip()):
            return "%s ended with %d and no sentence" % (what, code)
        return ""

    def run(self, out, *more, env=None, limits=None):
        shutil.rmtree(out, ignore_errors=True)
        code, said = self.call(
            "run", SCENE, "-o", out, "--quiet", *more, env=env, limits=limits
        )
        self.last = code
        return code, said

    # each returns an empty text, or what is wrong

    def check_run(self, rng):
        code, said = self.run("out")
        if code != 0:
            return self.ends_well("run", code, said)
        with open("out/energy.csv") as file:
            for row in list(csv.reader(file))[1:]:
                for cell in row:
                    if cell and not math.isfinite(float(cell)):
                        return "energy.csv of a completed run has %s in step %s" % (cell, row[0])
        return ""

    def check_threads(self, rng):
        found = []
        for threads in ("1", "2", "3"):
            code, said = self.run("out" + threads, "--threads", threads)
            wrong = self.ends_well("run", code, said)
            if wrong or code is None:
                return wrong
            found.append((code, contents("out" + threads)))
        for k in (1, 2):
            if found[k][0] != found[0][0]:
                return "threads change the exit code"
            wrong = different("%d threads" % (k + 1), found[0][1], found[k][1])
            if wrong:
                return wrong
        return ""

    def check_resume(self, rng):
        code, said = self.run("whole", "--checkpoint-every", "1")
        if code != 0:
            return self.ends_well("run", code, said)
        shutil.rmtree("part", ignore_errors=True)
        for _ in range(rng.randint(1, 3)):
            more = ["--resume"] if os.path.exists("part") else []
            started = subprocess.Popen(
                [self.brio, "run", SCENE, "-o", "part", "--quiet", "--checkpoint-every", "1", *more],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(math.exp(rng.uniform(math.log(0.005), math.log(1))))
            started.send_signal(signal.SIGKILL)
            started.wait()
        return self.continued("part", True)

    def continued(self, out, must):
        """What is wrong with --resume: other bytes than those of `whole`, or (must) a refusal."""
        code, said = self.call("run", SCENE, "-o", out, "--quiet", "--resume")
        if code is None:
            return ""
        if code != 0 and (must or not said.strip()):
            return "--resume: %d, %s" % (code, said.strip())
        if code != 0:
            return ""
        return different("--resume", contents("whole"), contents(out))

    def check_disk(self, rng):
        code, said = self.run("whole", "--checkpoint-every", "1", "--threads", "1")
        if code != 0 or not shutil.which("strace"):
            return self.ends_well("run", code, said)
        for _ in range(4):
            shutil.rmtree("part", ignore_errors=True)
            fault = rng.choice(["error=EIO", "signal=KILL"])
            inject = "inject=%s:%s:when=%d" % (rng.choice(CALLS), fault, rng.randint(1, 40))
            trace = ["strace", "-f", "-qq", "-o", "log", "-e", "trace=" + ",".join(CALLS)]
            arguments = ["run", SCENE, "-o", "part", "--quiet", "--checkpoint-every", "1"]
            code, said = self.call(*arguments, "--threads", "1", before=[*trace, "-e", inject])
            if code is not None and code < 0 and "KILL" not in fault:
                return "%s: died of signal %d" % (inject, -code)
            wrong = os.path.isdir("part") and self.continued("part", False)
            if wrong:
                return "%s: %s" % (inject, wrong)
        return ""

    def check_exact(self, rng):
        code, said = self.run("out")
        contact = json.load(open(SCENE)).get("contact") or {}
        if code != 0 or contact.get("type", "penalty") == "penalty":
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
        text = open(SCENE).read()
        for _ in range(8):
            with open("damaged.yaml", "w") as file:
                file.write(damage_text(rng, text))
            wrong = self.ends_well("check", *self.call("check", "damaged.yaml"))
            if wrong:
                return wrong
        return ""

    def check_folder(self, rng):
        code, said = self.run("whole")
        if code != 0:
            return self.ends_well("run", code, said)
        names = ["checkpoint", "run.json", *sorted(contents("whole"))]
        for _ in range(4):
            shutil.rmtree("bad", ignore_errors=True)
            shutil.copytree("whole", "bad")
            name = rng.choice(names)
            damage_file(rng, os.path.join("bad", name))
            for command in (
                ["view", "bad", "--print"],
                ["convert", "bad", "-o", "bad.glb", "--force"],
            ):
                wrong = self.ends_well(command[0] + " of a damaged " + name, *self.call(*command))
                if wrong:
                    return wrong
            # what a frame file holds is not read again; that it is there is checked
            wrong = not name.startswith("frames/") and self.continued("bad", False)
            if wrong:
                return "damaged %s, %s" % (name, wrong)
        return ""

    def check_files(self, rng):
        names = [name for name in os.listdir(".") if name.startswith(("mesh", "way", "ob"))]
        names = sorted(name for name in names if os.path.isfile(name))
        if not names:
            names = ["mesh.obj"]
            points, cells = random_scene.block(2, 1.0)
            text = random_scene.mesh_text(points, random_scene.surface_of(cells), False)
            ending = rng.choice(["msh", "mesh", "off", "ply", "stl", "vtk", "vtu", "obj"])
            with open("mesh.obj", "wb") as file:
                file.write(text)
            if ending != "obj":
                self.call("mesh", "convert", "mesh.obj", "mesh." + ending, "--force")
                names = ["mesh." + ending]
        for _ in range(4):
            name = rng.choice(names)
            with open(name, "rb") as file:
                whole = file.read()
            damage_file(rng, name)
            wrong = self.ends_well("run with a damaged " + name, *self.run("out"))
            if not wrong and name.startswith("mesh"):
                wrong = self.ends_well("mesh info", *self.call("mesh", "info", name))
                fixed = ("mesh", "repair", name, "-o", "fixed.obj", "--force")
                wrong = wrong or self.ends_well("mesh repair", *self.call(*fixed))
            if wrong:
                return wrong
            with open(name, "wb") as file:
                file.write(whole)
        return ""

    def check_tools(self, rng):
        for command in (
            ["check", SCENE, "--json"],
            ["settle", SCENE, "-o", "settled", "--force"],
            ["stability", SCENE],
            ["compare", SCENE, "--integrators", "backward-euler,bdf2", "-o", "two", "--force"],
        ):
            wrong = self.ends_well(command[0], *self.call(*command))
            if wrong:
                return wrong
        code, said = self.run("out")
        if code != 0:
            return self.ends_well("run", code, said)
        for command in (
            ["spectrum", "out"],
            ["render", "out", "-o", "still.png", "--force"],
            ["convert", "out", "-o", "film." + rng.choice(["glb", "usda", "pvd"]), "--force"],
            ["view", "out", "--print"],
        ):
            wrong = self.ends_well(command[0], *self.call(*command))
            if wrong:
                return wrong
        return ""

    def check_limits(self, rng):
        memory = {resource.RLIMIT_AS: rng.randint(30, 400) << 20}
        wrong = self.ends_well("run with little memory", *self.run("out", limits=memory))
        if wrong:
            return wrong
        short = {resource.RLIMIT_FSIZE: rng.randint(0, 60000)}
        return self.ends_well("run with short files", *self.run("out", limits=short))

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
    """What a run promises to be the same for any number of threads and interruptions."""
    found = {}
    frames = os.path.join(folder, "frames")
    names = ["frames/" + name for name in os.listdir(frames)] if os.path.isdir(frames) else []
    for name in ["energy.csv", "probes.csv", "motion.bin", *names]:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                found[name] = file.read()
    return found


def different(what, one, other):
    """An empty text, or which files of two contents are not the same."""
    names = sorted(n for n in {*one, *other} if one.get(n) != other.get(n))
    return "%s: other bytes in %s" % (what, ", ".join(names)) if names else ""


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


def paths(node, path=()):
    """The paths of everything in a scene, large things first."""
    if isinstance(node, (dict, list)):
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            yield (*path, key)
        for key in keys:
            yield from paths(node[key], (*path, key))


def smaller(scene):
    """Scenes with one thing less."""
    for path in sorted(paths(scene), key=len):
        less = json.loads(json.dumps(scene))
        holder = less
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
        yield less


def minimise(scene, fails, seconds=120):
    """The scene with less and less in it, as long as it fails in the same way."""
    begin = time.monotonic()
    for _ in range(100):
        for candidate in smaller(scene):
            if time.monotonic() - begin > seconds:
                return scene
            if fails(candidate):
                scene = candidate
                break
        else:
            return scene
    return scene


def write_scene(scene, files, folder="."):
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    with open(os.path.join(folder, SCENE), "w") as file:
        json.dump(scene, file, indent=1)
        file.write("\n")


class Campaign:
    def __init__(self, given):
        self.case = Case(os.path.abspath(given.brio), given.shim and os.path.abspath(given.shim))
        self.keep = given.keep and os.path.abspath(given.keep)
        self.replay = given.replay
        self.makings = random_scene.Makings(self.case.brio)
        self.counts = {kind: [0, 0, 0] for kind in KINDS}  # cases, slow, wrong
        self.features = collections.Counter()  # of scenes that ran to their end
        self.folder = tempfile.mkdtemp(prefix="brio-campaign-")
        os.chdir(self.folder)

    def fresh(self):
        for name in os.listdir("."):
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)

    def does(self, kind, seed, scene, files):
        """What is wrong with the scene under this kind of case: an empty text if nothing is."""
        self.fresh()
        write_scene(scene, files)
        self.case.slow, self.case.last = False, None
        return getattr(self.case, "check_" + kind)(random.Random(seed))

    def accepted(self, scene, files):
        """The scene without what the program refuses of it, after four refusals at the most."""
        for _ in range(4):
            self.fresh()
            write_scene(scene, files)
            code, said = self.case.call("check", SCENE)
            less = random_scene.repaired(scene, said) if code == 2 else None
            if less is None:
                break
            scene = less
        return scene

    def one(self, kind, seed):
        scene, files = random_scene.make_scene(random.Random(seed), self.makings)
        scene = self.accepted(scene, files)
        wrong = self.does(kind, seed, scene, files)
        slow, code = self.case.slow, self.case.last
        self.case.codes["none" if code is None else code] += 1
        if code == 0:
            self.features.update(random_scene.features(scene))
        self.count(kind, seed, slow, wrong)
        if wrong and self.keep and not self.replay:
            scene = minimise(scene, lambda less: self.does(kind, seed, less, files))
            folder = os.path.join(self.keep, "%s-%d" % (kind, seed))
            os.makedirs(folder, exist_ok=True)
            named = {n: d for n, d in files.items() if '"%s"' % n in json.dumps(scene)}
            write_scene(scene, named, folder)

    def kept(self, folder):
        """A scene that failed once."""
        kind, seed = os.path.basename(folder).rsplit("-", 1)
        files = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = file.read()
        scene = json.loads(files.pop(SCENE))
        self.count(kind, int(seed), False, self.does(kind, int(seed), scene, files))

    def count(self, kind, seed, slow, wrong):
        for i, add in enumerate((1, slow, bool(wrong))):
            self.counts[kind][i] += add
        if wrong:
            print("seed %d, %s: %s" % (seed, kind, wrong), flush=True)

    def tell(self, seconds):
        cases, slow, wrong = (sum(c[i] for c in self.counts.values()) for i in range(3))
        text = "campaign: %.0f s, %d cases, %d slow, %d wrong" % (seconds, cases, slow, wrong)
        print(text, file=sys.stderr, flush=True)

    def table(self, seconds, seeds):
        print("%-8s %6s %6s %6s" % ("", "cases", "slow", "wrong"))
        for kind in KINDS:
            print("%-8s %6d %6d %6d" % (kind, *self.counts[kind]))
        total = [sum(self.counts[kind][i] for kind in KINDS) for i in range(3)]
        print("%-8s %6d %6d %6d   seeds %d to %d, %.0f s" % ("all", *total, *seeds, seconds))
        codes = ", ".join("%s: %d" % pair for pair in sorted(self.case.codes.items(), key=str))
        print("exit codes of the last run of each case (none: no run): " + codes)
        print("in completed runs: " + ", ".join("%s %d" % p for p in sorted(self.features.items())))
        return total[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("brio")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cases", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="")
    parser.add_argument("--shim", default="")
    parser.add_argument("--replay", action="store_true", help="keep nothing new in --keep")
    given = parser.parse_args()
    campaign = Campaign(given)
    begin, seed = time.monotonic(), given.seed
    told = begin
    if os.path.isdir(campaign.keep or ""):
        for name in sorted(os.listdir(campaign.keep)):
            campaign.kept(os.path.join(campaign.keep, name))
    while (
        seed < given.seed + given.cases if given.cases else time.monotonic() - begin < given.seconds
    ):
        campaign.one(KINDS[seed % len(KINDS)], seed)
        seed += 1
        if time.monotonic() - told > 60:
            told = time.monotonic()
            campaign.tell(told - begin)
    wrong = campaign.table(time.monotonic() - begin, (given.seed, seed - 1))
    os.chdir("/")
    shutil.rmtree(campaign.folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
