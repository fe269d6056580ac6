#!/usr/bin/env python3
"""Long runs of shipped scenes: memory stays, the ledger closes, steps stay as fast as they were.

    endurance.py BRIO [--steps N] [--seconds N] [--scenes a,b,c] [-o FOLDER]

Each scene runs for N steps (100,000) or so many seconds (3600), with one row of energy.csv in a
hundred steps and no motion. While it runs, its memory (resident set) and its steps are looked at.
The table has, for each scene: steps done, memory after a tenth of the run and at its end, steps in
a second of the processor in the second tenth and in the last, what the method itself did to the
energy (remainder) and the part of it that solves left (unfinished), both over the largest energy,
bytes written for a step, the verdict. It fails if memory grows by more than a tenth and 8 MB, if
the ledger (total - first = added - dissipated + remainder) is open by more than 1e-9 of the largest
energy, or if a run ends otherwise than completed or stopped at its time.

A run of a week writes rows * steps / energy_every bytes: the last column times the steps of it.
"""
import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SCENES = (
    "bar-wall,chain,intermediate-axis,cantilever,cloth,links,spinning-cube,rt-fall,ball-affine,"
    "tired-dice,stitched-trampoline,door"
)


def memory_of(pid):
    """MB of the resident set, or None."""
    try:
        with open("/proc/%d/status" % pid) as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


def processor_of(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0


def step_of(out):
    """The last step of energy.csv."""
    try:
        with open(os.path.join(out, "energy.csv"), "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 4000))
            rows = file.read().decode(errors="replace").split("\n")
        return int(rows[-2].split(",")[0])
    except (OSError, IndexError, ValueError):
        return 0


def ledger_of(out):
    """Over the largest energy: how far the ledger is open, the last remainder, and unfinished."""
    worst, scale, first, last = 0, 0, None, [0, 0]
    with open(os.path.join(out, "energy.csv")) as file:
        for row in csv.DictReader(file):
            total = float(row["total"])
            first = total if first is None else first
            parts = [float(row[k]) for k in ("added", "dissipated", "remainder")]
            worst = max(worst, abs(total - first - parts[0] + parts[1] - parts[2]))
            scale = max(scale, abs(float(row["kinetic"])), abs(float(row["potential"])))
            last = [parts[2], float(row["unfinished"] or 0)]
    return [amount / (scale or 1) for amount in (worst, *last)]


def look(process, out, seconds):
    """(processor seconds, step, MB) over time until the process ends or its time is over."""
    seen, begin = [], time.monotonic()
    while process.poll() is None:
        memory = memory_of(process.pid)
        step = step_of(out)
        if memory and step and (not seen or step > seen[-1][1]):
            seen.append((processor_of(process.pid), step, memory))
        if time.monotonic() - begin > seconds:
            process.send_signal(signal.SIGINT)
            process.wait()
            break
        time.sleep(0.5)
    return seen


def rate(seen):
    """Steps in a second of the processor, from the first of the samples to the last."""
    if len(seen) < 2 or seen[-1][0] <= seen[0][0]:
        return 0
    return (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])


def endure(brio, scene, steps, seconds, out):
    said = subprocess.run([brio, "list", "scenes", "--json"], capture_output=True, text=True)
    assert scene in said.stdout, scene
    h = step_size(brio, scene)
    process = subprocess.Popen(
        [brio, "run", scene, "-o", out, "--force", "--quiet", "--threads", "1"]
        + ["--set", "time.end=%.17g" % (steps * h), "--set", "output.energy_every=100"]
        + ["--set", "output.motion=false", "--set", "output.frames=[]"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    seen = look(process, out, seconds)
    with open(os.path.join(out, "run.json")) as file:
        run = json.load(file)
    done = step_of(out)
    size = sum(os.path.getsize(os.path.join(out, n)) for n in os.listdir(out) if n.endswith("csv"))
    tenth = max(1, len(seen) // 10)
    ledger, remainder, unfinished = ledger_of(out)
    return {
        "scene": scene,
        "steps": done,
        "early": seen[min(tenth, len(seen) - 1)][2] if seen else 0,
        "late": seen[-1][2] if seen else 0,
        "rate_early": rate(seen[tenth : 2 * tenth + 1]),
        "rate_late": rate(seen[-tenth - 1 :]),
        "ledger": ledger,
        "remainder": remainder,
        "unfinished": unfinished,
        "bytes": size / max(done, 1),
        "verdict": run["verdict"],
    }


def step_size(brio, scene):
    """The scene's own h, from a run of no steps."""
    folder = tempfile.mkdtemp(prefix="brio-h-")
    out = os.path.join(folder, "out")
    subprocess.run(
        [brio, "run", scene, "-o", out, "--quiet", "--set", "time.end=0"], capture_output=True
    )
    with open(os.path.join(out, "run.json")) as file:
        h = json.load(file)["scene"]["time"]["h"]
    shutil.rmtree(folder)
    if isinstance(h, str) and "/" in h:
        return float(h.split("/")[0]) / float(h.split("/")[1])
    return float(h)


def faults(row):
    if row["late"] > 1.1 * row["early"] + 8:
        yield "memory grows"
    if row["ledger"] > 1e-9:
        yield "the ledger is open"
    if row["verdict"] not in ("completed", "stopped"):
        yield "it " + row["verdict"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("brio")
    parser.add_argument("--steps", type=int, default=100000)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--scenes", default=",".join(SCENES))
    parser.add_argument("-o", default="")
    given = parser.parse_args()
    folder = given.o or tempfile.mkdtemp(prefix="brio-endurance-")
    brio = os.path.abspath(given.brio)
    head = "| scene | steps | MB, early | MB, at the end | steps/s, early | at the end |"
    head += " remainder | unfinished | bytes/step | verdict |\n"
    print(head + "|---" * 10 + "|", flush=True)
    wrong = 0
    for scene in given.scenes.split(","):
        out = os.path.join(folder, scene)
        row = endure(brio, scene, given.steps, given.seconds, out)
        found = list(faults(row))
        wrong += bool(found)
        print(
            "| %(scene)s | %(steps)d | %(early).1f | %(late).1f | %(rate_early).0f |"
            " %(rate_late).0f | %(remainder).1e | %(unfinished).1e | %(bytes).1f |"
            " %(verdict)s |" % row
            + " ".join(found),
            flush=True,
        )
        if not given.o:
            shutil.rmtree(out)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
