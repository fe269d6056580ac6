#!/usr/bin/env python3
"""The form of the sources, held by a test.

Layers. A folder of src/ may include what stands before it in LAYERS and never what stands behind:
the folders form layers, and data flows one way. Files directly in src/ are the lowest layer "base",
except those that ROOT gives a layer of their own. The command line and the npm module include
brio/brio.h, the one header INTERNAL that says which internals they need and why, and their own.

Integrators. A file of src/integrate/ that defines an integrator includes "integrator.h" or
"tableau.h" and names no internal function but brio__tableau*. With --objects, neither do the
undefined symbols of its object file: brio_stepper_*, brio__tableau* and the C library only.

Sizes. A function has at most 60 lines, a source at most 800; tests may be longer. Every source
opens with a comment that says what it computes. Every header has a guard of its own.

    tests/layers.py            checks; exit 1 with every offence
    tests/layers.py --layers   checks the layers only
    tests/layers.py --form     checks the sizes and the opening comments only
    tests/layers.py --objects FOLDER   checks the object files of integrators below a build folder
    tests/layers.py --graph    prints the layers and who includes whom, for docs/design.md
"""
import os
import re
import subprocess
import sys

ROOT_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FUNCTION_LINES = 60
SOURCE_LINES = 800

# From the bottom to the top, with what a layer is for.
LAYERS = [
    ("base", "status, memory, threads, lanes, fields, small vectors, distances"),
    ("mesh", "meshes, shapes, readers, writers"),
    ("energy", "element kernels"),
    ("force", "forces other than gravity: kinds, factors, formulas"),
    ("constraint", "constraints: kinds, points, conditions and their derivatives"),
    ("linear", "matrices, orderings, factorisations, conjugate gradients"),
    ("system", "constant system, mutable state, surfaces, skins"),
    ("contact", "collision detection, pairs, exact proof"),
    ("potential", "P: its members, summed in one place"),
    ("damping", "damping models and friction"),
    ("solve", "minimise: Newton, root, local-global, constraints"),
    ("integrate", "time integration methods and the stepper"),
    ("build", "from bodies to a system"),
    ("sim", "the simulation of the public interface, its ledger"),
    ("analyze", "eigenvalues, modes, stability"),
    ("output", "formats that write"),
    ("picture", "pictures"),
    ("scene", "scene files"),
    ("cluster", "several processes run one scene"),
    ("run", "a run: steps, checkpoints, resuming"),
]

# Sources directly in src/ that are not of the lowest layer, and sources in a folder that are of
# another layer than the folder.
ROOT = {}
MOVED = {}

INTERNAL = "cli/internal.h"  # what the command line and the npm module may see of src/


def read(path):
    with open(os.path.join(ROOT_FOLDER, path), encoding="utf-8") as file:
        return file.read()


def sources(*folders):
    found = []
    for folder in folders:
        for at, names, files in os.walk(os.path.join(ROOT_FOLDER, folder)):
            names[:] = sorted(n for n in names if n != "node_modules")
            for name in files:
                if name.endswith((".c", ".h")):
                    found.append(os.path.relpath(os.path.join(at, name), ROOT_FOLDER))
    return sorted(found)


