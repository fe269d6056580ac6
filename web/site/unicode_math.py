"""Formulas of the manuals, as TeX.

Short formulas stand in the text as code, in Unicode: `q' = q + h v − h²/2 M⁻¹∇P(q)`. They are
readable in any editor, and the site typesets them on the pages of theory. `is_formula` tells them
from names and commands, `tex` translates them. Long formulas are ```math blocks, in TeX already.
"""
import re
import unicodedata

FUNCTIONS = {"argmin": r"\operatorname*{argmin}", "cof": r"\operatorname{cof}", "cos": r"\cos",
             "det": r"\det", "diag": r"\operatorname{diag}", "exp": r"\exp", "ln": r"\ln",
             "max": r"\max", "min": r"\min", "Re": r"\operatorname{Re}", "sin": r"\sin",
             "tr": r"\operatorname{tr}", "trace": r"\operatorname{trace}"}
WORDS = {"added", "dissipated", "first", "floor", "radius", "remember", "rest", "shape", "target",
         "they", "tol", "what"}
SUBSCRIPTS = {"added", "cm", "max"}
MARKS = {"\u0302": r"\hat", "\u0303": r"\tilde", "\u0307": r"\dot", "\u0308": r"\ddot"}
UPPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀᵖ", "0123456789-+Tp"))
LOWER = dict(zip("₀₁₂₃₄₅₆₇₈₉ₙᵢⱼ", "0123456789nij"))
SIGNS = {"−": "-", "·": r"\cdot ", "×": r"\times ", "≤": r"\le ", "≥": r"\ge ", "→": r"\to ",
         "←": r"\leftarrow ", "∈": r"\in ", "∞": r"\infty ", "∂": r"\partial ", "∇": r"\nabla ",
         "⊗": r"\otimes ", "±": r"\pm ", "∓": r"\mp ", "≈": r"\approx ", "…": r"\dots ",
         "½": r"\tfrac12 ", "¼": r"\tfrac14 ", "‖": r"\Vert ", "|": r"\vert ",
         "~": r"\sim ", "*": "^*",
         "ℓ": r"\ell ",
         "ħ": r"\hbar ", "Σ": r"\textstyle\sum ", "Π": r"\textstyle\prod ", "∫": r"\textstyle\int ",
         "≠": r"\neq ", "∪": r"\cup ", "ᵏ": "^k", "%": r"\%", "°": r"^\circ "}
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "η": "eta",
         "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "π": "pi", "ρ": "rho",
         "σ": "sigma", "τ": "tau", "φ": "varphi", "ψ": "psi", "χ": "chi", "ξ": "xi", "ζ": "zeta",
         "ω": "omega",
         "Δ": "Delta",
         "Φ": "Phi", "Ω": "Omega", "Λ": "Lambda", "Γ": "Gamma", "Ψ": "Psi"}
SIGNS.update({letter: "\\" + name + " " for letter, name in GREEK.items()})


def is_formula(span):
    """Whether a piece of code is a formula: no name of a thing, no command, no key of a scene."""
    if re.search(r":|--|->|__|\.[a-z]|^-|[a-zA-Z]-[a-zA-Z]|[A-Z]{2}|[a-z]/[a-z]{2}", span):
        return False
    for below, word in re.findall(r"(_?)([A-Za-z]+)", span):
        if below and len(word) > 2 and word not in SUBSCRIPTS:
            return False
        if not below and len(word) > 2 and word not in FUNCTIONS and word not in WORDS:
            return False
    words = re.findall(r"[A-Za-z]{2,}\d?", span)
    return (words != [span.strip()] or span == "dF") and not re.search(r"[a-z]{2}\d", span)


def closing(text, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError("a bracket is not closed in " + text)


def run(text, at, table):
    """What the characters of a table from `at` on mean, and where they end."""
    out = ""
    while at < len(text) and text[at] in table:
        out += table[text[at]]
        at += 1
    return out, at


def index(text, at):
    """A subscript or superscript after _ or ^: one number, some letters, or a group."""
    if text[at] == "{":
        end = closing(text, at)
        return tex(text[at + 1:end]), end + 1
    found = re.match(r"[A-Za-z]+|\d+|.", text[at:])
    word = found[0]
    return (r"\mathrm{%s}" % word if word in SUBSCRIPTS else tex(word)), at + len(word)


def root(text, at):
    """The argument of a root: a bracket, or one letter or number with its index."""
    if text[at] == "(":
        end = closing(text, at)
        return text[at + 1:end], end + 1
    found = re.match(r"\d+|.[₀₁₂₃₄₅₆₇₈₉]*", text[at:])
    return found[0], at + len(found[0])


def word_tex(word):
    if word in FUNCTIONS:
        return FUNCTIONS[word] + " "
    return r"\text{ %s }" % word if word in WORDS else word


def tex(formula):
    """A formula of the text in TeX."""
    text = unicodedata.normalize("NFD", formula.replace("\\|", "|").replace("≠", "\ufffe"))
    text = text.replace("\ufffe", "≠").replace("U Σ V", "U \\Sigma V")
    out, at = "", 0
    while at < len(text):
        mark = text[at + 1] if at + 1 < len(text) else ""
        if mark in MARKS:
            out += "%s{%s}" % (MARKS[mark], tex(text[at]))
            at += 2
        elif text[at] in UPPER or text[at] in LOWER:
            table, sign = (UPPER, "^") if text[at] in UPPER else (LOWER, "_")
            inside, at = run(text, at, table)
            out += "%s{%s}" % (sign, inside)
        elif text[at] in "_^":
            inside, end = index(text, at + 1)
            out += "%s{%s}" % (text[at], inside)
            at = end
        elif text[at] == "√":
            inside, at = root(text, at + 1)
            out += r"\sqrt{%s}" % tex(inside)
        elif text[at] == "\\":
            found = re.match(r"\\[A-Za-z]+", text[at:])
            out += found[0] + " "
            at += len(found[0])
        elif re.match(r"[A-Za-z]", text[at]):
            found = re.match(r"[A-Za-z]+", text[at:])
            word, at = found[0], at + len(found[0])
            if at < len(text) and text[at] in MARKS:  # the mark belongs to the last letter
                word, at = word[:-1], at - 1
            out += word_tex(word)
            number = re.match(r"\d", text[at:])  # i2: an index
            if number and len(word) == 1:
                out += "_{%s}" % number[0]
                at += 1
        elif text[at] == " " and re.search(r"/[\w\u0302\u0303]+$", text[:at]):
            out += r"\,"  # h/4 v is not h/(4v)
            at += 1
        else:
            out += SIGNS.get(text[at], text[at])
            at += 1
    return out
