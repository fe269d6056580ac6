"""The page of the C interface, made of the headers' comments:  c_api.py [INCLUDE_DIR] prints it.

Ruled comments begin sections. A block between empty lines is a comment with what it describes: its
names become a heading, the comment the text, the rest code as it stands.
"""
import os
import re
import sys

HEADERS = ["brio.h", "motion.h", "edit.h", "constraint.h", "cage.h", "ccd.h", "integrator.h",
           "stages.h", "tets.h", "by_body.h", "matrices.h", "plugin.h"]
RULE = re.compile(r"/\* -{20,}\n(.*?)\n \* -{20,} \*/|/\* ---- (.*?) -{4,} \*/", re.S)
SKIP = re.compile(r"#(ifndef BRIO_\w+_H|define BRIO_\w+_H|endif|ifdef __cplusplus|include|if )"
                  r"|#(else|elif)|extern \"C\"|\}$|#define BRIO_API\b|#pragma")


def plain(comment):
    """The text of a comment: without stars; what is indented by four or more is code."""
    comment = re.sub(r"^/\*+ ?|\s*\*/$", "", comment.strip())
    lines = [re.sub(r"^ ?\* ?", "", line.rstrip()) for line in comment.split("\n")]
    out, inside = [], False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not inside:
            out.append("")
        if not indented and inside and line:
            out.append("")
        inside = indented or (inside and not line)
        out.append(line if indented else escape(line.strip()))
    return "\n".join(out).strip("\n")


def escape(line):
    """Names as code, signs of Markdown as themselves; what the comment quotes as code stays."""
    pieces = re.split(r"(`[^`]*`)", line)
    for i in range(0, len(pieces), 2):
        text = pieces[i].replace("<", "&lt;").replace("*", "\\*")
        text = re.sub(r"\bdocs/([\w-]+\.md)", r"[\1](\1)", text)
        pieces[i] = re.sub(r"(?<![\w\\/.])(brio_\w+(?:\(\))?|Brio[A-Z]\w*|BRIO_\w+)", r"`\1`", text)
    return "".join(pieces)


def names(code):
    """What a block declares: functions, types, constants."""
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", "", code, flags=re.S)
    found = re.findall(r"\b(brio_\w+)\s*\(", re.sub(r"\{.*?\n\}", "", bare, flags=re.S))
    found += re.findall(r"^typedef (?:struct|enum|union) (\w+)", bare, re.M)
    found += re.findall(r"^typedef [\w *]+?\b(Brio\w+)\s*(?:\(|;)", bare, re.M)
    found += re.findall(r"^(?:struct|enum|class) (\w+)", bare, re.M)
    found += re.findall(r"^#define (BRIO_\w+)", bare, re.M)
    return list(dict.fromkeys(found))


def blocks(text):
    """Pieces between empty lines; braces and comments keep their empty lines."""
    piece, depth, comment = [], 0, False
    for line in text.split("\n"):
        if not line.strip() and depth == 0 and not comment:
            if piece:
                yield "\n".join(piece)
            piece = []
            continue
        if depth == 0 and not comment and SKIP.match(line) and not line.startswith("}; "):
            continue
        piece.append(line)
        bare = re.sub(r"/\*.*?\*/", "", line)
        comment = "/*" in bare or (comment and "*/" not in bare)
        if not comment and "/*" not in bare:
            depth += line.count("{") - line.count("}")
    if piece:
        yield "\n".join(piece)


def divided(block):
    """A block's leading comment, and what follows."""
    found = re.match(r"(/\*.*?\*/)[ \t]*(?:\n|$)(.*)", block, re.S)
    return (plain(found[1]), found[2]) if found and block.startswith("/*") else ("", block)


def subdivide(block):
    """A block in which a comment stands above each declaration, as several."""
    piece, depth = [], 0
    for line in block.split("\n"):
        code = any(not p.startswith(("/*", " *")) for p in piece)
        if line.startswith("/*") and depth == 0 and code:
            yield "\n".join(piece)
            piece = []
        piece.append(line)
        depth += line.count("{") - line.count("}")
    yield "\n".join(piece)


def section(text, level):
    out = []
    for whole in blocks(text):
        for block in subdivide(whole):
            told, code = divided(block)
            declared = names(code)
            if declared:
                shown = ", ".join("`%s`" % name for name in declared[:3])
                out.append("%s %s%s" % ("#" * level, shown, ", …" if len(declared) > 3 else ""))
            if told:
                out.append(told)
            if code.strip():
                out.append("```c\n%s\n```" % code.strip("\n").replace("BRIO_API ", ""))
    return out


def titled(comment):
    """The heading and the text of a ruled comment: its first words, to a colon or a full stop."""
    told = plain("/*" + comment + " */")
    found = re.match(r"(.{1,70}?)(?:[.:]\s|[.:]?$|\s\()(.*)", told.replace("\n", " ", 1), re.S)
    title, rest = found[1].replace("`", ""), told[len(found[1]):].lstrip(".:\n ")
    return ["### " + title[0].upper() + title[1:]] + ([rest[0].upper() + rest[1:]] if rest else [])


def header(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name = os.path.basename(path)
    head = re.match(r"(/\*.*?\*/)(.*)", text, re.S)
    out = ["## brio/" + name, re.sub(r"\n?Licence: MIT\.", "", plain(head[1]))]
    parts = RULE.split(head[2])
    out += section(parts[0], 4)
    for ruled, short, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        out += titled(ruled or " * " + short)
        out += section(body, 4)
    return out


def page(include):
    out = ["# The C interface",
           "All of the public headers, made from their comments. "
           "[library.md](library.md) shows how to begin."]
    for name in HEADERS:
        out += header(os.path.join(include, "brio", name))
    return "\n\n".join(out) + "\n"


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    include = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "..", "include")
    sys.stdout.write(page(include))
