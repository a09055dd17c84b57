"""The house style of all charts: looks, sizes, and how a file is written.

Colours are Okabe and Ito's, which the colour-blind tell apart; print in grey tells by marker, dash
and hatch.  Only functions import matplotlib, which is an extra.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from warnings import catch_warnings, filterwarnings

from callboard.scheduler.text.missing_extra import imported_extra
from callboard.scheduler.text.quantities import printable

INK, GREY, GRID, DOWN = "#000000", "#7a7a7a", "#cccccc", "#e6e6e6"
BLUE, VERMILION, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, BROWN, SLATE = "#e69f00", "#56b4e9", "#8b6508", "#4b6a88"

CHART_ENDINGS = (".svg", ".png", ".pdf")

CHART_DPI = 160

COLUMN_INCHES, PAGE_INCHES = 3.5, 7.1
"""The width of a paper's column, and of its page."""

BUSY_COLOURS = "YlGnBu"
"""A colour map that becomes darker all the way, also in grey."""


class LineStyle(NamedTuple):
    """How a policy or a discipline is drawn, the same in every figure."""

    label: str
    colour: str
    marker: str
    dashes: Any
    hatch: str = ""


_DOTS, _DASH, _SHORT = (0, (1, 1.2)), (0, (5, 2)), (0, (3, 1))
_DASH_DOT, _DASH_DOTS = (0, (5, 1.5, 1, 1.5)), (0, (4, 1.2, 1, 1.2, 1, 1.2))

LINE_STYLES = {
    "fifo": LineStyle("FIFO", INK, "s", _DOTS),
    "ps": LineStyle("PS", GREY, "D", _DASH, "..."),
    "gps": LineStyle("GPS", SLATE, "d", _SHORT, "--"),
    "las": LineStyle("LAS", PINK, "v", _DASH_DOT, "\\\\\\"),
    "psjf": LineStyle("PSJF", GREEN, "<", _DASH, "oo"),
    "srpt": LineStyle("SRPT", VERMILION, "^", "solid", "///"),
    "srpt+ps": LineStyle("SRPT+PS", ORANGE, ">", "solid", "xxx"),
    "fsp+fifo": LineStyle("FSP+FIFO", SKY, "o", "solid", "+++"),
    "fsp+ps": LineStyle("FSP+PS", BLUE, "P", "solid", "||"),
    "fsp+las": LineStyle("FSP+LAS", GREEN, "X", "solid", "oo"),
    "psbs": LineStyle("PSBS", BROWN, "*", "solid", "**"),
    "fair": LineStyle("fair", BLUE, "o", "solid", "///"),
    "hfsp": LineStyle("hfsp", VERMILION, "^", _DASH, "\\\\\\"),
    "gittins": LineStyle("Gittins", BLUE, "P", _DASH_DOTS, "||"),
    "sjf": LineStyle("SJF", ORANGE, ">", _SHORT, "xxx"),
    "coshh": LineStyle("coshh", GREEN, "X", _DASH_DOT, "..."),
    "hybrid": LineStyle("hybrid", PINK, "v", _DASH_DOTS, "--"),
}
"""The usual look of each order of jobs, and of the ideal machine's disciplines."""

_LONG, _DASH_DASH, _PAIRS = (0, (8, 2)), (0, (6, 1.2, 2.5, 1.2)), (0, (2, 1, 2, 2.5))
_SPARE = (
    LineStyle("", GREEN, "p", _LONG, "OO"),
    LineStyle("", PINK, "h", _DASH_DASH, "//"),
    LineStyle("", ORANGE, "8", _PAIRS, "\\\\"),
    LineStyle("", VERMILION, "H", _LONG, "xx"),
    LineStyle("", BLUE, "p", _PAIRS, "++"),
    LineStyle("", SKY, "h", _LONG, ".."),
    LineStyle("", BROWN, "8", _DASH_DASH, "|||"),
    LineStyle("", GREY, "H", _PAIRS, "OOO"),
    LineStyle("", INK, "p", _DASH_DASH, "---"),
)
"""Looks for what has none of its own, or finds it taken: no marker of theirs is an order's."""

