"""Makes docs/python-api.md from the docstrings of the package:  PYTHONPATH=python python3
python/api.py [--check]"""
import inspect
import os
import re
import sys

import brio

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "python-api.md")

SECTIONS = (
    ("Simulations", ("load", "parse", "open_run", "Sim", "Ledger", "State", "Matrix", "Iteration")),
    ("Building from arrays", ("Builder", "Edit")),
    ("Taking part", ("Hand", "Attachment", "Contact")),
    ("Runs and results", ("run", "RunResult", "Progress", "Run", "Trajectory", "read_energy")),
    ("Commands", ("compare", "command", "program")),
    (
        "Your own",
        ("integrator", "Stepper", "Trait", "Rejected", "energy", "Elements", "force", "law")
        + ("Field", "load_plugin"),
    ),
    (
        "What there is",
        ("scenes", "integrators", "materials", "forces", "laws", "version", "isa")
        + ("threads", "set_threads", "set_log"),
    ),
    ("Errors", ("Error", "Status")),
)


def signature(name, thing):
    """How it is called, one parameter a line where it is long."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    keep = [p for p in found.parameters.values() if p.name != "self"]
    parts = []
    for p in keep:
        text = {p.VAR_KEYWORD: "**", p.VAR_POSITIONAL: "*"}.get(p.kind, "") + p.name
        parts.append(text if p.default is p.empty else f"{text}={p.default!r}")
    return f"{name}({', '.join(parts)})"


def explain(thing):
    """The docstring: its words as they are, its examples as code."""
    lines, code, out = inspect.cleandoc(thing.__doc__ or "").splitlines(), False, []
    for line in lines:
        starts = line.startswith((">>>", "    >>>"))
        if starts and not code:
            out.append("```pycon")
            code = True
        elif code and not line.strip():
            out.append("```")
            code = False
        out.append(line if code else line.replace("``", "`"))
    return "\n".join(out + (["```"] if code else []))


def members(kind):
    """Methods and properties of a class that have words of their own."""
    for name, thing in vars(kind).items():
        if isinstance(thing, property):
            thing, call = thing.fget, name
        elif inspect.isfunction(thing):
            call = None
        else:
            continue
        if name.startswith("_") or not thing.__doc__:
            continue
        yield call or signature(name, thing), thing


def entry(name):
    thing = getattr(brio, name)
    call = signature(name, thing)
    if inspect.isclass(thing) and (thing.__init__ is object.__init__ or name in HANDED):
        call = name  # nobody makes one by hand
    yield f"### `brio.{call}`\n"
    yield explain(thing) + "\n"
    if inspect.isclass(thing) and name not in ("Status", "Trait"):
        for called, member in members(thing):
            words = explain(member)
            if "```" in words or "\n\n" in words:
                yield f"**`{called}`**\n\n{words}\n"
            else:
                yield f"**`{called}`** — {re.sub(chr(10), ' ', words)}\n"
    elif inspect.isclass(thing):
        yield ", ".join(f"`{one.name}` = {int(one)}" for one in thing) + "\n"


HANDED = (
    "Sim",
    "State",
    "Ledger",
    "Hand",
    "Attachment",
    "Contact",
    "Edit",
    "Trajectory",
    "Stepper",
) + (
    "Elements",
    "Iteration",
    "Progress",
    "RunResult",
    "Status",
    "Trait",
    "Error",
)


def page():
    told = [name for _, names in SECTIONS for name in names]
    missing = set(brio.__all__) ^ set(told)
    if missing:
        raise SystemExit(f"python/api.py: {', '.join(sorted(missing))} belong to no section")
    out = [
        "# The Python interface\n",
        (
            "All of `brio`, from its docstrings: `python/api.py` makes this page."
            " [python.md](python.md) is the manual. Examples are tests.\n"
        ),
    ]
    for title, names in SECTIONS:
        out.append(f"## {title}\n")
        for name in names:
            out += entry(name)
    return "\n".join(out)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != page():
                raise SystemExit(
                    "docs/python-api.md is not that of the package: python3 python/api.py"
                )
    else:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page())
