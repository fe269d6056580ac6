"""Checks a built site:  check.py SITE
Every link leads to a file and an anchor of the site, every picture and script exists, every
formula was typeset, and the page of the C interface has every function of the headers. Addresses
outside of the site are not visited."""
import os
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote


class Page(HTMLParser):
    """The anchors of a page, and what it points to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.targets, self.formulas, self.failed = set(), [], 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        classes = (attrs.get("class") or "").split()
        self.formulas += "katex" in classes
        self.failed += "katex-error" in classes
        if attrs.get("id"):
            self.anchors.add(attrs["id"])
        for name in ("href", "src"):
            if attrs.get(name) is not None:
                self.targets.append(attrs[name])


def read_site(site):
    pages = {}
    for name in sorted(os.listdir(site)):
        if name.endswith(".html"):
            with open(os.path.join(site, name), encoding="utf-8") as file:
                pages[name] = file.read()
    return pages


def broken_links(site, parsed):
    count, faults = 0, []
    for name, page in parsed.items():
        for target in page.targets:
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            path = os.path.normpath(unquote(path)) if path else name
            if not os.path.exists(os.path.join(site, path)):
                faults.append("%s: %s is not there" % (name, target))
            elif anchor and path in parsed and unquote(anchor) not in parsed[path].anchors:
                faults.append("%s: %s: there is no such anchor" % (name, target))
    return count, faults


def missing_functions(text):
    here = os.path.dirname(os.path.abspath(__file__))
    include = os.path.join(here, "..", "..", "include", "brio")
    faults, count = [], 0
    for name in os.listdir(include):
        if not name.endswith(".h"):
            continue
        with open(os.path.join(include, name), encoding="utf-8") as file:
            functions = re.findall(r"BRIO_API [\w *]*?\b(brio_\w+)\(", file.read())
        count += len(functions)
        faults += ["c-api.html: %s of %s is not there" % (f, name) for f in functions
                   if not re.search(r"\b%s\b" % f, text)]
    return count, faults


def main(site):
    pages = read_site(site)
    parsed = {name: Page(text) for name, text in pages.items()}
    links, faults = broken_links(site, parsed)
    functions, missing = missing_functions(pages.get("c-api.html", ""))
    faults += missing
    for name, text in pages.items():
        if "BRIOFORMULA" in text or parsed[name].failed:
            faults.append(name + ": a formula was not typeset")
        if 'class="language-math"' in text and os.path.exists(os.path.join(site, "katex")):
            faults.append(name + ": a block of math was left as it is written")
    formulas = sum(page.formulas for name, page in parsed.items() if name != "theory-book.html")
    print("%d pages, %d links, %d formulas, %d functions of the C interface; %d faults"
          % (len(pages), links, formulas, functions, len(faults)))
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
