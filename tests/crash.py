#!/usr/bin/env python3
"""Crash consistency: a run under a disk that fails, and under a power cut.

Every write, sync, rename, truncation and removal of a run fails once (EIO, ENOSPC), or is the last
thing that the process does (SIGKILL). After a kill, what was not synced is lost: files are cut to
the length that they had at their last fsync, as the log of system calls tells it. Then the run is
continued with --resume. It must end with the bytes of a run that nothing disturbed, or say what is
missing. A full disk (ENOSPC) makes the run wait and go on by itself. A second run into the same
folder is rejected, and a folder that vanishes is told of.

    crash.py BRIO [EVERY]      EVERY: tries every Nth point only (1: all)

strace injects the failures. Without it the test is skipped.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SCENE = """brio: 1
time: {h: 1/60, end: 0.2, fps: 30}
contact: {type: ipc, mu: 0.2}
obstacles: [{type: plane, normal: [0, 1, 0]}]
bodies:
  - {name: a, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, material: jelly,
     transform: {translate: [0, 0.11, 0]}}
probes: [{name: tip, body: a, vertex: 7}]
output: {frames: [vtu]}
"""
PATIENCE = 15  # seconds for a run that may wait for room
CALLS = "write,fsync,renameat,ftruncate,unlinkat,mkdirat,openat"
# What a run promises to be the same; run.json and report.html hold wall times.
SAME = ("energy.csv", "probes.csv", "motion.bin")


def files_of(folder):
    """The bytes of all files that must not depend on interruptions."""
    found = {}
    for name in SAME:
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    frames = os.path.join(folder, "frames")
    for name in sorted(os.listdir(frames)):
        with open(os.path.join(frames, name), "rb") as file:
            found["frames/" + name] = file.read()
    return found


def command(brio, out, *more):
    return [
        brio,
        "run",
        "s.yaml",
        "-o",
        out,
        "--quiet",
        "--threads",
        "1",
        "--checkpoint-every",
        "2",
        *more,
    ]


def quiet(arguments):
    return subprocess.run(arguments, capture_output=True, text=True, errors="replace", timeout=120)


def disturbed(arguments):
    """A run under strace. strace counts calls by thread, and each time that a run has waited for
    room it goes on in another one, where the failure comes again: then it is asked to end."""
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def points(brio):
    """How often a thread of an undisturbed run makes each call."""
    shutil.rmtree("count", ignore_errors=True)
    run = quiet(
        ["strace", "-f", "-qq", "-o", "log", "-e", "trace=" + CALLS, *command(brio, "count")]
    )
    if run.returncode:
        return None
    counts = {}
    with open("log", errors="replace") as log:
        for line in log:
            match = re.match(r"(\d+) +(\w+)\(", line)
            if match:
                key = match.groups()
                counts[key] = counts.get(key, 0) + 1
    most = {}
    for (_, call), count in counts.items():
        most[call] = max(most.get(call, 0), count)
    return most


def lose_unsynced(out):
    """Cuts files to their length at the last fsync, from the log (strace -y names the files)."""
    length, synced = {}, {}
    folder = os.path.realpath(out)
    with open("log", errors="replace") as log:
        for line in log:
            match = re.match(r"\d+ +(\w+)\(\d+<([^>]*)>(.*?) += (\d+)", line)
            if not match or not match.group(2).startswith(folder):
                continue
            call, path, rest, result = match.groups()
            if call == "write":
                length[path] = length.get(path, 0) + int(result)
            elif call == "ftruncate":
                length[path] = int(rest.strip(", )"))
                synced[path] = min(synced.get(path, 0), length[path])
            elif call == "fsync":
                synced[path] = length.get(path, 0)
            elif call == "renameat":
                old, new = re.findall(r'"([^"]*)"', rest)
                old, new = path + "/" + old, path + "/" + new
                length[new], synced[new] = length.pop(old, 0), synced.pop(old, 0)
    lost = 0
    for path in length:
        kept = synced.get(path, 0)
        if os.path.isfile(path) and os.path.getsize(path) > kept:
            lost += os.path.getsize(path) - kept
            os.truncate(path, kept)
    return lost


def try_point(brio, call, number, fault, whole):
    """One failure and what becomes of it: the outcome as a word, None if it is wrong."""
    shutil.rmtree("out", ignore_errors=True)
    kill = fault == "KILL"
    inject = "inject=%s:%s:when=%d" % (call, "signal=KILL" if kill else "error=" + fault, number)
    run = disturbed(
        [
            "strace",
            "-f",
            "-qq",
            "-y",
            "-o",
            "log",
            "-e",
            "trace=" + CALLS,
            "-e",
            inject,
            *command(brio, "out"),
        ]
    )
    where = "%s %d %s" % (call, number, fault)
    if not kill and run.returncode < 0:
        return None, "%s: the run died of signal %d" % (where, -run.returncode)
    if not kill and run.returncode > 0 and not run.stderr.strip():
        if "write(2<" not in "".join(l for l in open("log", errors="replace") if "INJECTED" in l):
            return None, "%s: no sentence" % where
    if run.returncode == 1 and "run waits" in run.stderr:
        if "; --resume continues from the checkpoint in out" not in run.stderr:
            return None, "%s: ended while it waited, but not how to go on: %s" % (where, run.stderr)
    lost = lose_unsynced("out") if kill and os.path.isdir("out") else 0
    again = quiet(command(brio, "out", "--resume"))
    if again.returncode:  # it says why; then the run starts again
        if not again.stderr.strip():
            return None, "%s: --resume ends with %d and no sentence" % (where, again.returncode)
        shutil.rmtree("out", ignore_errors=True)
        if "checkpoint" not in again.stderr and "there" not in again.stderr:
            return None, "%s: %s" % (where, again.stderr.strip())
        return "said what is missing", where
    after = files_of("out")
    for name, bytes_ in whole.items():
        if after.get(name) != bytes_:
            return None, "%s: %s differs after --resume" % (where, name)
    if set(after) != set(whole):
        return None, "%s: other files: %s" % (where, set(after) ^ set(whole))
    if "the run waits" in run.stderr:
        ended = "" if run.returncode == 0 else " until it was ended"
        return "waited for room%s, same bytes" % ended, where
    if run.returncode == 0:
        return "no part of the run", where
    return "same bytes, %s" % ("unsynced data lost" if lost else "nothing was lost"), where


def two_runs(brio):
    """A second run into a folder is rejected; a folder that vanishes ends the first with a sentence."""
    shutil.rmtree("long", ignore_errors=True)
    first = subprocess.Popen(
        command(brio, "long", "--set", "time.end=1000"),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    while first.poll() is None and not os.path.exists("long/energy.csv"):
        time.sleep(0.01)
    second = quiet(command(brio, "long"))
    while os.path.exists("long"):  # files may appear while others are removed
        shutil.rmtree("long", ignore_errors=True)
    try:
        said = first.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        first.kill()
        return "a folder vanished, and the run did not notice"
    if second.returncode != 2 or "another brio is writing" not in second.stderr:
        return "a second run was not refused: %s" % second.stderr
    if first.returncode != 1 or "cannot write" not in said:
        return "a folder that vanished: %d, %s" % (first.returncode, said)
    return ""


def main():
    brio = os.path.abspath(sys.argv[1])
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if not shutil.which("strace"):
        print("SKIPPED: there is no strace; apt-get install strace")
        return 77
    folder = tempfile.mkdtemp(prefix="brio-crash-")
    os.chdir(folder)
    with open("s.yaml", "w") as file:
        file.write(SCENE)
    plain = quiet(command(brio, "whole"))
    if plain.returncode:
        print(plain.stderr)
        return 1
    whole = files_of("whole")
    counts = points(brio)
    if counts is None:
        print("SKIPPED: strace may not trace here")
        return 77
    outcomes, wrong, turn = {}, [], 0
    trouble = two_runs(brio)
    if trouble:
        wrong.append(trouble)
        print("WRONG " + trouble)
    for fault in ("EIO", "ENOSPC", "KILL"):
        for call, count in sorted(counts.items()):
            if call == "openat" and fault != "KILL":
                continue  # most of these are of the loader
            for number in range(1, count + 1):
                turn += 1
                if turn % every:
                    continue
                word, where = try_point(brio, call, number, fault, whole)
                if word is None:
                    wrong.append(where)
                    print("WRONG " + where)
                else:
                    outcomes[word] = outcomes.get(word, 0) + 1
    os.chdir("/")
    shutil.rmtree(folder)
    print("%d points of failure of %d" % (sum(outcomes.values()), turn))
    for word, count in sorted(outcomes.items()):
        print("  %5d %s" % (count, word))
    print("  %5d wrong" % len(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
