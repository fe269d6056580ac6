"""For mkdocs: what the site has beyond the Markdown of docs/.

- Pages are called by their titles. Links into the sources, which are not part of the site, become
  text; a link to a header leads to the page of the C interface, which c_api.py makes.
- Formulas are typeset (unicode_math.py, formulas.mjs). BRIO_SITE_KATEX is the folder with
  node_modules/katex; without it they stay as they are written.
- search-index.js: the text of all sections, as a script, since a page that was opened from a disk
  may not fetch a file.
- theory-book.html: the pages of theory one after the other, for printing.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

site = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(site))
docs = os.path.join(root, "docs")
sys.dont_write_bytecode = True
sys.path.insert(0, site)
import c_api
import unicode_math

katex = os.environ.get("BRIO_SITE_KATEX", "")
THEORY = ["theory.md", "notation.md", "stabilised.md", "decoupled.md", "variational.md",
          "stability.md", "results.md", "errata.md"]
formulas = {}  # by page: what the tokens of its text stand for
index = []     # of the search: pages with their sections
book = {}      # pages of theory, typeset


# ---- Markdown ----

def title(match):
    """A page's title for its file name as the text of a link."""
    path = os.path.join(docs, match[1])
    if not os.path.exists(path):
        return match[0]
    with open(path, encoding="utf-8") as page:
        return "[%s](%s)" % (page.readline().lstrip("# ").strip(), match[1])


def links(markdown):
    markdown = re.sub(r"\[([\w-]+\.md)\]\(\1\)", title, markdown)
    markdown = re.sub(r"\]\(\.\./include/brio/\w+\.h\)", "](c-api.md)", markdown)
    return re.sub(r"\[([^\]]*)\]\(\.\./[^)]*\)", r"\1", markdown)


def token(found, tex, display, source):
    found.append({"tex": tex, "display": display, "source": source})
    return "BRIOFORMULA%dX" % (len(found) - 1)


def take_formulas(markdown, inline, found):
    """Tokens instead of formulas: Markdown must not see inside of them."""
    def block(match):
        return "\n%s\n" % token(found, match[1].strip(), True, match[1].strip())

    def span(match):
        source = re.sub(r"\s*\n\s*", " ", match[1])
        if not unicode_math.is_formula(source):
            return match[0]
        return token(found, unicode_math.tex(source), False, source.replace("\\|", "|"))

    def letter(match):
        return token(found, unicode_math.tex(match[0]), False, match[0])

    markdown = re.sub(r"^```math\n(.*?)^```$", block, markdown, flags=re.S | re.M)
    if not inline:
        return markdown
    code = r"(^```.*?^```$|(?:^ {4,}\S[^\n]*\n)+|^#[^\n]*$)"
    pieces = re.split(code, markdown, flags=re.S | re.M)
    for i, piece in enumerate(pieces):
        listed = piece.startswith("    ") and i and not pieces[i - 1].endswith("\n\n")
        if i % 2 == 0 or listed:
            piece = re.sub(r"(?<!`)`([^`]+)`(?!`)", span, piece)
            pieces[i] = re.sub(r"(?<![\w`./-])[αβγδεηθκλμνρστφψω](?![\w`./-]*[\w`])", letter, piece)
    return "".join(pieces)


def on_page_markdown(markdown, page, **_):
    markdown = links(markdown)
    found = formulas[page.file.src_path] = []
    return take_formulas(markdown, page.file.src_path in THEORY, found) if katex else markdown


# ---- formulas ----

def typeset(found, name):
    if not found:
        return
    done = subprocess.run(["node", os.path.join(site, "formulas.mjs"), katex],
                          input=json.dumps(found), capture_output=True, text=True, check=True)
    for formula, answer in zip(found, json.loads(done.stdout)):
        if "error" in answer:
            raise PluginError("%s: %s: %s" % (name, formula["source"], answer["error"]))
        formula["html"] = answer["html"]


def formula_html(formula, after):
    """Short formulas are not divided at the end of a line, nor from the punctuation after them."""
    whole = formula["html"] + after
    short = not formula["display"] and len(formula["source"]) <= 24
    return '<span class="whole">%s</span>' % whole if short else whole


def put(content, found, what):
    return re.sub(r"BRIOFORMULA(\d+)X", lambda match: what(found[int(match[1])]), content)


