"""A run as one HTML page that plays it back in a browser, and asks for nothing outside of itself.

`page/` holds the page's parts: HTML, style, and scripts, which are put together in the order of
their names' list.  The browser runs these scripts and no others (Content-Security-Policy): names
of jobs are a stranger's.
"""

import base64
import hashlib
from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template

import msgspec

from callboard.actors.version import __version__
from callboard.journal.export.page_columns import PageData
from callboard.journal.replay.palette import DARK, LIGHT, Palette

_PARTS = Path(__file__).parent / "page"
_SCRIPTS = (
    *("words", "tracks", "run", "player", "dom", "view"),
    *("cells", "slot_layout", "slot_map", "charts"),
    *("head", "result", "job_table", "pair_table", "event_lines", "detail"),
    *("keys", "address", "main"),
)
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
"""What could end the element that holds the data, as JSON can say it otherwise."""


def run_page(data: PageData) -> str:
    """The page; equal runs give equal pages."""
    return assembled_page(_PARTS, "page", _SCRIPTS, _page_title(data), data)


def _page_title(data: PageData) -> str:
    policies = [each.policies[0][1] for each in (data, data.beside) if each is not None]
    return f"{data.name} under {' and under '.join(policies)}"


def assembled_page(
    folder: Path, name: str, scripts: Iterable[str], title: str, data: object, **texts: str
) -> str:
    """A page of one file, out of the HTML and style of that name and the scripts in a folder;
    `texts` are what it says besides, by their names in the HTML.
    """

    def part_text(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    style = palette_style() + part_text(f"{name}.css")
    together = "".join(part_text(f"{each}.js") for each in scripts)
    script = f'"use strict";\n(() => {{\n{together}}})();\n'
    return Template(part_text(f"{name}.html")).substitute(
        title=escape(title),
        content_policy=content_policy(style, script),
        style=style,
        script=script,
        data=inert_json(data),
        version=escape(__version__),
        **{each: escape(text) for each, text in texts.items()},
    )


def inert_json(data: object) -> str:
    """The data as JSON in which nothing is a tag."""
    text = msgspec.json.encode(data).decode()
    for sign, written in _ESCAPES.items():
        text = text.replace(sign, written)
    return text


def content_policy(style: str, script: str) -> str:
    """These two and nothing else, from nowhere."""
    return (
        f"default-src 'none'; script-src {_hash_source(script)}; style-src {_hash_source(style)};"
        " base-uri 'none'; form-action 'none'"
    )


def _hash_source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def palette_style() -> str:
    """The palettes as variables: the reader's, unless the page says which."""
    dark = _css_variables(DARK)
    return (
        f":root {{ color-scheme: light; {_css_variables(LIGHT)} }}\n"
        "@media (prefers-color-scheme: dark) {"
        f" :root:not([data-theme=light]) {{ color-scheme: dark; {dark} }} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}\n"
    )


def _css_variables(palette: Palette) -> str:
    named = ("ground", "raised", "text", "dim", "faint", "accent", "fault", "good", "warning")
    found = {name: getattr(palette, name) for name in (*named, "edge")}
    for number, colour in enumerate(palette.jobs):
        found |= {f"job{number}": colour, f"young{number}": palette.shade(colour, 0)}
    found["gone"] = palette.shade(palette.fault, 0)
    return " ".join(f"--{name}: {colour};" for name, colour in found.items())
