"""The two themes of the screens, in the colours that a terminal has."""

from typing import Any

from textual.app import App
from textual.theme import Theme

from callboard.tui.palette import DARK, DARK_16, LIGHT, LIGHT_16, Palette

THEME_NAMES = ("dark", "light")


def register_themes(app: App[Any], chosen: str) -> dict[str, Palette]:
    """Make both known to the app and put one in force; their palettes by name."""
    few = app.console.color_system in ("standard", "windows")
    palettes = dict(zip(THEME_NAMES, (DARK_16, LIGHT_16) if few else (DARK, LIGHT), strict=True))
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
