#!/usr/bin/env python3
"""Mutation testing: small faults are put into the core, one at a time, and tests have to notice.

    mutate.py [--count N] [--seed N] [--workers N] [--seconds N] [--only PATH] [--log FILE] [--list]

A mutant is one change of one line in a file of GROUPS: an operator (+ and -, * and /, < and <=, &&
and ||, += and -=), a comparison turned round, a condition negated, a number changed, a statement
left out. Mutants are drawn by the seed, evenly from the groups: the n-th mutant of a seed is
always the same. Each is compiled at -O1 into a copy of the objects of build/, linked with the
small tests of its group, and run. It is

    killed     a test fails, crashes, or takes more than LIMIT seconds of the processor
    stillborn  it does not compile, or gives the object of the original (the same code, comments)
    survives   all tests of the group pass

Survivors are listed with file, line and change: either the change does nothing (an equivalent
mutant), or a test is missing. docs/reliability.md has the counts and what became of them.
Needs build/ with tests (`make tests-ready`).
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
LIMIT = 120  # seconds; the tests below take a few
# What is mutated, and the quickest tests that should notice, quick ones first.
GROUPS = {
    "integrators": (
        [
            "src/integrate/backward_euler.c",
            "src/integrate/bdf.c",
            "src/integrate/newmark.c",
            "src/integrate/theta.c",
            "src/integrate/trapezoidal.c",
            "src/integrate/runge_kutta.c",
            "src/integrate/decoupled.c",
            "src/integrate/stabilised.c",
            "src/integrate/variational.c",
            "src/integrate/stepper.c",
        ],
        ["oscillator", "integrators", "blend", "variational", "hands"],
    ),
    "potential": (
        [
            "src/potential/potential.c",
            "src/potential/elements.c",
            "src/potential/hands.c",
            "src/potential/member_contact.c",
            "src/potential/member_forces.c",
        ],
        ["potential", "core", "forces", "hands"],
    ),
    "contact": (
        [
            "src/contact/ccd.c",
            "src/contact/broad.c",
            "src/contact/pairs.c",
            "src/contact/contact.c",
            "src/contact/assemble.c",
            "src/contact/law.c",
            "src/contact/exact.c",
        ],
        ["contact_kernels", "ccd", "exact", "contact", "flat"],
    ),
    "ledger": (
        ["src/sim/ledger.c", "src/integrate/stepper_books.c", "src/run/explosion.c"],
        ["damping", "forces", "friction", "verdicts"],
    ),
    "checkpoint": (
        ["src/run/checkpoint.c", "src/writer.c", "src/run/run.c"],
        ["versions", "signals"],
    ),
}
USE_PROGRAM = ["exact", "verdicts", "versions", "signals"]  # these start brio itself
SWAPS = [
    (r"(?<![-+<>=!&|*/(,] )(?<=\w) \+ (?=\w)", " - "),
    (r"(?<=[\w)\]]) - (?=[\w(])", " + "),
    (r"(?<=[\w)\]]) \* (?=[\w(])", " / "),
    (r"(?<=[\w)\]]) / (?=[\w(])", " * "),
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" < ", " > "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r" \+= ", " -= "),
    (r" -= ", " += "),
    (r"\bif \((?!!)", "if (!"),
    (r"\bfmax\(", "fmin("),
    (r"\bfmin\(", "fmax("),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"(?<![\w.\[])0\.5(?![\w.])", "0.25"),
    (r"(?<![\w.\[])2(?![\w.\]])", "3"),
    (r"(?<![\w.\[])1(?![\w.\]])", "2"),
    (r"(?<== )0(?=[;,)])", "1"),
]


def code_lines(text):
    """Lines that are code of functions, with their numbers: no comments, includes, tables."""
    comment = False
    for number, line in enumerate(text.split("\n")):
        stripped = line.strip()
        if comment or stripped.startswith("/*"):
            comment = "*/" not in stripped
            continue
        if not line.startswith("    ") or '"' in line or stripped.startswith(("#", "*", "//")):
            continue
        yield number, line


def candidates(path):
    """All mutants of a file: (line, its new text)."""
    with open(os.path.join(ROOT, path)) as file:
        text = file.read()
    found = []
    for number, line in code_lines(text):
        for pattern, other in SWAPS:
            for match in re.finditer(pattern, line):
                new = line[: match.start()] + other + line[match.end() :]
                if pattern.startswith(r"\bif"):  # the whole condition
                    close = closing(line, match.end() - 1)
                    if close < 0:
                        continue
                    new = line[: match.end() - 1] + "(!(" + line[match.end() : close] + "))"
                    new += line[close + 1 :]
                found.append((number, new))
        plain = re.fullmatch(r"\s+[\w>.\[\]-]+ [-+*/]?= [^{]*;", line) or re.fullmatch(
            r"\s+\w+\([^{]*\);", line
        )
        if plain and not re.match(r"\s+(const|double|int|bool|size_t)\b", line):
            found.append((number, "    ;"))
    return found


def closing(line, at):
    depth = 0
    for i in range(at, len(line)):
        depth += (line[i] == "(") - (line[i] == ")")
        if depth == 0:
            return i
    return -1


def draw(seed, only):
    """Mutants without end, from the groups in turn: (group, path, line, new text)."""
    rng = random.Random(seed)
    pools = {}
    for group, (paths, _) in GROUPS.items():
        paths = [p for p in paths if only == group or only in p]
        pool = [(group, path, *one) for path in paths for one in candidates(path)]
        rng.shuffle(pool)
        if pool:
            pools[group] = pool
    while pools:
        for group in list(pools):
            yield pools[group].pop()
            if not pools[group]:
                del pools[group]


class Lab:
    """Compiles and links beside build/, which stays as it is."""

    def __init__(self):
        with open(os.path.join(BUILD, "compile_commands.json")) as file:
            rows = json.load(file)
        self.compile = {os.path.relpath(row["file"], ROOT): row for row in rows}
        self.links = {}
        self.original = {}

    def object_of(self, path, source, out):
        """Compiles a file in place of a path; None if it is no C."""
        words = shlex.split(self.compile[path]["command"])
        words = [w for w in words if not w.endswith("ccache") and w != "-O3"]
        at = words.index("-o")
        words[at + 1] = out
        words[words.index("-c") + 1] = source
        folder = os.path.dirname(os.path.join(ROOT, path))
        words[1:1] = ["-O1", "-w", "-iquote", folder]
        done = subprocess.run(words, cwd=BUILD, capture_output=True)
        return done.returncode == 0

    def link(self, target, objects, out):
        """A program of the build with the given object in front of the library."""
        if target not in self.links:
            said = subprocess.run(
                ["ninja", "-C", BUILD, "-t", "commands", "-s", target],
                capture_output=True,
                text=True,
            ).stdout
            self.links[target] = shlex.split(said.strip().split("\n")[-1].split("&&")[1])
        words = list(self.links[target])
        words[words.index("-o") + 1] = out
        at = words.index("libbrio.a")
        words[at:at] = objects
        words += ["-Wl,--allow-multiple-definition"]
        done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
        return done.returncode == 0, done.stderr[-500:]

    def run(self, program, brio):
        """The exit code of a test; below zero a signal, as of one that takes too long."""
        env = {**os.environ, "BRIO_SOURCE_DIR": ROOT, "BRIO_PROGRAM": brio}
        env["LOCPATH"] = os.path.join(BUILD, "locales")
        done = subprocess.run(
            [program],
            cwd=ROOT,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
        )
        return done.returncode


def try_mutant(lab, mutant, folder):
    group, path, number, new = mutant
    with open(os.path.join(ROOT, path)) as file:
        lines = file.read().split("\n")
    place = tempfile.mkdtemp(dir=folder)
    try:
        lines[number] = new
        source = os.path.join(place, os.path.basename(path))
        with open(source, "w") as file:
            file.write("\n".join(lines))
        out = os.path.join(place, "mutant.o")
        if not lab.object_of(path, source, out):
            return "stillborn", "does not compile"
        with open(out, "rb") as file:
            if file.read() == lab.original[path]:
                return "stillborn", "the same object"
        brio = os.path.join(place, "brio")
        for test in GROUPS[group][1]:
            program = os.path.join(place, "test_" + test)
            linked, said = lab.link("tests/test_" + test, [out], program)
            if linked and test in USE_PROGRAM and not os.path.exists(brio):
                linked, said = lab.link("brio", [out], brio)
            if not linked:
                return "stillborn", "does not link: " + said
            code = lab.run(program, brio)
            os.remove(program)
            if code != 0:
                return "killed", "%s: %s" % (test, code)
        return "survives", ""
    finally:
        shutil.rmtree(place)


def prepare(lab, groups, folder):
    """Objects to compare with."""
    for group in groups:
        for path in GROUPS[group][0]:
            if path not in lab.compile:
                continue
            place = tempfile.mkdtemp(dir=folder)
            source = os.path.join(place, os.path.basename(path))
            shutil.copy(os.path.join(ROOT, path), source)
            if not lab.object_of(path, source, os.path.join(place, "o.o")):
                sys.exit("mutate: %s cannot be compiled" % path)
            with open(os.path.join(place, "o.o"), "rb") as file:
                lab.original[path] = file.read()
            shutil.rmtree(place)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default="", help="a group, or files with this in their path")
    parser.add_argument("--log", default="")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    stream = draw(given.seed, given.only)
    mutants = [m for m, _ in zip(stream, range(given.count))]
    if given.list:
        for _, path, number, new in mutants:
            print("%s:%d: %s" % (path, number + 1, new.strip()))
        return 0
    folder = tempfile.mkdtemp(prefix="brio-mutate-")
    lab = Lab()
    prepare(lab, {m[0] for m in mutants}, folder)
    counts = {group: {"killed": 0, "survives": 0, "stillborn": 0} for group in GROUPS}
    log = open(given.log, "a") if given.log else sys.stdout
    begin = time.monotonic()

    def one(mutant):
        if time.monotonic() - begin > given.seconds:
            return None
        return mutant, try_mutant(lab, mutant, folder)

    with concurrent.futures.ThreadPoolExecutor(given.workers) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, m) for m in mutants]):
            outcome = done.result()
            if outcome is None:
                continue
            (group, path, number, new), (what, why) = outcome
            counts[group][what] += 1
            print("%s %s:%d: %s  [%s]" % (what, path, number + 1, new.strip(), why), file=log)
            log.flush()
    shutil.rmtree(folder)
    print("%-12s %8s %8s %8s" % ("", "killed", "survive", "stillborn"))
    for group, row in counts.items():
        print("%-12s %8d %8d %8d" % (group, row["killed"], row["survives"], row["stillborn"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
