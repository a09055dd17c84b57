"""How Sphinx makes the book of these pages: `make docs`.

The pages are plain Markdown, so that they read as well where they lie.  What only a book has is
made of that here: the tables of contents of `index.md`, and the entries of the index.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from callboard.actors.version import __version__

project = "Callboard"
author = "the authors of Callboard"
version = release = __version__

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["conf.py"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # blocks of TOML that are cut short with `…`

html_theme = "furo"
html_title = f"Callboard {__version__}"
html_static_path = ["style"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

PART = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([\w/-]+)\.md\)")
GLOSSARY, REFERENCE = "glossary", "reference/"


def add_tables_of_contents(_app: Sphinx, page: str, source: list[str]) -> None:
    """Each part of `index.md` lists its pages as links; their order is the book's."""
    if page == "index":
        source[0] = PART.sub(_with_contents, source[0])


def _with_contents(part: re.Match[str]) -> str:
    pages = "\n".join(LINK.findall(part[2]) + ["Index <genindex>"] * (part[1] == "Reference"))
    directive = f"```{{toctree}}\n:hidden:\n:caption: {part[1]}\n\n{pages}\n```\n"
    return f"{part[0]}\n{directive}\n"


class IndexEntries(SphinxTransform):
    """The words of the glossary, and the sections of the reference, stand in the index."""

    default_priority = 800  # before Sphinx gathers the index

    def apply(self) -> None:
        page = self.env.docname
        if page == GLOSSARY:
            for strong in list(self.document.findall(nodes.strong)):
                if strong.parent.astext().startswith(strong.astext()):
                    for word in strong.astext().split(", "):
                        _index(strong.parent, word, page)
        elif page.startswith(REFERENCE):
            for section in list(self.document.findall(nodes.section)):
                if section.parent is not self.document:
                    _index(section, section[0].astext(), page)


def _index(node: nodes.Element, words: str, page: str) -> None:
    """Let the index lead from these words to a paragraph or a section."""
    if not node["ids"]:
        node["ids"].append(nodes.make_id(f"{page} {words}"))
    entry = addnodes.index(entries=[("single", words, node["ids"][0], "", None)])
    node.parent.insert(node.parent.index(node), entry)


class Lifecycles(SphinxTransform):
    """A diagram, which GitHub draws, is a list in the book: from each state, what leads where."""

    default_priority = 800

    def apply(self) -> None:
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") == "mermaid":
                block.replace_self(_transitions(block.astext()))


def _transitions(diagram: str) -> nodes.bullet_list:
    names = dict(re.findall(r"^ *(\w+): (.+)$", diagram, re.MULTILINE))
    edges: dict[str, list[str]] = {}
    for state, after, event in re.findall(r"(\w+) --> (\w+): (.+)", diagram):
        edges.setdefault(state, []).append(f"{event} → {names.get(after, after)}")
    listed = nodes.bullet_list()
    for state, leads in edges.items():
        name = nodes.strong("", names.get(state, state))
        text = nodes.Text(": " + "; ".join(leads))
        listed += nodes.list_item("", nodes.paragraph("", "", name, text))
    return listed


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_tables_of_contents)
    app.add_transform(IndexEntries)
    app.add_transform(Lifecycles)
