#!/usr/bin/env python3
"""What the pages on guarantees, reliability and security name is there: files, functions, tests.

Sources, docstrings and scenes name manuals (docs/NAME.md) that exist.

In `quotes`, these are names: a path with a known folder (`src/field.[ch]`, `src/mesh/cage*.c`),
a test (`test_NAME` is tests/test_NAME.c), a target (`make NAME`), and a word with an underscore,
which must occur in the sources, the tests or the build's own files.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ["docs/guarantees.md", "docs/reliability.md", "SECURITY.md"]
FOLDERS = ("src", "cli", "tests", "cmake", "include", "docs", "scenes", "python", "web", "examples")
TEXTS = (".c", ".h", ".hpp", ".def", ".py", ".js", ".mjs", ".ts", ".yaml")
OUTSIDE = {"fy_parser_set_string"}  # names of other projects


def all_text():
    found = []
    for folder in ("src", "cli", "include", "tests", "cmake"):
        for name in glob.glob(os.path.join(ROOT, folder, "**", "*.*"), recursive=True):
            if os.path.isfile(name) and not name.endswith((".md", ".bin")):
                with open(name, errors="replace") as file:
                    found.append(file.read())
    for name in ("CMakeLists.txt", "Makefile", "CMakePresets.json"):
        with open(os.path.join(ROOT, name)) as file:
            found.append(file.read())
    return "\n".join(found)


def files_of(word):
    """The files that a path in a text stands for."""
    return glob.glob(os.path.join(ROOT, word))


def offences(page, text, sources, targets):
    for quote in re.findall(r"`([^`\n]+)`", text):
        for word in re.split(r"[\s,;()]+", quote):
            word = word.rstrip(".:")
            if word.startswith(tuple(f + "/" for f in FOLDERS)):
                # a folder that a target makes need not be there yet
                if not files_of(word) and not word.endswith("/"):
                    yield "%s: there is no %s" % (page, word)
            elif re.fullmatch(r"test_[a-z0-9_]+", word):
                if not files_of("tests/%s.c" % word):
                    yield "%s: there is no tests/%s.c" % (page, word)
            elif re.fullmatch(r"[A-Za-z]\w*_\w+", word) and word not in OUTSIDE:
                if not re.search(r"\b%s\b" % re.escape(word), sources):
                    yield "%s: nothing is called %s" % (page, word)
        made = re.match(r"make ([a-z-]+)", quote)
        if made and made[1] not in targets:
            yield "%s: there is no target %s" % (page, made[1])


def pages_of_sources():
    """Manuals that sources, docstrings and pages name and that do not exist."""
    count = 0
    for folder in ("src", "cli", "include", "python", "web", "integrations", "scenes", "examples"):
        for path, folders, files in os.walk(os.path.join(ROOT, folder)):
            folders[:] = [f for f in folders if f not in ("node_modules", "__pycache__")]
            for name in files:
                if not name.endswith(TEXTS):
                    continue
                with open(os.path.join(path, name), errors="replace") as file:
                    named = re.findall(r"\bdocs/[\w-]+\.md\b", file.read())
                count += len(named)
                for page in named:
                    if not os.path.exists(os.path.join(ROOT, page)):
                        yield "%s/%s: there is no %s" % (os.path.relpath(path, ROOT), name, page)
    if not count:
        yield "no source names a manual"


def main():
    sources = all_text()
    with open(os.path.join(ROOT, "Makefile")) as file:
        targets = set(re.findall(r"^([a-z-]+):", file.read(), re.M))
    found = []
    for page in PAGES:
        with open(os.path.join(ROOT, page)) as file:
            text = file.read()
        names = len(re.findall(r"`[^`\n]+`", text))
        if not names:
            found.append(page + ": names nothing")
        found += offences(page, text, sources, targets)
        print("%s: %d quotes" % (page, names))
    found += pages_of_sources()
    for one in found:
        print(one)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