def includes(path):
    """(line, name) of every include in quotes."""
    for number, line in enumerate(read(path).split("\n"), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match:
            yield number, match.group(1)


def resolve(path, name, folders):
    """The file that an include names, relative to the including file or to a folder; or None."""
    for folder in [os.path.dirname(path)] + folders:
        found = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(os.path.join(ROOT_FOLDER, found)):
            return found
    return None


def layer_of(path):
    """Of a file below src/."""
    inner = os.path.splitext(os.path.relpath(path, "src"))[0]
    if inner in MOVED:
        return MOVED[inner]
    folder, _, _ = inner.rpartition("/")
    return folder if folder else ROOT.get(inner, "base")


def edges():
    """{(from, to): [\"file:line: name\"]} between layers."""
    found = {}
    for path in sources("src"):
        here = layer_of(path)
        for number, name in includes(path):
            target = resolve(path, name, ["src"])
            if target is None or not target.startswith("src/") or not target.endswith((".h", ".c")):
                continue  # the public header, tables
            there = layer_of(target)
            if there != here:
                place = '%s:%d: #include "%s"' % (path, number, name)
                found.setdefault((here, there), []).append(place)
    return found


def cycles(graph):
    """One cycle for every set of layers that reach each other, as lists of layers."""
    next_of = {}
    for here, there in graph:
        next_of.setdefault(here, set()).add(there)

    def way(start, goal):
        before, queue = {start: None}, [start]
        for at in queue:
            for to in sorted(next_of.get(at, ())):
                if to == goal:
                    path = [goal, at]
                    while before[at] is not None:
                        at = before[at]
                        path.append(at)
                    return path[::-1]
                if to not in before:
                    before[to] = at
                    queue.append(to)
        return None

    seen, found = set(), []
    for here in sorted(next_of):
        if here in seen:
            continue
        loop = way(here, here)
        if loop:
            seen.update(loop)
            found.append(loop)
    return found


def check_layers():
    order = {name: i for i, (name, _) in enumerate(LAYERS)}
    offences, graph = [], edges()
    for layer in sorted({n for pair in graph for n in pair} - set(order)):
        offences.append("src/%s/ has no place in LAYERS (tests/layers.py)" % layer)
    for (here, there), places in sorted(graph.items()):
        if here in order and there in order and order[there] > order[here]:
            offences.append("%s must not include %s, which is above it:" % (here, there))
            offences += ["    " + place for place in places]
    for loop in cycles(graph):
        offences.append("a cycle of layers: " + " -> ".join(loop))
        for here, there in zip(loop, loop[1:]):
            offences.append("    " + graph[here, there][0])
    return offences


def check_program():
    """cli/ and integrations/ see the public header, INTERNAL and their own headers."""
    offences = []
    for path in sources("cli", "integrations"):
        if path == INTERNAL:
            continue
        for number, name in includes(path):
            target = resolve(path, name, ["cli", "src", "include"])
            if target and target.startswith("src/"):
                offences.append('%s:%d: #include "%s": take "%s", which says why it is needed'
                                % (path, number, name, os.path.basename(INTERNAL)))
    return offences


# public headers, and tableaus
INTEGRATOR_INCLUDES = {"integrator.h", "tableau.h", "brio/stages.h", "brio/by_body.h",
                       "brio/tets.h"}
OWN = re.compile(r"brio__(tableau|integrator_)")  # tableaus, and the descriptor itself


def integrators():
    """Files that define what list.def names; every name must have one."""
    listed = set(re.findall(r"^INTEGRATOR\((\w+)\)", read("src/integrate/list.def"), re.M))
    found, defined = [], set()
    for path in sources("src/integrate"):
        text = read(path)
        if not path.endswith(".c") or "BRIO_INTEGRATOR(" not in text:
            continue
        # BRIO_INTEGRATOR(name){, or a macro of the file over it: MACRO(name, ...)
        names = set(re.findall(r"^[A-Z_0-9]+\(\s*(\w+)", text, re.M)) & listed
        if names:
            found.append(path)
            defined |= names
    lost = ["src/integrate/list.def: no file defines %s" % name for name in listed - defined]
    return found, sorted(lost)


def check_integrators():
    """Integrators see the public interface only."""
    found, offences = integrators()
    for path in found:
        for number, name in includes(path):
            if name not in INTEGRATOR_INCLUDES:
                offences.append('%s:%d: #include "%s": an integrator takes public headers only'
                                % (path, number, name))
        for number, line in enumerate(read(path).split("\n"), 1):
            for name in re.findall(r"\bbrio__\w+", line):
                if not OWN.match(name):
                    offences.append("%s:%d: %s is not public" % (path, number, name))
    return offences


def check_objects(build):
    """What the object files of integrators leave to be linked is public."""
    found, offences = integrators()
    for path in found:
        name = os.path.join(build, "CMakeFiles/brio_objects.dir", path + ".o")
        listing = subprocess.run(["nm", "-u", "-P", name], capture_output=True, text=True)
        if listing.returncode:
            offences.append("%s: %s" % (name, listing.stderr.strip() or "nm fails"))
        symbols = [line.split()[0] for line in listing.stdout.splitlines() if line.strip()]
        if not any(symbol.startswith("brio_stepper_") for symbol in symbols):
            offences.append("%s: calls nothing of the stepper; is it the right file?" % name)
        for symbol in symbols:
            if "brio" in symbol and not re.match(r"brio_stepper_|brio__tableau", symbol):
                offences.append("%s: needs %s, which is not public" % (path, symbol))
    return offences


def functions(text):
    """(line, length, first line) of every function definition, signature included."""
    lines, start = text.split("\n"), None
    for i, line in enumerate(lines):
        if line == "{":
            k = i - 1
            while k > 0 and lines[k] and not lines[k].startswith(("}", "/*", " *", "#")):
                k -= 1
            start = k + 1
        elif line.startswith("}") and start is not None:
            yield start + 1, i - start + 1, lines[start]
            start = None


def check_form():
    offences, guards = [], {}
    for path in sources("src", "cli", "integrations", "examples", "include"):
        text = read(path)
        guard = re.search(r"^#ifndef (\w+)\n#define \1$", text, re.M)
        if guard and path.endswith(".h"):
            # of two headers with one guard, the second is not seen by a file that includes both
            other = guards.setdefault(guard.group(1), path)
            if other != path:
                offences.append("%s: has the guard %s of %s" % (path, guard.group(1), other))
        if not text.startswith("/*"):
            offences.append("%s:1: does not open with a comment that says what it computes" % path)
        # The public header is one file by design: it is the interface and its documentation.
        length = text.count("\n")
        if length > SOURCE_LINES and not path.startswith("include/"):
            offences.append("%s: %d lines, more than %d" % (path, length, SOURCE_LINES))
        for line, size, name in functions(text):
            if size > FUNCTION_LINES:
                offences.append("%s:%d: a function of %d lines, more than %d: %s"
                                % (path, line, size, FUNCTION_LINES, name))
    return offences


def print_graph():
    graph, names = edges(), [name for name, _ in LAYERS]
    used = {name for pair in graph for name in pair}
    shown = [name for name in names if name in used]
    width = max(map(len, shown))
    print("```text")
    for name in reversed(shown):
        below = [n for n in shown if (name, n) in graph]
        print("%-*s  %s" % (width, name, "-> " + " ".join(reversed(below)) if below else ""))
    print("```\n\n| layer | what | includes |\n|---|---|---|")
    for name, what in LAYERS:
        if name in used:
            below = ", ".join(n for n in shown if (name, n) in graph)
            print("| %s | %s | %s |" % (name, what, below or "nothing"))


def tell(offences):
    for offence in offences:
        print(offence)
    print("%d offences" % sum(not o.startswith(" ") for o in offences))
    return 1 if offences else 0


def main(arguments):
    if arguments == ["--graph"]:
        print_graph()
        return 0
    if len(arguments) == 2 and arguments[0] == "--objects":
        return tell(check_objects(arguments[1]))
    if arguments not in ([], ["--layers"], ["--form"]):
        sys.stderr.write(__doc__)
        return 2
    offences = []
    if arguments != ["--form"]:
        offences += check_layers() + check_program() + check_integrators()
    if arguments != ["--layers"]:
        offences += check_form()
    return tell(offences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
