#!/usr/bin/env python3
"""Imports the IPC scenes of a folder, runs some steps of each at its defaults with every state
checked exactly, and prints iterations per step, halved steps, contacts and seconds.

    ipc_table.py BRIO FOLDER OUT [--steps N] [--only PART]

FOLDER is the root of the scenes (it holds input/). Results go to OUT. Exit code 1: a scene needs
more than 20 iterations per step on average, halves a step, is not exact, or does not complete.
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys
import time


def run(brio, scene, folder, out, steps):
    yaml = out / (scene.stem + ".yaml")
    subprocess.run([brio, "import", "ipc", scene, "-o", yaml, "--force"], cwd=folder,
                   capture_output=True)
    h = float(re.search(r"time: \{h: ([-+.e\d]+)", yaml.read_text()).group(1))
    before = time.time()
    ended = subprocess.run([brio, "run", yaml, "-o", out / scene.stem, "--force", "--exact", "-q",
                            "-j", "1", "--set", f"time.end={steps * h!r}"], capture_output=True)
    seconds = time.time() - before
    with open(out / scene.stem / "energy.csv", newline="") as file:
        rows = list(csv.DictReader(file))[1:]
    iterations = [int(row["iterations"]) for row in rows] or [0]
    mean = sum(iterations) / len(iterations)
    halved = sum(int(row["halvings"]) > 0 for row in rows)
    good = ended.returncode == 0 and len(rows) == steps and mean <= 20 and halved == 0
    print(f"| {scene.stem} | {len(rows)} | {mean:.1f} | {max(iterations)} | {halved} | "
          f"{max((int(row['contacts']) for row in rows), default=0)} | "
          f"{seconds / max(len(rows), 1):.2f} | {'met' if good else 'missed'} |", flush=True)
    if ended.returncode:
        print(ended.stderr.decode(errors="replace").strip(), file=sys.stderr)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("brio", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--only", default="", help="scenes whose name contains this")
    a = parser.parse_args()
    out = a.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    print("| scene | steps | iterations per step | at most | halved | contacts | s per step | |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    scenes = sorted(s for s in (a.folder.resolve() / "input").rglob("*.txt") if a.only in s.stem)
    results = [run(a.brio.resolve(), s, a.folder, out, a.steps) for s in scenes]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
