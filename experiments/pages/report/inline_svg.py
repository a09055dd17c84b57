"""A matplotlib figure as SVG that stands in an HTML page, and follows its light or dark colours."""

import io
import re
from typing import Any

from callboard.experiments.pages.charts.chart_style import (
    BLUE,
    BROWN,
    DOWN,
    GREEN,
    GREY,
    GRID,
    INK,
    ORANGE,
    PINK,
    SKY,
    SLATE,
    VERMILION,
    house_style,
)

PAPER = "#ffffff"

DARK_COLOURS = {
    INK: "#e6e8eb",
    GREY: "#a3a9b0",
    GRID: "#3d434a",
    DOWN: "#33383e",
    PAPER: "#16191d",
    BLUE: "#4c9be8",
    VERMILION: "#ff8a45",
    GREEN: "#2fc79c",
    PINK: "#e59cc7",
    ORANGE: "#f0b431",
    SKY: "#9ad7ff",
    BROWN: "#cda552",
    SLATE: "#93b4d4",
}
"""What each colour of the house style becomes on a dark page."""

_DROPPED = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>"
    r"| xmlns(:\w+)?=\"[^\"]*\"| version=\"[^\"]*\"",
    re.DOTALL,
)
_STYLE = re.compile(r"style=\"[^\"]*\"")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_ID = re.compile(r"\bid=\"([^\"]+)\"|\bhref=\"#([^\"]+)\"|url\(#([^)]+)\)")


def inline_svg(figure: Any, name: str) -> str:
    """The figure as an `svg` element without references to anything outside of it.

    `name` tells its ids from those of the page's other figures.  The house's colours become
    variables, `--c-0072b2` and so on (`DARK_COLOURS`).
    """
    buffer = io.StringIO()
    with house_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    svg = _DROPPED.sub("", buffer.getvalue()).replace("xlink:href", "href")
    svg = _ID.sub(lambda found: _renamed_id(found, name), svg)
    svg = _STYLE.sub(lambda style: _COLOUR.sub(_colour_variable, style[0]), svg)
    return re.sub(r"\n\s*", "\n", svg).strip()


def _renamed_id(found: re.Match[str], name: str) -> str:
    if found[1]:
        return f'id="{name}-{found[1]}"'
    if found[2]:
        return f'href="#{name}-{found[2]}"'
    return f"url(#{name}-{found[3]})"


def _colour_variable(colour: re.Match[str]) -> str:
    text = colour[0]
    return f"var(--c-{text[1:]}, {text})" if text in DARK_COLOURS else text
