"""For mkdocs: pages are called by their titles, and what they link to in the sources, which is not part of the site, is shown without a link."""
import os
import re

folder = os.path.dirname(__file__)


def title(match):
    with open(os.path.join(folder, match[1]), encoding="utf-8") as page:
        return "[" + page.readline().lstrip("# ").strip() + "](" + match[1] + ")"


def on_page_markdown(markdown, **_):
    markdown = re.sub(r"\[([\w-]+\.md)\]\(\1\)", title, markdown)
    return re.sub(r"\[([^\]]*)\]\(\.\./[^)]*\)", r"\1", markdown)
