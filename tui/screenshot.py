"""The screen as a picture: SVG that needs nothing but itself and a font of fixed width; and PNG, by
resvg, which is an extra.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from textual.app import App

from callboard.experiments.journal_paths import fresh_name
from callboard.journal.tell.time_format import axis_time
from callboard.scheduler.text.missing_extra import MissingExtraError, imported_extra

_FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
"""All signs of the screen are in the first; Textual's choice is fetched from elsewhere."""

_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_TEXTUALS_FONTS = ("Fira Code, monospace", "arial")
_WINDOW = 'fill="#292929"'
"""The colour of the window around the screen, as Rich draws it."""


_LETTER = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
    '<text y="18" font-family="{fonts}">{text}</text></svg>'
)


def svg_of(app: App[Any], ground: str, title: str) -> str:
    """What the app shows now; `ground` is the colour around it."""
    text = _FONT_FACE.sub("", app.export_screenshot(title=title, simplify=True))
    for fonts in _TEXTUALS_FONTS:
        text = text.replace(f"font-family: {fonts};", f"font-family: {_FONTS};")
    text = text.replace(_WINDOW, f'fill="{ground}"')
    return "\n".join(line for line in text.splitlines() if line.strip()) + "\n"


def png_of(svg: str) -> bytes:
    """The picture in pixels; MissingExtraError says what it needs that is not there."""
    resvg = imported_extra("resvg_py", 'PNG needs an extra: pip install "callboard[png]"')
    if not _has_fixed_width_font():
        raise MissingExtraError("PNG needs a font of fixed width, such as DejaVu Sans Mono")
    return bytes(resvg.svg_to_bytes(svg_string=svg))


@lru_cache(maxsize=1)
def _has_fixed_width_font() -> bool:
    """Whether any of the fonts is there: resvg leaves text out that it has no font for."""
    from resvg_py import svg_to_bytes

    with_text, without = (
        svg_to_bytes(svg_string=_LETTER.format(fonts=_FONTS, text=text)) for text in ("M", "")
    )
    return bytes(with_text) != bytes(without)


def screenshot_path(run: str, at_ms: int, folder: Path) -> Path:
    """A name, ending in `.svg`, for a picture of the run at that moment: no file in the folder has
    it, nor one that ends in `.png`.
    """
    moment = axis_time(at_ms).replace(":", ".")
    stem = re.sub(r"[^\w.-]+", "-", run)

    def is_taken(name: str) -> bool:
        return any((folder / f"{name}{ending}").exists() for ending in (".svg", ".png"))

    return folder / f"{fresh_name(f'{stem}-{moment}', is_taken)}.svg"
