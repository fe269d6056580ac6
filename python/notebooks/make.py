"""Makes the notebooks from the scripts next to it:  make.py [--check]

A script is divided by lines `# %%`, a cell of code, and `# %% [markdown]`, a cell of text in
comments.
Outputs are not kept. --check: says whether the notebooks are those of the scripts.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = ("first_soft_body", "own_integrator")


def cells(text):
    """(kind, lines) of each cell."""
    found = []
    for line in text.splitlines():
        if line.startswith("# %%"):
            found.append(("markdown" if "[markdown]" in line else "code", []))
        elif found:
            found[-1][1].append(line)
    for kind, lines in found:
        while lines and not lines[0]:
            lines.pop(0)
        while lines and not lines[-1]:
            lines.pop()
        if kind == "markdown":
            lines[:] = [line[2:] for line in lines]
    return found


def notebook(text):
    """The notebook of a script, as text."""
    made = []
    for number, (kind, lines) in enumerate(cells(text)):
        source = [line + "\n" for line in lines[:-1]] + lines[-1:]
        cell = {"cell_type": kind, "id": f"cell{number}", "metadata": {}, "source": source}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    whole = {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main():
    for name in SCRIPTS:
        made = notebook((HERE / f"{name}.py").read_text(encoding="utf-8"))
        file = HERE / f"{name}.ipynb"
        if sys.argv[1:] != ["--check"]:
            file.write_text(made, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != made:
            raise SystemExit(
                f"{file.name} is not that of {name}.py: python3 python/notebooks/make.py"
            )


if __name__ == "__main__":
    main()
