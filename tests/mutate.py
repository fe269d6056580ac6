#!/usr/bin/env python3
"""Mutation testing: small faults are put into the core, one at a time, and tests have to notice.

    mutate.py [--count N] [--seed N] [--workers N] [--seconds N] [--only PATH] [--log FILE] [--list]
              [--again LOG] [--map FILE]

A mutant is one change of one line in a file of GROUPS: an operator (+ and -, * and /, < and <=, &&
and ||, += and -=), a comparison turned round, a condition negated, a number changed, a statement
left out. Mutants are drawn by the seed, evenly from the groups: the n-th mutant of a seed is always
the same for a version of the sources.

First the files are compiled with counters of lines, and each case of the group's tests runs once:
now it is known which cases reach which line, and how long they take. Cases of more than CASE
seconds of the processor are left out. Then each mutant is compiled at -O1, linked instead of its
object of build/ with the tests that reach its line, and the cases run, quick ones first, for at
most BUDGET seconds. It is

    killed     a case fails, crashes, or takes several times as long as before
    stillborn  it does not compile, or gives the object of the original (the same code, comments)
    unreached  no case of the group gets to its line
    survives   all these cases pass

Survivors are listed with file, line and change: either the change does nothing (an equivalent
mutant), or a test is missing. --again LOG tries the survivors of a log once more, with the tests of
today. docs/reliability.md has the counts and what became of them. Needs build/ with tests
(`make tests-ready`); cases are reached through BRIO_TEST, as by hand.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
CASE = 8  # seconds of the processor that a case may take with counters
BUDGET = 30  # seconds of the processor for the cases of one mutant, as they take without it
# What is mutated (patterns), and the test programs that should notice.
GROUPS = {
    "integrators": (
        ["src/integrate/*.c"],
        "oscillator integrators blend variational hands constraints stability adaptive momentum "
        "by_body orders rivals physics verdicts local_global real_time core arguments".split(),
    ),
    "potential": (
        ["src/potential/*.c"],
        "potential core forces hands by_body momentum energy affine cage constraints scalar "
        "friction arguments".split(),
    ),
    "contact": (
        ["src/contact/*.c"],
        "contact_kernels ccd exact contact flat obstacles penalty untangle motion friction "
        "crushed push renewal plugin real_time_contact".split(),
    ),
    "ledger": (
        ["src/sim/ledger.c", "src/integrate/stepper_books.c", "src/run/explosion.c"],
        "damping forces friction verdicts hands constraints adaptive library motion core "
        "penalty arguments".split(),
    ),
    "checkpoint": (
        ["src/run/*.c", "src/writer.c"],
        "versions signals cli verdicts output library edit adaptive by_hand motion follow resume "
        "caches".split(),
    ),
}
ELSEWHERE = ["src/integrate/stepper_books.c", "src/run/explosion.c"]  # of the ledger's group only
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


def files_of(group):
    found = []
    for pattern in GROUPS[group][0]:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            path = os.path.relpath(path, ROOT)
            if path == pattern or path not in ELSEWHERE:
                found.append(path)
    return found


def draw(seed, only):
    """Mutants without end, from the groups in turn: (group, path, line, new text)."""
    rng = random.Random(seed)
    pools = {}
    for group in GROUPS:
        paths = [p for p in files_of(group) if only == group or only in p]
        pool = [(group, path, *one) for path in paths for one in candidates(path)]
        rng.shuffle(pool)
        if pool:
            pools[group] = pool
    while pools:
        for group in list(pools):
            yield pools[group].pop()
            if not pools[group]:
                del pools[group]


def survivors(log):
    """The mutants of a log that no test has noticed."""
    found = []
    with open(log) as file:
        for line in file:
            match = re.match(r"(?:survives|unreached) (\w+) (\S+):(\d+): (.*)  \[.*\]$", line)
            if not match:
                continue
            group, path, number, text = match.groups()
            for at, new in candidates(path):
                if at == int(number) - 1 and new.strip() == text:
                    found.append((group, path, at, new))
                    break
    return found


def limits(seconds):
    """For a process: seconds of the processor, 8 GB of memory, files of 1 GB, a group to end."""

    def apply():
        os.setpgid(0, 0)
        whole = max(1, int(seconds + 0.999))
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return apply


class Lab:
    """Compiles and links next to build/, which stays as it is."""

    def __init__(self):
        with open(os.path.join(BUILD, "compile_commands.json")) as file:
            rows = json.load(file)
        self.compile = {}
        for row in rows:
            self.compile.setdefault(os.path.relpath(row["file"], ROOT), row)
        self.links = {}
        self.original = {}

    def object_of(self, path, source, out, extra=()):
        """Compiles a file instead of a path; False if it is no C."""
        words = shlex.split(self.compile[path]["command"])
        words = [w for w in words if not w.endswith("ccache") and w != "-O3"]
        words[words.index("-o") + 1] = out
        words[words.index("-c") + 1] = source
        folder = os.path.dirname(os.path.join(ROOT, path))
        words[1:1] = ["-O1", "-w", "-iquote", folder, *extra]
        return subprocess.run(words, cwd=BUILD, capture_output=True).returncode == 0

    def link(self, target, objects, out, extra=()):
        """A program of the build with other objects: {path: object}."""
        if target not in self.links:
            said = subprocess.run(
                ["ninja", "-C", BUILD, "-t", "commands", "-s", target],
                capture_output=True,
                text=True,
            ).stdout
            self.links[target] = shlex.split(said.strip().split("\n")[-1].split("&&")[1])
        words = list(self.links[target])
        words[words.index("-o") + 1] = out
        if "libbrio.a" in words:  # what is defined before the archive is not taken from it
            at = words.index("libbrio.a")
            words[at:at] = objects.values()
        else:
            for path, one in objects.items():
                command = shlex.split(self.compile[path]["command"])
                words[words.index(command[command.index("-o") + 1])] = one
        words += extra
        done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
        return done.returncode == 0, done.stderr[-500:]

    def run(self, program, brio, case, seconds, place, more=None):
        """Exit code of a test (below zero a signal), its output, seconds of the processor."""
        env = {**os.environ, "BRIO_SOURCE_DIR": ROOT, "BRIO_PROGRAM": brio, "TMPDIR": place}
        env["LOCPATH"] = os.path.join(BUILD, "locales")
        env.update(more or {})
        env.pop("BRIO_TEST", None)
        if case:
            env["BRIO_TEST"] = case
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            [program],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=limits(seconds),
        )
        try:
            said = process.communicate(timeout=60 + 20 * seconds)[0]
        except subprocess.TimeoutExpired:
            said = b""
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what the test has left behind
        except ProcessLookupError:
            pass
        process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return process.returncode, said.decode(errors="replace"), used


def cases_of(test):
    with open(os.path.join(ROOT, "tests", "test_%s.c" % test)) as file:
        text = file.read()
    return list(dict.fromkeys(re.findall(r"cmocka_unit_test\w*\(\s*(\w+)", text)))


def uses_program(test):
    with open(os.path.join(ROOT, "tests", "test_%s.c" % test)) as file:
        return re.search(r"BRIO_PROGRAM|program\.h", file.read()) is not None


def lines_reached(gcnos, folder):
    """{path: lines} of the counters below a folder."""
    place = os.path.dirname(next(iter(gcnos.values())))
    found = []
    for path, gcno in gcnos.items():
        data = gcno[: -len(".gcno")] + ".gcda"
        if os.path.exists(folder + data):
            shutil.move(folder + data, data)
            found.append(data)
    if not found:
        return {}
    said = subprocess.run(["gcov", "-t", "-j", *found], cwd=place, capture_output=True, text=True)
    names = {os.path.basename(path): path for path in gcnos}
    reached = {}
    for text in said.stdout.split("\n"):
        if not text.startswith("{"):
            continue
        for row in json.loads(text)["files"]:
            path = names.get(os.path.basename(row["file"]))
            if path and row["file"].endswith(".c"):
                lines = reached.setdefault(path, [[], []])
                for line in row["lines"]:
                    lines[line["count"] > 0].append(line["line_number"])
    for data in found:
        os.remove(data)
    return reached


def chart(lab, groups, folder):
    """{test: {case: [seconds, {path: [lines not reached, lines reached]}]}}."""
    place = tempfile.mkdtemp(dir=folder)
    objects = {}
    for group in groups:
        for path in files_of(group):
            if path in lab.compile and path not in objects:
                stem = os.path.join(place, path.replace("/", "_")[:-2])
                if not lab.object_of(path, os.path.join(ROOT, path), stem + ".o", ["--coverage"]):
                    sys.exit("mutate: %s cannot be compiled" % path)
                objects[path] = stem + ".o"
    gcnos = {path: one[:-2] + ".gcno" for path, one in objects.items()}
    brio = os.path.join(place, "brio")
    lab.link("brio", objects, brio, ["--coverage"])
    table = {}
    for test in dict.fromkeys(t for group in groups for t in GROUPS[group][1]):
        program = os.path.join(place, "test_" + test)
        linked, said = lab.link("tests/test_" + test, objects, program, ["--coverage"])
        if not linked:
            sys.exit("mutate: test_%s cannot be linked: %s" % (test, said))
        table[test] = {}
        for case in cases_of(test):
            out = tempfile.mkdtemp(dir=folder)
            more = {"GCOV_PREFIX": out}
            code, said, used = lab.run(program, brio, case, CASE, out, more)
            if code == 0 and "[       OK ]" in said:
                table[test][case] = [used, lines_reached(gcnos, out)]
            shutil.rmtree(out, ignore_errors=True)
        print("mutate: %s, %d cases" % (test, len(table[test])), file=sys.stderr)
        os.remove(program)
    shutil.rmtree(place)
    return table


def cases_for(table, group, path, number):
    """Cases that reach a line (of a statement that may begin above it), quick ones first."""
    found = []
    for test in GROUPS[group][1]:
        for case, (used, reached) in table.get(test, {}).items():
            missed, seen = reached.get(path, ([], []))
            known = [line for line in missed + seen if line <= number + 1]
            if known and max(known) in seen and max(known) > number - 6:
                found.append((used, test, case))
    return sorted(found)


def try_mutant(lab, table, mutant, folder):
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
        return run_cases(lab, cases_for(table, group, path, number), {path: out}, place)
    finally:
        shutil.rmtree(place)


def run_cases(lab, cases, objects, place):
    if not cases:
        return "unreached", "no case"
    brio = os.path.join(place, "brio")
    spent = ran = 0
    for used, test, case in cases:
        if spent + used > BUDGET:
            break
        spent += used
        ran += 1
        program = os.path.join(place, "test_" + test)
        if not os.path.exists(program):
            linked, said = lab.link("tests/test_" + test, objects, program)
            if linked and uses_program(test) and not os.path.exists(brio):
                linked, said = lab.link("brio", objects, brio)
            if not linked:
                return "stillborn", "does not link: " + said
        code, said, _ = lab.run(program, brio, case, 4 * used + 2, place)
        if code != 0 or "[       OK ]" not in said:
            return "killed", "%s %s: %s" % (test, case, code)
    return "survives", "%d of %d cases" % (ran, len(cases))


def prepare(lab, paths, folder):
    """Objects to compare with."""
    for path in paths:
        place = tempfile.mkdtemp(dir=folder)
        source = os.path.join(place, os.path.basename(path))
        shutil.copy(os.path.join(ROOT, path), source)
        if not lab.object_of(path, source, os.path.join(place, "o.o")):
            sys.exit("mutate: %s cannot be compiled" % path)
        with open(os.path.join(place, "o.o"), "rb") as file:
            lab.original[path] = file.read()
        shutil.rmtree(place)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--skip", type=int, default=0, help="leave the first mutants out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default="", help="a group, or files with this in their path")
    parser.add_argument("--again", default="", help="the survivors of this log")
    parser.add_argument("--map", default="", help="keep here which cases reach which lines")
    parser.add_argument("--log", default="")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def charted(lab, given, groups, folder):
    """The table of chart(), from the file if there is one; delete it after changes."""
    if given.map and os.path.exists(given.map):
        with open(given.map) as file:
            return json.load(file)
    table = chart(lab, groups, folder)
    if given.map:
        with open(given.map, "w") as file:
            json.dump(table, file)
    return table


def main():
    given = arguments()
    if given.again:
        mutants = survivors(given.again)
    else:
        stream = draw(given.seed, given.only)
        mutants = [m for m, _ in zip(stream, range(given.skip + given.count))][given.skip :]
    if given.list:
        for _, path, number, new in mutants:
            print("%s:%d: %s" % (path, number + 1, new.strip()))
        return 0
    folder = tempfile.mkdtemp(prefix="brio-mutate-")
    lab = Lab()
    mutants = [m for m in mutants if m[1] in lab.compile]
    table = charted(lab, given, list(dict.fromkeys(m[0] for m in mutants)), folder)
    prepare(lab, sorted({m[1] for m in mutants}), folder)
    kinds = ["killed", "survives", "unreached", "stillborn"]
    counts = {group: dict.fromkeys(kinds, 0) for group in GROUPS}
    log = open(given.log, "a") if given.log else sys.stdout
    begin = time.monotonic()

    def one(mutant):
        if time.monotonic() - begin > given.seconds:
            return None
        return mutant, try_mutant(lab, table, mutant, folder)

    with concurrent.futures.ThreadPoolExecutor(given.workers) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, m) for m in mutants]):
            outcome = done.result()
            if outcome is None:
                continue
            (group, path, number, new), (what, why) = outcome
            counts[group][what] += 1
            place = "%s:%d" % (path, number + 1)
            print("%s %s %s: %s  [%s]" % (what, group, place, new.strip(), why), file=log)
            log.flush()
    shutil.rmtree(folder)
    print("%-12s %9s %9s %9s %9s" % ("", *kinds))
    for group, row in counts.items():
        print("%-12s %9d %9d %9d %9d" % (group, *row.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