HOUSE_STYLE: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # publishers refuse matplotlib's usual Type 3
    "svg.fonttype": "path",
    "svg.hashsalt": "callboard",
    "text.parse_math": False,  # names may hold dollars
}
"""matplotlib's settings; with them and without a date the same data is the same file."""


def policy_looks(labels: Sequence[str], policies: Sequence[str] = ()) -> list[LineStyle]:
    """A look for each of the labels, which are policies unless `policies` are given beside.

    A policy has the look of its order; of several with one order the bare order has it, or else the
    first, and the others get looks that nobody else has.
    """
    named = policies or labels
    wanted = [_usual_look(policy) for policy in named]
    looks: list[LineStyle | None] = [None] * len(labels)
    for place in sorted(range(len(named)), key=lambda place: named[place] not in LINE_STYLES):
        look = wanted[place]
        if look is not None and look.colour not in _used_colours(looks):
            looks[place] = look
    for place, _ in enumerate(wanted):
        looks[place] = looks[place] or _spare_look(_used_colours(looks), place)
    return [look._replace(label=label) for look, label in zip(looks, labels, strict=True) if look]


def _used_colours(looks: Sequence[LineStyle | None]) -> set[str]:
    return {look.colour for look in looks if look is not None}


def _usual_look(policy: str) -> LineStyle | None:
    """The look of the order that a policy's spelling begins with; the longest name that fits."""
    fits = [
        name
        for name in LINE_STYLES
        if policy.startswith(name) and policy[len(name) : len(name) + 1] in ("", "+", "(", ",", " ")
    ]
    return LINE_STYLES[max(fits, key=len)] if fits else None


def _spare_look(taken: set[str], place: int) -> LineStyle:
    """One whose colour is not taken; when all are, a colour again with another marker and dash."""
    free = [look for look in _SPARE if look.colour not in taken]
    if free:
        return free[0]
    again, at = divmod(place, len(_SPARE))
    look, other = _SPARE[at], _SPARE[(at + again) % 4]  # the first four have all the markers
    return look._replace(marker=other.marker, dashes=other.dashes, hatch=other.hatch)


def check_matplotlib() -> None:
    """MissingExtraError if nothing can be drawn here."""
    imported_extra(
        "matplotlib.figure",
        "figures need matplotlib, which is not installed: pip install 'callboard[experiments]'",
    )


@contextmanager
def house_style(changes: Mapping[str, Any] = MappingProxyType({})) -> Iterator[None]:
    """matplotlib's settings, with these changed, while a chart is drawn or saved.  A letter that
    the font has not is drawn as a box, without a warning.
    """
    from matplotlib import rc_context

    with rc_context({**HOUSE_STYLE, **changes}), catch_warnings():
        filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def chart_text(text: str, most: int = 44) -> str:
    """A user's name as a figure can show it: on one line, not too long, and nothing in it read as
    a sign to matplotlib, for which a label that begins with `_` is to be hidden.
    """
    shown = printable(text)
    shown = shown if len(shown) <= most else f"{shown[: most - 1]}…"
    return f" {shown}" if shown.startswith("_") else shown


def label_lines(parts: Sequence[str]) -> str:
    """A label of several parts, as many on a line as it has room for.  Of a part that is longer the
    middle is left out: what tells it from others, its value, is at its end.
    """
    shown = [_without_middle(chart_text(part, 200), _LINE_MAX) for part in parts]
    lines = shown[:1]
    for part in shown[1:]:
        together = f"{lines[-1]}, {part}"
        lines[-1:] = [together] if len(together) <= _LINE_MAX else [f"{lines[-1]},", part]
    return "\n".join(lines)


_LINE_MAX = 36
"""The longest line of a label."""


def _without_middle(text: str, most: int) -> str:
    kept = most // 3
    return text if len(text) <= most else f"{text[:kept]}…{text[kept + 1 - most :]}"


