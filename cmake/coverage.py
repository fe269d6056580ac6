#!/usr/bin/env python3
"""Coverage by folder, as a table for docs/reliability.md:  coverage.py SUMMARY.json [LEAST]

SUMMARY.json is of `gcovr --json-summary`. With LEAST, the exit code is 1 if fewer percent of the lines
of src/ are covered. Files below half are listed.
"""
import json
import os
import sys


def folder_of(name):
    parts = name.split("/")
    return "/".join(parts[:2]) + "/" if len(parts) > 2 else parts[0] + "/*.c"


def percent(covered, total):
    return "%.1f" % (100 * covered / total) if total else "-"


def main():
    with open(sys.argv[1]) as file:
        rows = json.load(file)["files"]
    folders, all_of_src, low = {}, [0, 0, 0, 0], []
    for row in rows:
        counts = [row[k] for k in ("line_covered", "line_total", "branch_covered", "branch_total")]
        name = os.path.normpath(row["filename"])
        into = folders.setdefault(folder_of(name), [0, 0, 0, 0])
        for i, count in enumerate(counts):
            into[i] += count
            all_of_src[i] += count * name.startswith("src/")
        if counts[0] < 0.5 * counts[1]:
            low.append("%s %s %%" % (name, percent(*counts[:2])))
    print("| folder | lines | covered, % | branches | taken, % |\n|---|---|---|---|---|")
    for folder, of in sorted(folders.items()) + [("src/ in all", all_of_src)]:
        lines, branches = percent(*of[:2]), percent(*of[2:])
        print("| %s | %d | %s | %d | %s |" % (folder, of[1], lines, of[3], branches))
    if low:
        print("\nless than half of their lines: " + ", ".join(low))
    enough = len(sys.argv) < 3 or 100 * all_of_src[0] >= float(sys.argv[2]) * all_of_src[1]
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
