"""The two themes of the screen, and what is drawn with its signs and colours."""

from functools import lru_cache
from typing import Any

from rich.color import Color
from rich.style import Style
from textual.app import App
from textual.theme import Theme

from callboard.journal.replay.frame import Frame
from callboard.journal.replay.palette import DARK, DARK_16, LIGHT, LIGHT_16, Palette
from callboard.journal.replay.signs import node_sign
from callboard.scheduler.model import NodeId

DIVERGENCE_SIGN = "╫"
"""On the time bar: where two compared runs first differ."""

EIGHTHS = " ▁▂▃▄▅▆▇█"
"""The levels of a column in a chart, empty to full."""


def register_themes(app: App[Any], chosen: str) -> dict[str, Palette]:
    """Register both themes with the app and apply one; their palettes by name."""
    few = app.console.color_system in ("standard", "windows")
    dark, light = (DARK_16, LIGHT_16) if few else (DARK, LIGHT)
    palettes = {"dark": dark, "light": light}
    for name, palette in palettes.items():
        app.register_theme(_theme(name, palette))
    app.theme = chosen
    return palettes


def _theme(name: str, palette: Palette) -> Theme:
    return Theme(
        name=name,
        primary=palette.accent,
        accent=palette.accent,
        foreground=palette.text,
        background=palette.ground,
        surface=palette.ground,
        panel=palette.raised,
        success=palette.good,
        warning=palette.warning,
        error=palette.fault,
        dark=name == "dark",
        variables={"edge": palette.edge},
    )


def node_mark(frame: Frame, node: NodeId) -> tuple[str, bool]:
    """A node's mark, and whether the master is wrong about it."""
    return node_sign(frame.node_status[node], frame.lost[node])


@lru_cache(maxsize=4096)
def style(
    colour: str, ground: str | None = None, *, bold: bool = False, reverse: bool = False
) -> Style:
    """A style of these colours, made only once."""
    return Style(
        color=Color.parse(colour),
        bgcolor=None if ground is None else Color.parse(ground),
        bold=bold or None,
        reverse=reverse or None,
    )
