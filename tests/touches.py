#!/usr/bin/env python3
"""What a change touches, held by a test: the table "What a change touches" of docs/design.md.

Names. The members of a family (FAMILIES) are known by their own file and by one line of a table.
No other source of src/ or cli/ refers to the symbol of a member, and none of src/ or of the
commands spells its name, except where ALLOWED says why. (Benchmarks, reproductions and importers
choose members as scenes do: cli/bench, cli/reproduce and cli/import may spell names.)

Members. In a copy of the tree one member of each family is added: a file, made from one that is
there (NEW), and a line. The file and the sources that read the line are compiled and linked with
the rest of the build; then `brio` must show the new member. So nothing else had to be touched.

    tests/touches.py          checks the names
    tests/touches.py BUILD    checks both; BUILD: the folder of a finished build
"""
import concurrent.futures
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# family: table, macro of its lines, symbol of a member, whether its name is distinctive
FAMILIES = {
    "energy": ("src/energy/list.def", "ENERGY", "brio__energy_%s", False),
    "material": ("src/energy/list.def", "ENERGY", "brio__energy_%s", True),
    "law": ("src/energy/laws.def", "LAW", "brio__law_%s", True),
    "integrator": ("src/integrate/list.def", "INTEGRATOR", "brio__integrator_%s", True),
    "damping model": ("src/damping/list.def", "DAMPING", "brio__damping_%s", True),
    "force": ("src/force/list.def", "FORCE", "brio__force_%s", False),
    "constraint": ("src/constraint/list.def", "CONSTRAINT", "brio__constraint_%s", False),
    "solver": ("src/solve/list.def", "SOLVER", "brio__solve_%s", True),
    "linear solver": ("src/linear/list.def", "LINEAR", "brio__solver_%s", True),
    "member": ("src/potential/members.def", "MEMBER", "brio__member_%s", False),
    "mesh reader": ("src/mesh/readers.def", "READER", "brio__reader_%s", False),
    "mesh writer": ("src/mesh/writers.def", "WRITER", "brio__writer_%s", False),
    "shape": ("src/mesh/shapes.def", "SHAPE", "brio__shape_%s", False),
    "frame format": ("src/output/list.def", "FRAMES", "brio__frames_%s", False),
    "section": ("src/scene/sections.def", "SECTION", "brio__section_%s", False),
    "command": ("cli/commands.def", "COMMAND", "command_%s", False),
    "bench": ("cli/bench/list.def", "BENCH", "bench_%s", False),
    "reproduction": ("cli/reproduce/list.def", "REPRODUCE", "reproduction_%s", False),
}

# Materials are the energies whose names users write; those of other energies are plain words.
MATERIAL = re.compile(r"TET_DESCRIPTOR|MEMBRANE_DESCRIPTOR|BRIO_ELEMENT_(%s)\b" % "|".join(
    re.findall(r"^ELEMENT\((\w+),.* 1\)$", open(os.path.join(
        ROOT, "src/energy/element.def"), encoding="utf-8").read(), re.M)))

# (member, file): why a source that is not its own may name it.
ALLOWED = {
    ("backward_euler", "src/scene/scene.c"): "the default of a scene",
    ("backward_euler", "src/integrate/bdf.c"): "the tableau that starts it",
    ("static", "src/analyze/stability.c"): "why it has no region of stability",
    ("static", "src/sim/sim.c"): "forces without a potential are not for it",
    ("static", "src/scene/questions.c"): "nothing moves in its steps",
    ("pbd_verlet", "src/analyze/stability.c"): "why it has no region of stability",
    ("stable_neo_hookean", "src/integrate/springs.c"): "the constraints of a tet are this material",
    ("hooke", "src/analyze/stability.c"): "the one spring of the linear test problem",
    ("ether_drag", "src/analyze/stability.c"): "the damper of the linear test problem",
    ("ipc", "src/build/contact.c"): "the default of brio_default_contact",
    ("newton", "src/scene/scene.c"): "the default of a scene",
    ("newton", "src/scene/solver.c"): "the default of a scene",
    ("auto", "src/scene/solver.c"): "the default of a scene",
    ("auto", "src/scene/contact.c"): "a value that the scene leaves open",
    ("auto", "cli/settings.c"): "a value that the scene leaves open",
    ("auto", "src/cluster/cluster.c"): "means petsc on several processes",
    ("petsc", "src/cluster/cluster.c"): "the solver of several processes",
    ("petsc", "src/scene/solver.c"): "says how to get it where it is not built",
    ("ldlt", "src/linear/auto.c"): "auto chooses among direct solvers",
    ("multilevel", "src/linear/auto.c"): "auto chooses it for large bodies",
    ("ldlt", "src/linear/subset.c"): "solves the coarsest level of multilevel",
    ("pcg", "src/analyze/modes.c"): "of all the one that multiplies; nothing is solved",
    ("affine", "src/build/body.c"): "a solid of kind affine takes this energy",
    ("affine", "src/build/kinds.c"): "the kind of body has the same name",
    ("mass", "cli/check.c"): "a word of JSON",
    ("mass", "src/build/edit.c"): "a removed body is a body of no points",
    ("check", "cli/proof.c"): "writes the files of that command, and speaks in its name",
    ("run", "cli/main.c"): "the one command that runs on several processes",
}
ALLOWED.update({(member, "src/integrate/tableau.c"): "a tableau of that name" for member in (
    "backward_euler", "trapezoidal", "sdirk2", "tr_bdf2", "forward_euler", "rk2", "heun", "rk4")})