def on_page_content(content, page, config, **_):
    name, found = page.file.src_path, formulas[page.file.src_path]
    add_to_index(page, put(content, found, lambda formula: html.escape(formula["source"])))
    typeset(found, name)
    content = re.sub(r"<p>(BRIOFORMULA\d+X)</p>", r'<div class="formula">\1</div>', content)
    content = re.sub(r"BRIOFORMULA(\d+)X([,.;:)?!]*)",
                     lambda match: formula_html(found[int(match[1])], match[2]), content)
    content = re.sub(r"(<table>.*?</table>)", r'<div class="table">\1</div>', content, flags=re.S)
    content = re.sub(r"<img ", '<img loading="lazy" ', content)
    if name in THEORY:
        book[name] = content
    return content


# ---- search ----

def plain(content):
    text = html.unescape(re.sub(r"<[^>]*>", " ", content))
    return re.sub(r"\s+", " ", text).strip()


def add_to_index(page, content):
    content = re.sub(r"<!--.*?-->", "", content, flags=re.S)
    pieces = re.split(r'<h([1-4]) id="([^"]*)">(.*?)</h\1>', content, flags=re.S)
    sections = [["", "", plain(pieces[0])]] if plain(pieces[0]) else []
    for _, anchor, heading, text in zip(pieces[1::4], pieces[2::4], pieces[3::4], pieces[4::4]):
        sections.append([anchor, plain(heading), plain(text)])
    index.append([page.file.url, str(page.title), sections])


# ---- files ----

def on_files(files, config):
    made = os.path.join(os.path.dirname(config["site_dir"]), "site-made")
    os.makedirs(made, exist_ok=True)
    with open(os.path.join(made, "c-api.md"), "w", encoding="utf-8") as page:
        page.write(c_api.page(os.path.join(root, "include")))
    files.append(File("c-api.md", made, config["site_dir"], config["use_directory_urls"]))
    for file in list(files):
        if file.src_path.endswith((".py", ".sh")):
            files.remove(file)
    index.clear()
    book.clear()
    return files


def on_config(config):
    config["extra"]["pdf"] = bool(os.environ.get("BRIO_SITE_PDF"))
    config["extra"]["katex"] = bool(katex)
    return config


def chapter(name):
    """A page of the book: its anchors carry its name, links to pages outside are text."""
    stem = name[:-3]
    content = re.sub(r' id="([^"]*)"', r' id="%s--\1"' % stem, book[name])

    def link(match):
        target, _, anchor = match[1].partition("#")
        other = target[:-5] if target else stem
        if other + ".md" in book:
            return '<a href="#%s">%s</a>' % (other + "--" + anchor if anchor else other, match[2])
        return match[0] if target.startswith("http") else match[2]

    content = re.sub(r'<a href="([^"]*)">(.*?)</a>', link, content, flags=re.S)
    return '<section id="%s">%s</section>' % (stem, content.replace('loading="lazy" ', ""))


def write_book(folder):
    names = [name for name in THEORY if name in book]
    titles = [plain(re.search(r"<h1[^>]*>(.*?)</h1>", book[name], re.S)[1]) for name in names]
    contents = "".join('<li><a href="#%s">%s</a></li>' % (name[:-3], title)
                       for name, title in zip(names, titles))
    with open(os.path.join(site, "book.html"), encoding="utf-8") as file:
        page = file.read()
    page = page.replace("CONTENTS", contents)
    page = page.replace("CHAPTERS", "\n".join(chapter(name) for name in names))
    with open(os.path.join(folder, "theory-book.html"), "w", encoding="utf-8") as file:
        file.write(page)


def on_post_build(config):
    folder = config["site_dir"]
    with open(os.path.join(folder, "search-index.js"), "w", encoding="utf-8") as file:
        text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
        file.write("var brioIndex = " + text + ";\n")
    if katex:
        source = os.path.join(katex, "node_modules", "katex", "dist")
        target = os.path.join(folder, "katex")
        os.makedirs(os.path.join(target, "fonts"), exist_ok=True)
        shutil.copy(os.path.join(source, "katex.min.css"), target)
        for font in os.listdir(os.path.join(source, "fonts")):
            if font.endswith(".woff2"):
                shutil.copy(os.path.join(source, "fonts", font), os.path.join(target, "fonts"))
    write_book(folder)
