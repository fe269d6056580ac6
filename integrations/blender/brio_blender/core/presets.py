"""Materials by name, from `brio list presets --json`.

`make blender` writes them into presets.json next to this file, so that menus are the same whether
the program is there or not.
"""
import json
import os
import re

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "presets.json")
SHELLS = ("membrane-neo-hookean", "membrane-stvk", "baraff-witkin")


def parse(text):
    """A list of {"name", "summary", "sheet", "values"} from the program's answer."""
    presets = []
    for entry in json.loads(text):
        words, values = re.fullmatch(r"(.*?) \{(.*)\}", entry["summary"]).groups()
        pairs = dict(pair.split(": ") for pair in values.split(", "))
        kind = pairs.pop("type")
        presets.append({"name": entry["name"], "summary": words, "sheet": kind in SHELLS,
                        "values": {key: float(value) for key, value in pairs.items()}})
    return presets


def load():
    with open(FILE, encoding="utf-8") as file:
        return json.load(file)