# How a member is added: the file it is made from, the words replaced in it, where its line goes,
# the sources that read the table, and the command that must then print `shown`. What has no command
# is only checked by the compiler: kernels with all obstacles take long, and a member changes a
# struct
# that a hundred sources see.
NEW = {
    "tet material": dict(
        source="src/energy/arap.c", made="src/energy/touched.c",
        words=[("MATERIAL arap", "MATERIAL touched"), ("BRIO_ENERGY(arap)", "BRIO_ENERGY(touched)"),
               ('"arap"', '"touched"')],
        table="src/energy/list.def", line="ENERGY(touched)", registry=["src/energy/energy.c"],
        command=["list", "materials"], shown="touched "),
    "integrator": dict(
        source="src/integrate/backward_euler.c", made="src/integrate/touched.c",
        words=[("(backward_euler)", "(touched)"), ('"backward-euler"', '"touched"')],
        table="src/integrate/list.def", line="INTEGRATOR(touched)",
        registry=["src/integrate/registry.c"],
        command=["list", "integrators"], shown="touched "),
    "damping model": dict(
        source="src/damping/ether_drag.c", made="src/damping/touched.c",
        words=[("(ether_drag)", "(touched)"), ('"ether-drag"', '"touched"')],
        table="src/damping/list.def", line="DAMPING(touched)", registry=["src/damping/damping.c"],
        command=["list", "damping"], shown="touched "),
    "force": dict(
        source="src/force/vortex.c", made="src/force/touched.c",
        words=[("(vortex)", "(touched)"), ('"vortex"', '"touched"')],
        table="src/force/list.def", line="FORCE(touched)", registry=["src/force/registry.c"],
        command=["list", "forces"], shown="touched "),
    "constraint": dict(
        source="src/constraint/point_on_plane.c", made="src/constraint/touched.c",
        words=[("(point_on_plane)", "(touched)"), ('"point-on-plane"', '"touched"')],
        table="src/constraint/list.def", line="CONSTRAINT(touched)",
        registry=["src/constraint/registry.c"],
        command=["list", "constraints"], shown="touched "),
    "solver": dict(
        source="src/solve/root.c", made="src/solve/touched.c",
        words=[("(root)", "(touched)"), ('"root"', '"touched"')],
        table="src/solve/list.def", line="SOLVER(touched)", registry=["src/solve/solver.c"],
        command=["list", "solvers"], shown="touched "),
    "linear solver": dict(
        source="src/linear/pcg.c", made="src/linear/touched.c",
        words=[("brio__solver_pcg", "brio__solver_touched_linear"), ('"pcg"', '"touched-linear"')],
        table="src/linear/list.def", line="LINEAR(touched_linear)",
        registry=["src/linear/linear.c"],
        command=["list", "solvers"], shown="touched-linear "),
    "mesh reader and writer": dict(
        source="src/mesh/off.c", made="src/mesh/touched.c",
        words=[("brio__reader_off", "brio__reader_touched"), ('".off"', '".touched"'),
               ("brio__writer_off", "brio__writer_touched")],
        table="src/mesh/readers.def", line="READER(touched)", registry=["src/mesh/readers.c"],
        also=("src/mesh/writers.def", "WRITER(touched)", ["src/mesh/writers.c"]),
        command=["list", "meshes"], shown=".touched "),
    "frame format": dict(
        source="src/output/ply.c", made="src/output/touched.c",
        words=[("(ply)", "(touched)"), ('"ply"', '"touched"')],
        table="src/output/list.def", line="FRAMES(touched)", registry=["src/output/frames.c"],
        command=["list", "frames"], shown="touched "),
    "scene key": dict(
        table="src/scene/output.c", before="    KEY_END};", registry=["src/scene/output.c"],
        line='    {KEY_REAL("touched", "m", 1, 0, 2, "A key of its own.")},',
        command=["help", "scene"], shown="touched "),
    "command": dict(
        source="cli/cite.c", made="cli/touched.c",
        words=[("command_cite", "command_touched"), ('"cite"', '"touched"')],
        table="cli/commands.def", line="COMMAND(touched)", registry=["cli/main.c"],
        command=["help"], shown="touched "),
    "bench": dict(
        source="cli/bench/newton.c", made="cli/bench/touched.c",
        words=[("bench_newton", "bench_touched")],
        table="cli/bench/list.def", line='BENCH("|", touched, "one more.")',
        registry=["cli/bench/bench.c"],
        command=["help", "bench"], shown="touched: one more."),
    "reproduction": dict(
        source="cli/reproduce/you2026_twist.c", made="cli/reproduce/touched.c",
        words=[("(you2026_fig7)", "(touched)"), ('"you2026-fig7"', '"touched"')],
        table="cli/reproduce/list.def", line="REPRODUCE(touched)",
        registry=["cli/reproduce/reproduce.c"],
        command=["reproduce", "list"], shown="touched "),
    "member of the potential": dict(
        source="src/potential/potential.c", made="src/potential/member_touched.c", text="""
/* A constant energy. */
#include "potential.h"

static BrioStatus create(const BrioSystem *system, BrioSolveTotals *totals, void **self)
{
    (void)system;
    *self = totals;
    return BRIO_OK;
}

static void destroy(void *self) { (void)self; }

static double value(void *self, const BrioPose *pose, double *gradient, double *term_energy)
{
    (void)self;
    (void)gradient;
    (void)term_energy;
    return pose->state->time;
}

BRIO_MEMBER(touched){.name = "touched", .create = create, .destroy = destroy, .value = value};
""",
        table="src/potential/members.def", line="MEMBER(touched)",
        registry=["src/potential/potential.c", "src/sim/ledger.c"]),
    "contact law": dict(
        source="src/energy/law_penalty.c", made="src/energy/law_touched.c",
        words=[("LAW_SYMBOL penalty", "LAW_SYMBOL touched"), ('"penalty"', '"touched"'),
               ("BRIO_LAW(penalty)", "BRIO_LAW(touched)")],
        table="src/energy/laws.def", line="LAW(touched)",
        registry=["src/energy/energy.c", "src/contact/law.c"]),
    "obstacle": dict(
        source="src/energy/obstacle_sphere.h", made="src/energy/obstacle_touched.h",
        words=[("sphere_", "touched_"), ("OBSTACLE(sphere)", "OBSTACLE(touched)"),
               ('"sphere"', '"touched"'), ("(sphere", "(touched"), ("OBSTACLE_SPHERE", "TOUCHED")],
        table="src/energy/obstacles.def", line='#include "obstacle_touched.h"',
        registry=["src/energy/law_touched.c", "src/contact/obstacle.c"]),
}


