"""The screen as a picture: SVG that needs nothing but itself and a font of fixed width."""

import re
from pathlib import Path
from typing import Any

from textual.app import App

from callboard.experiments.journal_paths import fresh_name
from callboard.journal.tell.time_format import axis_time

_FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
"""All signs of the screen are in the first; Textual's choice is fetched from elsewhere."""

_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_WINDOW = 'fill="#292929"'
"""The colour of the window around the screen, as Rich draws it."""


def svg_of(app: App[Any], ground: str, title: str) -> str:
    """What the app shows now; `ground` is the colour around it."""
    text = app.export_screenshot(title=title, simplify=True)
    text = _FONT_FACE.sub("", text).replace("Fira Code, monospace", _FONTS)
    text = text.replace(_WINDOW, f'fill="{ground}"')
    return "\n".join(line for line in text.splitlines() if line.strip()) + "\n"


def screenshot_path(run: str, at_ms: int, folder: Path) -> Path:
    """A name for a picture of the run at that moment that no file in the folder has."""
    moment = axis_time(at_ms).replace(":", ".")
    stem = re.sub(r"[^\w.-]+", "-", run)
    fresh = fresh_name(f"{stem}-{moment}", lambda name: (folder / f"{name}.svg").exists())
    return folder / f"{fresh}.svg"
