#!/usr/bin/env python3
"""Puts results of `brio reproduce NAME --report FOLDER` into docs/reproduction.md: the sections
that FOLDER/reproduction.md has replace those of the page, all others stay as they are, with their
own day and commit. The tables at the top are counted again from all sections, and the causes are
those of cli/reproduce/causes.def.

    brio reproduce dinev2018-fig8 --report folder
    docs/merge_reproduction.py folder
    docs/merge_reproduction.py --check     # are the tables at the top those of the sections?
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reproduction.md"
TABLES = ROOT / "cli" / "reproduce"
HEAD = """
# The papers, reproduced

Every table and figure that brio runs again, with the paper's figure, brio's, the limit and the
verdict. The page is made entry by entry: `brio reproduce NAME --report FOLDER` runs one, and
`docs/merge_reproduction.py FOLDER` puts it here. So entries are of different days and commits; each
says its own, with its processor time. `brio reproduce --all --report FOLDER` makes a page of one
commit.

met: within the limit. missed: not. refuted: a statement of the paper that does not hold;
docs/errata.md derives what holds instead. Without a verdict: a number for information.
"""
ORIGIN = re.compile(r"^(\d+) met, (\d+) missed, (\d+) refuted; ([^;,]+)[;,]", re.M)


def table(name, macro):
    """The strings of each line MACRO("...", "...") of a .def file."""
    text = (TABLES / name).read_text()
    rows = re.findall(r"^%s\((.*)\)$" % macro, text, re.M)
    return [[part.replace('\\"', '"') for part in re.findall(r'"((?:[^"\\]|\\.)*)"', row)]
            for row in rows]


def names():
    """All reproductions, in their order."""
    text = (TABLES / "list.def").read_text()
    return [name.replace("_", "-") for name in re.findall(r"^REPRODUCE\((\w+)\)$", text, re.M)]


def sections(path):
    """The text of each experiment by its name."""
    text = path.read_text().partition("\n## Claims\n")[2]
    parts = re.split(r"^### (.+)$", text, flags=re.M)
    return {name.strip(): "### " + name + body.rstrip("\n") + "\n"
            for name, body in zip(parts[1::2], parts[2::2])}


def cells(line):
    """The cells of a row of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def seconds(text):
    """Seconds of "12.3 s", "3:32 min" or "1:02:03 h"."""
    number, unit = text.split()
    total = 0.0
    for part in number.split(":"):
        total = total * 60 + float(part)
    return total * {"s": 1, "min": 1, "h": 1}[unit]


def clock(total):
    """The same as brio writes it."""
    if total < 10:
        return f"{total:.2f} s" if total < 1 else f"{total:.1f} s"
    if total < 100:
        return f"{total:.1f} s"
    minutes, rest = divmod(round(total), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d} min"
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d} h"


def row(parts):
    return "| " + " | ".join(parts) + " |\n"


def cause_of(name, claim, causes):
    for reproduction, words, cause in causes:
        if reproduction == name and words in claim.replace("\\|", "|"):
            return cause
    return "not known"


def paper_of(section):
    return re.search(r"\((\w+\d{4})\)\.", section.replace("\n", " ")).group(1)


def page_of(found):
    """The page of these sections."""
    order = names()
    causes, untested = table("causes.def", "CAUSE"), table("untested.def", "UNTESTED")
    prefixes = {"you": "You2026", "dinev": "Dinev2018", "kharevych": "Kharevych2006",
                "shinya": "Shinya2004", "gentle": "Gentle2025", "brio": "Brio2026"}
    papers, count, missed = [], {}, ""
    for name in order:
        paper = prefixes[re.match(r"[a-z]+", name).group(0)]
        if paper not in papers:
            papers.append(paper)
        c = count.setdefault(paper, [0, 0, 0, 0, 0.0])
        if name not in found:
            continue
        assert paper_of(found[name]) == paper, name
        met, lost, refuted, time = ORIGIN.search(found[name]).groups()
        for k, value in enumerate([1, int(met), int(lost), int(refuted), seconds(time)]):
            c[k] += value
        for line in found[name].splitlines():
            if line.startswith("| ") and cells(line)[-1] == "MISSED":
                claim, paper_value, ours, limit, _ = cells(line)
                cause = cause_of(name, claim, causes)
                missed += row([name, claim, paper_value, ours, limit, cause])

    text = HEAD + "\n" + row(["paper", "experiments", "claims judged", "met", "missed", "refuted",
                              "not tested", "time"]) + "|---" * 8 + "|\n"
    total = [0, 0, 0, 0, 0.0]
    for paper in papers + ["all"]:
        c = count.get(paper, total)
        left = sum(paper in (u[0], "all") for u in untested)
        text += row([paper, str(c[0]), str(c[1] + c[2] + c[3]), str(c[1]), str(c[2]), str(c[3]),
                     str(left), clock(c[4])])
        if paper != "all":
            total = [a + b for a, b in zip(total, c)]
    text += "\n\n## Missed\n\n" + row(["experiment", "claim", "paper", "brio", "limit", "cause"])
    text += "|---" * 6 + "|\n" + missed + "\n\n## Not tested\n\n" + row(["paper", "what", "reason"])
    text += "|---" * 3 + "|\n"
    for entry in untested:
        text += row(entry)
    for name in order:
        if name not in found:
            paper = prefixes[re.match(r"[a-z]+", name).group(0)]
            text += row([paper, name, "not run yet"])
    text += "\n\n## Claims\n\n\n"
    return text + "\n\n".join(found[name] for name in order if name in found)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = sections(PAGE)
    gone = [name for name in found if name not in names()]
    if sys.argv[1] == "--check":
        page = page_of(found)
        lines = [line for line in page.splitlines() if line.endswith("| not known |")]
        if gone:
            sys.exit(f"docs/reproduction.md has {gone}, which cli/reproduce/list.def has not")
        if lines:
            sys.exit("cli/reproduce/causes.def has no cause for\n" + "\n".join(lines))
        if page != PAGE.read_text():
            sys.exit("docs/reproduction.md is not that of its sections and of "
                     "cli/reproduce/causes.def; docs/merge_reproduction.py . makes it")
        return
    for name in gone:
        del found[name]
    new = pathlib.Path(sys.argv[1]) / "reproduction.md"
    if new.exists():
        found.update(sections(new))
    PAGE.write_text(page_of(found))


main()
