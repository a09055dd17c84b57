"""The colours in which runs are shown.  Whatever a colour says, a sign or a word says too.

The hues of jobs are near those of Okabe and Ito ("Color Universal Design", 2008), moved until the
closest two were as far apart as can be for people with any of the usual kinds of colour blindness;
a test measures the distances, and that everything can be read.  Vermillion is kept for what has
gone wrong.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # it takes a moment to load
    from callboard.actors.vocabulary.events import Mark

SHADES = 3
"""The number of steps of brightness for the age of an attempt."""

_CONTRAST_LEAST = 3.0
"""The least ratio of luminances (WCAG) between what is drawn and any ground of it."""


class Palette(msgspec.Struct, frozen=True):
    """The colours of one theme, as `#rrggbb`; `jobs` are those that a frame numbers."""

    ground: str
    raised: str
    text: str
    dim: str
    faint: str
    accent: str
    fault: str
    good: str
    warning: str
    jobs: tuple[str, ...]
    flat: bool = False
    """Whether colours have no shades: running attempts are bright, dimmed ones faint."""
    lined: bool = False
    """Whether the lines around panes can be read as signs can."""

    def mark(self, mark: "Mark") -> str:
        """The colour of a mark, and of its line in the log."""
        marks = {"LOST": self.fault, "FAULT": self.fault}
        marks |= {"PREEMPTION": self.warning, "RETURNED": self.good}
        return marks.get(mark.name, self.text)

    def shade(self, colour: str, level: int) -> str:
        """A colour in one of `SHADES` steps of brightness, the last being the full one."""
        if self.flat:
            return colour
        least = _least_share(self.ground, self.raised, colour)
        return blend(self.ground, colour, least + (1 - least) * level / (SHADES - 1))

    @property
    def edge(self) -> str:
        """The colour of the lines around panes, which say nothing."""
        return self.faint if self.lined else blend(self.ground, self.text, 0.2)


_PALETTES = {
    "ground": ("#101216", "#FBFBF8", "#000000", "#000000", "#000000", "#ffffff"),
    "raised": ("#1B1F27", "#ECECE6", "#1C1C1C", "#1C1C1C", "#0000aa", "#aaaaaa"),
    "text": ("#D8DCE4", "#22262E", "#FFFFFF", "#FFFFFF", "#ffffff", "#000000"),
    "dim": ("#8A92A0", "#666C78", "#D6D6D6", "#B4B4B4", "#aaaaaa", "#555555"),
    "faint": ("#727A88", "#83878F", "#9A9A9A", "#8A8A8A", "#aaaaaa", "#555555"),
    "accent": ("#7AA2F7", "#2757B0", "#8AD7FF", "#FFFFFF", "#55ffff", "#0000aa"),
    "fault": ("#E8602C", "#C03A00", "#FF8A5C", "#FFFFFF", "#ff5555", "#aa0000"),
    "good": ("#3FBF8F", "#007A55", "#62E8B5", "#E0E0E0", "#55ff55", "#00aa00"),
    "warning": ("#CC79A7", "#A3477A", "#FF9ED2", "#D0D0D0", "#ff55ff", "#aa00aa"),
    "jobs": (
        ("#A1DDFF", "#D09827", "#007A4E", "#F0D81C", "#FA05A9", "#3B93FF"),
        ("#1D85F9", "#A88023", "#29797A", "#745D02", "#7B2046", "#4922B0"),
        ("#83FFFF", "#9A8F49", "#52D70C", "#E998B3", "#F608F0", "#DEFF92"),
        ("#FFFFFF", "#808080", "#D8D8D8", "#989898", "#BEBEBE", "#ABABAB"),
        ("#55ffff", "#ffff55", "#55ff55", "#ff55ff", "#5555ff", "#aa5500"),
        ("#0000aa", "#aa5500", "#00aa00", "#aa00aa", "#5555ff", "#555555"),
    ),
    "flat": (False, False, False, True, True, True),
    "lined": (False, False, True, True, True, True),
}
DARK, LIGHT, HIGH_CONTRAST, MONO, DARK_16, LIGHT_16 = (
    msgspec.convert(dict(zip(_PALETTES, column, strict=True)), Palette)
    for column in zip(*_PALETTES.values(), strict=True)
)
"""Those with 16 are for terminals of 16 colours: exactly these colours, so none is approximated."""

THEMES = {
    "dark": DARK,
    "light": LIGHT,
    "high-contrast": HIGH_CONTRAST,
    "mono": MONO,
    "dark-16": DARK_16,
    "light-16": LIGHT_16,
}
"""The palettes by the names of their themes."""


@lru_cache(maxsize=256)
def _least_share(ground: str, raised: str, colour: str) -> float:
    """The least share of a colour on the ground that can still be read, there and on `raised`."""
    shares = (step / 50 for step in range(51))
    readable = (
        s for s in shares if _contrast_ratio(blend(ground, colour, s), raised) > _CONTRAST_LEAST
    )
    return next(readable, 1.0)


def _contrast_ratio(one: str, other: str) -> float:
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    light = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]


@lru_cache(maxsize=1024)
def blend(ground: str, colour: str, share: float) -> str:
    """`share` of the colour on the ground."""
    pairs = [(int(ground[at : at + 2], 16), int(colour[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in pairs)
