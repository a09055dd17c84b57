"""The themes of the screen: palettes by name, and styles in their colours."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.color import Color
from rich.style import Style

from callboard.journal.replay.palette import DARK_16, LIGHT_16, THEMES, Palette

if TYPE_CHECKING:  # it takes a moment to load
    from textual.app import App
    from textual.theme import Theme

_OF_FEW = {"dark": DARK_16, "light": LIGHT_16, "high-contrast": DARK_16}
"""What stands in for a theme where a terminal has 16 colours."""


def register_themes(app: "App[Any]", chosen: str) -> dict[str, Palette]:
    """Register all themes with the app and apply one; their palettes by name."""
    few = app.console.color_system in ("standard", "windows")
    palettes = {**THEMES, **(_OF_FEW if few else {})}
    for name, palette in palettes.items():
        app.register_theme(_textual_theme(name, palette))
    app.theme = chosen
    return palettes


def next_theme(name: str) -> str:
    """The theme after this one; those of 16 colours only from one of them."""
    names = [each for each in THEMES if each.endswith("-16") is name.endswith("-16")]
    return names[(names.index(name) + 1) % len(names)]


def _textual_theme(name: str, palette: Palette) -> "Theme":
    from textual.theme import Theme

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
        dark=not name.startswith("light"),
        variables={"edge": palette.edge},
    )


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
