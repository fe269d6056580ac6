"""What the program says, and which object it is about.

    scene.yaml:12:17: bodies[0].material: no material "ruber"; did you mean "rubber"?
"""
import re
from typing import List, NamedTuple

FILE = re.compile(r"^(?:\S.*?)?scene\.yaml(?::\d+:\d+)?: ")
PLACE = re.compile(r"^(?:(bodies|obstacles)\[(\d+)\][^:\s]*|[a-z_]+(?:[.\[][\w.\[\]]*)?): (.+)$")
# Remedies that name keys of a scene file, as the panel has them.
REMEDIES = (
    (re.compile(r": with contact: \S+ bodies must start apart; .*$"),
     "; move the objects apart, or choose Untangle at the start"),
)


class Message(NamedTuple):
    objects: List[str]  # names; empty: it is about the scene
    text: str
    warning: bool = False


def _quoted(text, names):
    """Names that stand in quotes, in their order in the text."""
    found = [(text.find('"%s"' % name), name) for name in names]
    return [name for at, name in sorted(found) if at >= 0]


def parse(line, bodies, obstacles):
    """A line of the standard error as a message; None: it is none."""
    text = line.strip()
    if not text or re.match(r"^\d+ %|^step \d+ of \d+", text):
        return None
    warning = text.startswith("warning: ")
    text = text[len("warning: "):] if warning else text
    text = re.sub(r"^brio(?: \w+)?: ", "", text)
    file = FILE.match(text)
    text = text[file.end():] if file else text
    for words, remedy in REMEDIES:
        text = words.sub(remedy, text)
    place = PLACE.match(text) if file else None
    names = list(bodies) + list(obstacles)
    if place:
        text = place.group(3)
        listed = {"bodies": bodies, "obstacles": obstacles}.get(place.group(1), [])
        number = int(place.group(2)) if place.group(2) else -1
        if 0 <= number < len(listed):
            others = [name for name in _quoted(text, names) if name != listed[number]]
            return Message([listed[number]] + others, text, warning)
    return Message(_quoted(text, names), text, warning)


def parse_all(lines, bodies, obstacles):
    found = [parse(line, bodies, obstacles) for line in lines]
    return [message for message in found if message]