def read(path, root=ROOT):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def write(path, text, root):
    with open(os.path.join(root, path), "w", encoding="utf-8") as file:
        file.write(text)


def plain(text):
    """Without comments, which may name what they like."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def sources():
    found = {}
    for folder in ("src", "cli"):
        for end in ("c", "h"):
            for path in glob.glob(os.path.join(ROOT, folder, "**", "*." + end), recursive=True):
                name = os.path.relpath(path, ROOT)
                found[name] = plain(read(name))
    return found


def member_files(table, symbol, member, texts):
    """The files that define a member: by its symbol, or by a macro next to the table."""
    defined = re.compile(r"^(?:const \w+ %s = |int %s\()" % (symbol, symbol), re.M)
    called = re.compile(r"^[A-Z_]+\(\s*%s\b" % member, re.M)
    beside = os.path.dirname(table) + "/"
    return [p for p, t in texts.items()
            if symbol in t and defined.search(t) or p.startswith(beside) and called.search(t)]


def check_names():
    offences, used, texts = [], set(), sources()
    for family, (table, macro, symbol, distinct) in FAMILIES.items():
        lines = re.findall(r"^%s\((?:\"[^\"]*\", )?(\w+)" % macro, read(table), re.M)
        if not lines:
            offences.append("%s: no line of the form %s(...)" % (table, macro))
        for member in lines:
            home = member_files(table, symbol % member, member, texts)
            if len(home) != 1:
                offences.append("%s %s of %s is defined in %s, not in one file"
                                % (family, member, table, ", ".join(home) or "no file"))
                continue
            if family == "material" and not MATERIAL.search(texts[home[0]]):
                continue
            symbols = re.compile(r"\b%s(?:_baseline|_avx2|_avx512)?\b" % (symbol % member))
            name = '"%s"' % member.replace("_", "-")
            for path, text in sorted(texts.items()):
                if path == home[0]:
                    continue
                hit = symbols.search(text) if symbol % member in text else None
                if not hit and distinct and name in text:
                    uses = path.startswith(("cli/bench/", "cli/reproduce/", "cli/import/"))
                    hit = None if uses else re.search(re.escape(name), text)
                if not hit:
                    continue
                if (member, path) in ALLOWED:
                    used.add((member, path))
                    continue
                offences.append("%s:%d: names %s, the %s of %s; ask its family, or add the reason "
                                "to ALLOWED (tests/touches.py)"
                                % (path, text.count("\n", 0, hit.start()) + 1, hit.group(), family,
                                   home[0]))
    for member, path in sorted(set(ALLOWED) - used):
        offences.append("tests/touches.py: ALLOWED has %s in %s, which does not name it"
                        % (member, path))
    return offences


# Tables that are no families of plug-ins.
OTHER_TABLES = {
    "src/citations.def": "publications",
    "src/energy/element.def": "kinds of elements: a line here and a row in src/build/kinds.c",
    "src/energy/presets.def": "materials with values: a line is all",
    "src/energy/obstacles.def": "includes headers, which no other source may name",
    "cli/reproduce/untested.def": "claims of papers that no reproduction judges: a line is all",
    "cli/reproduce/causes.def": "why lines are missed: a line is all",
    "cli/reproduce/stored.def": "figures of long runs, which the program writes",
}


def check_tables():
    """Every table is known here and named in docs/design.md."""
    offences, design = [], read("docs/design.md")
    known = {row[0] for row in FAMILIES.values()} | set(OTHER_TABLES)
    for path in glob.glob(os.path.join(ROOT, "*", "**", "*.def"), recursive=True):
        table = os.path.relpath(path, ROOT)
        if not table.startswith(("src/", "cli/")):
            continue
        if table not in known:
            offences.append("%s is in neither FAMILIES nor OTHER_TABLES (tests/touches.py)" % table)
        if "`%s`" % table not in design:
            offences.append("docs/design.md does not say what a line of %s is for" % table)
    return offences


# ---- a new member of each family ------------------------------------------------------------


def link_command(build):
    """The words of the command that links `brio`, as the build has it."""
    text = os.path.join(build, "CMakeFiles", "brio_cli.dir", "link.txt")
    if os.path.exists(text):
        with open(text, encoding="utf-8") as file:
            return shlex.split(file.read())
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", "brio_cli"],
                           stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    for part in lines[-2].split(" && "):
        if " -o brio " in part + " ":
            return shlex.split(part)
    raise ValueError("no command that links brio in " + build)


def compile_words(entry, copy, source, target):
    """The command of a compilation, for a source of the copy; without a target it only checks."""
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1] = target or os.devnull
    words[words.index("-c") + 1] = os.path.join(copy, source)
    for i, word in enumerate(words):
        for folder in ("src", "include", "cli"):
            if word == "-I" + os.path.join(ROOT, folder):
                words[i] = "-I" + os.path.join(copy, folder)
    words = [w for w in words if w != "-MD"] + ["-O0"]
    return words if target else words + ["-fsyntax-only"]


def add_member(copy, new):
    """Makes the file and the lines; returns {source to compile: source whose command it takes}."""
    jobs = {}
    tables = [(new["table"], new["line"], new["registry"])]
    if "also" in new:
        tables.append(new["also"])
    for table, line, registry in tables:
        text = read(table, copy)
        at = text.index(new["before"]) if "before" in new else len(text)
        write(table, text[:at] + line + "\n" + text[at:], copy)
        jobs.update({name: name for name in registry})
    if "source" in new:
        text = new.get("text") or read(new["source"], copy)
        for old, word in new.get("words", []):
            if old not in text:
                raise ValueError("%s has no %s" % (new["source"], old))
            text = text.replace(old, word)
        write(new["made"], text, copy)
        if new["made"].endswith(".c"):
            jobs[new["made"]] = new["source"]
    return jobs


def compile_all(copy, jobs, entries, check_only):
    """{new object: object of the build that it replaces, or None}, and the compiler's messages."""
    work, objects, offences = [], {}, []
    for source, like in jobs.items():
        if like not in entries:
            offences.append("%s is not compiled by the build" % like)
        for entry in entries.get(like, []):
            # a kernel is checked for one instruction set, and as what it is in addition
            if check_only and re.search(r"kernels_avx", entry["output"]):
                continue
            target = None if check_only else os.path.join(copy, "%d.o" % len(work))
            work.append((source, compile_words(entry, copy, source, target), entry["directory"]))
            if target:
                objects[target] = entry["output"] if source == like else None

    def run(item):
        return subprocess.run(item[1], cwd=item[2], stderr=subprocess.PIPE, text=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (source, _, _), done in zip(work, pool.map(run, work)):
            if done.returncode:
                offences.append("%s does not compile with a new line:\n%s" % (source, done.stderr))
    return objects, offences


def link(build, program, objects):
    """Links `brio` as the build does, with new objects instead of its own; the messages."""
    words = link_command(build)
    words[words.index("-o") + 1] = program
    replaced = {old: new for new, old in objects.items() if old}
    words = [replaced.pop(w, w) for w in words]
    # objects of the library stand before it, and so instead of those inside
    at = min(i for i, w in enumerate(words) if w.endswith(".o"))
    words[at:at] = [o for o, old in objects.items() if not old] + list(replaced.values())
    done = subprocess.run(words, cwd=build, stderr=subprocess.PIPE, text=True)
    return ["a file and a line are not enough to link brio:\n" + done.stderr] * (done.returncode != 0)


def build_entries(build):
    """{source: its entries in the build's list of compilations}, of library and program."""
    entries = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            words = shlex.split(entry["command"])
            entry["output"] = words[words.index("-o") + 1]
            if re.search(r"brio_(objects|kernels|commands)", entry["output"]):
                entries.setdefault(os.path.relpath(entry["file"], ROOT), []).append(entry)
    return entries


def check_members(build):
    entries = build_entries(build)
    shown = {k: n for k, n in NEW.items() if "shown" in n}
    with tempfile.TemporaryDirectory(prefix="brio-touches-") as copy:
        for folder in ("src", "include", "cli"):
            shutil.copytree(os.path.join(ROOT, folder), os.path.join(copy, folder))
        jobs, program = {}, os.path.join(copy, "brio")
        for new in shown.values():
            jobs.update(add_member(copy, new))
        objects, offences = compile_all(copy, jobs, entries, False)
        offences += [] if offences else link(build, program, objects)
        if offences:
            return offences
        for what, new in shown.items():
            done = subprocess.run([program] + new["command"], stdout=subprocess.PIPE, text=True)
            if new["shown"] not in done.stdout:
                offences.append("a new %s (%s, and a line of %s) is not shown by `brio %s`"
                                % (what, new.get("made", "a row"), new["table"],
                                   " ".join(new["command"])))
        jobs = {}
        for new in NEW.values():
            if "shown" not in new:
                jobs.update(add_member(copy, new))
        # the kernels of the new law contain the new obstacle
        jobs[NEW["contact law"]["made"]] = NEW["contact law"]["source"]
        return offences + compile_all(copy, jobs, entries, True)[1]


def main(arguments):
    if len(arguments) > 1 or arguments[:1] == ["--help"]:
        sys.stderr.write(__doc__)
        return 2
    offences = check_names() + check_tables() + (check_members(os.path.abspath(arguments[0])) if arguments else [])
    for offence in offences:
        print(offence)
    print("%d offences" % len(offences))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