def wrap_titles(figure: Any) -> None:
    """Let titles of axes and panels go on in another line where the picture ends."""
    for axes in figure.axes:
        for title in (axes.xaxis.label, axes.yaxis.label):
            title.set_wrap(True)
        axes.set_title(axes.get_title(loc="left"), wrap=True)


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches, that lays itself out; pyplot and its state have no part in it."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def retitle(figure: Any, title: str) -> None:
    """Give a figure a title of the user's: in place of its own, or above it where each panel has
    one.
    """
    shown = chart_text(title, 200)
    titled = [axes for axes in figure.axes if axes.get_title(loc="left")] or figure.axes[:1]
    with house_style():
        own = f"\n{titled[0].get_title(loc='left')}" if len(titled) > 1 else ""
        titled[0].set_title(shown + own)


def save_chart(
    figure: Any,
    path: Path,
    changes: Mapping[str, Any] = MappingProxyType({}),
    dpi: int = CHART_DPI,
) -> None:
    """Write a figure, in the format that the path's ending says (`CHART_ENDINGS`); where that has
    pixels, `dpi` an inch.

    Equal figures give equal files.  `changes` are those with which it was drawn (`house_style`).
    OSError as files do.
    """
    form = path.suffix.removeprefix(".").lower()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with house_style(changes):
        figure.savefig(path, format=form, dpi=dpi, metadata=undated[form])


def plain_log_axis(axis: Any) -> None:
    """Numbers on a logarithmic axis as people write them: 20, 100, 3,000."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        def __call__(self, value: float, pos: int | None = None) -> str:
            return f"{value:,g}" if super().__call__(value, pos) else ""

    axis.set_major_formatter(Plain())
    axis.set_minor_formatter(Plain(minor_thresholds=(1.2, 0.5)))


def plain_axis(axis: Any) -> None:
    """Numbers on an axis as people write them: 1,000, all with as many decimals; millions as 50 M,
    since so long numbers run into each other.
    """
    from matplotlib.ticker import ScalarFormatter

    class Plain(ScalarFormatter):
        def __call__(self, value: float, pos: int | None = None) -> str:
            if max(map(abs, axis.get_view_interval())) >= 1_000_000:
                return f"{value / 1_000_000:,g} M".replace("-", "−")
            decimals = len(super().__call__(value, pos).partition(".")[2])
            return f"{value:,.{decimals}f}".replace("-", "−")

    plain = Plain(useOffset=False)
    plain.set_scientific(False)
    axis.set_major_formatter(plain)


def whole_ticks(axis: Any) -> None:
    """Ticks at whole numbers only, for what is counted."""
    few_ticks(axis, whole=True)


def few_ticks(axis: Any, *, whole: bool = False) -> None:
    """So few that long numbers stand beside each other."""
    from matplotlib.ticker import MaxNLocator

    steps = None if whole else [1, 2, 2.5, 5, 10]
    axis.set_major_locator(MaxNLocator(5, steps=steps, integer=whole))


def percent_ticks(axis: Any) -> None:
    """Shares of 1 as per cent."""
    axis.set_major_formatter(lambda share, _: f"{share:.0%}")


def shared_legend(
    figure: Any, handles: Sequence[Any], labels: Sequence[str], *, below: bool = False
) -> None:
    """The legend in lines above all panels, or below them, as many names side by side as the figure
    is wide.
    """
    width = figure.get_figwidth() / 0.064  # in characters of the legend
    longest = max((len(label) for label in labels), default=1) + 8
    columns = max(1, min(len(labels), int(width // longest)))
    figure.legend(
        handles,
        labels,
        loc="outside lower left" if below else "outside upper left",
        ncols=columns,
        columnspacing=1.2,
        handlelength=2.6,
    )


def unused_name(label: str, taken: Sequence[str]) -> str:
    """The label, with a number after it if it is taken."""
    numbered = (label if n == 1 else f"{label} #{n}" for n in count(1))
    return next(each for each in numbered if each not in taken)
