#!/usr/bin/env python3
"""Do two builds of brio give the same bits? Runs scenes with both and compares their energy.csv.

    hashes.py OLD NEW [--scenes FOLDER] [--only a,b] [--steps N] [--seconds N] [--set PATH=VALUE]

OLD and NEW are programs. Each scene of the folder (default: that of OLD, ../scenes next to its
build) runs for N steps with each, on one thread, so that both read the same scene files. A scene
that needs more than --seconds of a processor ends there; the rows that both have are compared. The
columns that both tables have are compared as text: the last bit counts.

A row for each scene: its verdict, the SHA-256 of the compared text of NEW (16 digits), the first
step that differs, the column and the size of the largest difference of energies, momenta and
centres there and over all rows, and the iterations of both if they differ. Sizes are relative to
the largest energy, momentum (or angular momentum at 1 m) or distance (or 1 mm): a column that
holds round-off is not compared with itself. `old only`: NEW rejects the scene, and the
reason follows. Exits with 1 if any scene differs.

To look for a cause, put it back by --set, for example integrator.momentum=false, with --new-set if
only NEW knows it.
"""
import argparse
import csv
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ENERGIES = "kinetic elastic gravity contact potential total target added dissipated".split()
MOTION = "px py pz lx ly lz comx comy comz".split()


def step_of(scene):
    """time.h of a scene file, s."""
    with open(scene) as file:
        found = re.search(r"^time:\s*\{[^}]*\bh:\s*([-+0-9.e/]+)", file.read(), re.M)
    if not found:
        return None
    top, _, bottom = found.group(1).partition("/")
    return float(top) / float(bottom or 1)


def run(program, scene, steps, seconds, sets, folder):
    """The rows of energy.csv as dictionaries of text, and the message of a failure."""
    command = [program, "run", scene, "-o", folder, "--force", "--quiet", "--threads", "1"]
    h = step_of(scene)
    if h is not None:
        sets = ["time.end=%.17g" % (steps * h)] + sets
    for change in sets:
        command += ["--set", change]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    done = subprocess.run(
        command, preexec_fn=limit, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        with open(os.path.join(folder, "energy.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError:
        rows = []
    rows = [row for row in rows if None not in row.values()]
    return rows, "" if rows else done.stderr.strip()


def largest(row_pairs, columns, scales):
    """Size and column of the largest difference."""
    size, where = 0.0, ""
    for a, b in row_pairs:
        for name in columns:
            if a[name] == b[name]:
                continue
            try:
                off = abs(float(a[name]) - float(b[name])) / (scales[name] or 1)
            except ValueError:
                off = float("inf")
            if not off <= size:
                size, where = off, name
    return size, where


def scales_of(rows, columns):
    """What differences of a column are relative to."""
    scales = {}
    for name in columns:
        try:
            scales[name] = max(abs(float(row[name])) for row in rows if row[name])
        except ValueError:
            scales[name] = 0.0
    energy = max(scales.get(name, 0.0) for name in ENERGIES)
    for name in columns:
        if name in ENERGIES or name in ("remainder", "unfinished"):
            scales[name] = energy
    p, l, com = (max(scales[name + axis] for axis in "xyz") for name in ("p", "l", "com"))
    for axis in "xyz":  # what falls does not turn, and what turns in its place does not go
        scales["p" + axis] = max(p, l / 1.0)
        scales["l" + axis] = max(l, p * com)
        scales["com" + axis] = max(com, 1e-3)
    return scales


def compare(old, new):
    """The rest of a scene's row, and whether it is the same."""
    columns = [name for name in old[0] if name in new[0]]
    pairs = list(zip(old, new))
    text = "\n".join(",".join(row[name] for name in columns) for _, row in pairs)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    differ = [k for k, (a, b) in enumerate(pairs) if any(a[c] != b[c] for c in columns)]
    steps = "%d steps" % (len(pairs) - 1)
    if len(old) != len(new):
        steps += " (%d, %d)" % (len(old) - 1, len(new) - 1)
    if not differ:
        return "same    %s %s" % (digest, steps), True
    scales = scales_of(old + new, columns)
    k = differ[0]
    physical = [name for name in columns if name in ENERGIES + MOTION]
    size, name = largest([pairs[k]], physical, scales)
    all_size, all_name = largest(pairs, physical, scales)
    row = "differs %s %s, from step %s: %s %.1e, at most %s %.1e" % (
        (digest, steps, pairs[k][0]["step"], name or "-", size, all_name or "-", all_size)
    )
    work = [sum(int(pair[of]["iterations"]) for pair in pairs) for of in (0, 1)]
    if work[0] != work[1]:
        row += ", iterations %d, %d" % tuple(work)
    if not all_name:
        others = [name for name in columns if any(a[name] != b[name] for a, b in pairs)]
        row += ", only " + " ".join(others)
    return row, False


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--scenes", help="folder of the scenes")
    parser.add_argument("--only", default="", help="names of scenes, with commas")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seconds", type=int, default=60, help="of a processor, for a run")
    parser.add_argument("--set", action="append", default=[], help="for both")
    parser.add_argument("--new-set", action="append", default=[], help="for NEW")
    parser.add_argument("--old-set", action="append", default=[], help="for OLD")
    args = parser.parse_args()
    folder = args.scenes or os.path.join(os.path.dirname(args.old), "..", "scenes")
    names = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".yaml"))
    if args.only:
        names = args.only.split(",")
    same, work = 0, tempfile.mkdtemp(prefix="brio-hashes-")
    for name in names:
        scene = os.path.join(folder, name + ".yaml")
        tables = []
        for program, sets in ((args.old, args.old_set), (args.new, args.new_set)):
            tables.append(
                run(program, scene, args.steps, args.seconds, args.set + sets, work + "/run")
            )
            shutil.rmtree(work + "/run", ignore_errors=True)
        (old, old_error), (new, new_error) = tables
        if not old or not new:
            verdict = "neither" if not old and not new else "old only" if old else "new only"
            row, equal = "%s: %s" % (verdict, new_error or old_error), False
        else:
            row, equal = compare(old, new)
        same += equal
        print("%-20s %s" % (name, row), flush=True)
    shutil.rmtree(work, ignore_errors=True)
    print("%d of %d the same" % (same, len(names)))
    return 0 if same == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
