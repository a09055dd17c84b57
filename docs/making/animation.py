"""A recorded run as a picture that moves: one SVG without scripts, where only pictures can stand.

Every slot is a rectangle whose colour changes by CSS keyframes.  Who prefers no motion, and what
cannot animate, sees the still moment.
"""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from callboard.actors.topology import Topology
from callboard.actors.vocabulary.events import Mark
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.frame import Charts, Frame, SlotState, View, nodes_down
from callboard.journal.replay.palette import DARK
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.source import GoTo
from callboard.journal.tell.time_format import axis_time
from callboard.scheduler.model import Millis, NodeId

FRAME_MS, CLOCK_MS = 10_000, 30_000
"""Virtual time between two pictures of the slots, and between two of the clock."""

_FRAMES_A_SECOND = 7
_HOLD_S = 3.0
"""How long the end stands still before the run begins again."""

_WIDE, _EDGE, _CELLS_TOP, _ROW = 960, 24, 96, 17
_CELL_WIDE, _CELL_HIGH, _GAP = 48, 13, 4
_CHART_HIGH, _BELOW = 52, 60

_COLOURS = {
    SlotState.IDLE: DARK.raised,
    SlotState.MAP: DARK.accent,
    SlotState.SHUFFLE: "#D09827",
    SlotState.REDUCE: DARK.good,
    SlotState.COPY: DARK.warning,
    SlotState.GHOST: DARK.fault,
    SlotState.ORPHAN: DARK.text,
}
_DARK_SLOT = "#08090b"
"""An empty slot of a node that is down."""

_LEGEND = {
    SlotState.MAP: "map",
    SlotState.SHUFFLE: "reduce, fetching map outputs",
    SlotState.REDUCE: "reduce, at work",
    SlotState.GHOST: "over, and the master has not heard of it",
}


class _Moment(NamedTuple):
    """The colour of each slot, which nodes are down, the last event of note (a mark, many at once,
    or one of the first job), and how many nodes are down in words.
    """

    at_ms: Millis
    slots: tuple[str, ...]
    down: tuple[bool, ...]
    event: str
    health: str


def animated_run(
    recording: Recording, topology: Topology, *, still_ms: Millis, title: str, below: str
) -> str:
    """The whole run, with a title above and a line `below` it; `still_ms` is the moment that is
    seen without motion.
    """
    frames = list(_frames(recording))
    drawing = _Drawing([_moment(frame) for frame in frames], still_ms // FRAME_MS)
    _draw_racks(drawing, topology)
    _draw_words(drawing, title, below)
    rows = max(topology.rack_size(rack, len(frames[0].lost)) for rack in range(topology.racks))
    top = _CELLS_TOP + rows * _ROW + 40
    _draw_chart(drawing, frames[-1].charts, top)
    drawing.words("event", (_EDGE, top - 18), lambda moment: moment.event)
    _draw_legend(drawing, top + _CHART_HIGH + 38)
    return drawing.svg(top + _CHART_HIGH + _BELOW, title)


def _frames(recording: Recording) -> Iterator[Frame]:
    cursor, view = Cursor(recording), View(columns=(_WIDE - 2 * _EDGE) // 4, log_rows=400)
    for at_ms in range(0, recording.end_ms + FRAME_MS, FRAME_MS):
        cursor.move(GoTo(at_ms))
        yield cursor.frame(view)


def _moment(frame: Frame) -> _Moment:
    down = nodes_down(frame.node_status).tolist()
    each = len(frame.states) // len(down)
    slots = tuple(
        _DARK_SLOT if state == SlotState.IDLE and down[place // each] else _COLOURS[state]
        for place, state in enumerate(map(SlotState, frame.states))
    )
    noted = [line for line in frame.log if line.mark != Mark.NONE or line.is_fold or line.job == 0]
    event = f"{axis_time(noted[-1].at_ms)}  {noted[-1].text}" if noted else ""
    return _Moment(frame.at_ms, slots, tuple(down), event, _health(frame))


def _health(frame: Frame) -> str:
    """How many nodes are down, and whether the master knows."""
    down, unaware = frame.totals.down, frame.totals.unaware
    if not down:
        return "all nodes are up"
    known = "the master does not know" if unaware else "the master has given them up"
    return f"{down} nodes are down, {known}"


class _Drawing:
    """Gathers shapes, and the keyframes by which they change."""

    def __init__(self, moments: Sequence[_Moment], still: int) -> None:
        self.moments, self.still = moments, still
        self.played_s = len(moments) / _FRAMES_A_SECOND
        self.whole_s = self.played_s + _HOLD_S
        self.rules: list[str] = []
        self.shapes: list[str] = []

    def change(self, values: Sequence[str], write: Callable[[str], str]) -> str:
        """The attribute that lets a shape go through the values, one a moment; empty if all are
        alike.  `write` makes a declaration of CSS of a value.
        """
        runs = [(value, len(list(run))) for value, run in groupby(values)]
        if len(runs) == 1:
            return ""
        place, steps = 0, []
        for value, length in runs:
            steps.append(f"{self._percent(place)}{{{write(value)}}}")
            place += length
        name = f"k{len(self.rules)}"
        self.rules.append(f"@keyframes {name}{{{''.join(steps)}}}")
        return f' class="k" style="animation-name:{name}"'

    def _percent(self, place: int) -> str:
        return f"{100 * place / _FRAMES_A_SECOND / self.whole_s:.2f}%"

    def words(
        self,
        kind: str,
        at: tuple[float, float],
        of: Callable[[_Moment], str],
        end: bool = False,
    ) -> None:
        """Texts that take turns at one place."""
        told = [of(moment) for moment in self.moments]
        place = 0
        for text, run in groupby(told):
            until = place + len(list(run))
            seen = ["1" if place <= at < until else "0" for at in range(len(told))]
            self.text(kind, at, text, seen, end=end)
            place = until

    def text(
        self,
        kind: str,
        at: tuple[float, float],
        text: str,
        seen: Sequence[str] = (),
        *,
        end: bool = False,
    ) -> None:
        """A text, whose opacity goes through `seen`."""
        if not text:
            return
        change = self.change(seen, "opacity:{}".format) if seen else ""
        still = f' opacity="{seen[self.still]}"' if seen and change else ""
        anchor = ' text-anchor="end"' if end else ""
        inner = f'<text x="{at[0]:g}" y="{at[1]:g}"{anchor}{still}{change}>{escape(text)}</text>'
        self.shapes.append(f'<g class="{kind}">{inner}</g>')

    def svg(self, high: int, title: str) -> str:
        """The whole picture."""
        style = _STYLE.format(seconds=f"{self.whole_s:.2f}", **_INKS)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {high}">',
                f"<title>{escape(title)}</title>",
                f"<style>{style}",
                *self.rules,
                "</style>",
                f'<rect width="{_WIDE}" height="{high}" rx="8" fill="{DARK.ground}"/>',
                *self.shapes,
                "</svg>\n",
            ]
        )


_INKS = {"text": DARK.text, "dim": DARK.dim, "fault": DARK.fault}

_STYLE = (
    ".k{{animation:{seconds}s step-end infinite}}"
    ".played{{animation:played {seconds}s linear infinite}}"
    "@media (prefers-reduced-motion:reduce){{.k,.played{{animation:none!important}}}}"
    "text{{font:15px DejaVu Sans,Verdana,sans-serif;fill:{text};white-space:pre}}"
    ".title text{{font-weight:bold;font-size:17px}}.clock text{{font-size:26px}}"
    ".dim text{{fill:{dim};font-size:13px}}.fault text{{fill:{fault};font-size:13px}}"
    ".event text{{font-size:16px}}"
)


def _draw_racks(drawing: _Drawing, topology: Topology) -> None:
    """Every slot, a row a node, and the racks beside each other."""
    nodes = len(drawing.moments[0].down)
    for rack in range(topology.racks):
        left = _EDGE + rack * (_WIDE - 2 * _EDGE + _CELL_WIDE // 2) / topology.racks
        members = [topology.node_at(rack, at) for at in range(topology.rack_size(rack, nodes))]
        _draw_rack_name(drawing, rack, members, left)
        for row, node in enumerate(members):
            _draw_node(drawing, node, left, _CELLS_TOP + row * _ROW)


def _draw_rack_name(drawing: _Drawing, rack: int, members: Sequence[NodeId], left: float) -> None:
    """The name; while nodes of the rack are down it says how many."""
    at, down = (left, _CELLS_TOP - 9), [sum(m.down[n] for n in members) for m in drawing.moments]
    for count in sorted({*down}):
        told = f"rack {rack}: {count} nodes down" if count else f"rack {rack}"
        seen = ["1" if each == count else "0" for each in down]
        drawing.text("fault" if count else "dim", at, told, seen)


def _draw_node(drawing: _Drawing, node: NodeId, left: float, top: float) -> None:
    each = len(drawing.moments[0].slots) // len(drawing.moments[0].down)
    for place in range(each):
        x = left + place * (_CELL_WIDE + _GAP)
        _draw_slot(drawing, node * each + place, x, top)


def _draw_slot(drawing: _Drawing, slot: int, x: float, y: float) -> None:
    values = [moment.slots[slot] for moment in drawing.moments]
    change = drawing.change(values, "fill:{}".format)
    size = f'width="{_CELL_WIDE}" height="{_CELL_HIGH}" rx="2"'
    still = values[drawing.still]
    drawing.shapes.append(f'<rect x="{x:g}" y="{y}" {size} fill="{still}"{change}/>')


def _draw_words(drawing: _Drawing, title: str, below: str) -> None:
    drawing.text("title", (_EDGE, 36), title)
    drawing.text("dim", (_EDGE, 58), below)
    right = _WIDE - _EDGE
    drawing.words("clock", (right, 40), lambda m: axis_time(m.at_ms - m.at_ms % CLOCK_MS), end=True)
    drawing.words("dim", (right, 60), lambda moment: moment.health, end=True)


def _draw_chart(drawing: _Drawing, charts: Charts, top: int) -> None:
    """Busy slots over the whole run, with a line at the moment that is shown."""
    end_ms = drawing.moments[-1].at_ms
    for shares, state in ((charts.maps, SlotState.MAP), (charts.reduces, SlotState.REDUCE)):
        points = [
            f"{_EDGE + 4 * at},{top + _CHART_HIGH * (1 - share):.1f}"
            for at, share in enumerate(shares)
            if share == share
        ]
        line = f'fill="none" stroke="{_COLOURS[state]}" stroke-width="1.6"'
        drawing.shapes.append(f'<polyline points="{" ".join(points)}" {line}/>')
    foot, far = top + _CHART_HIGH, _WIDE - 2 * _EDGE
    drawing.shapes.append(f'<path d="M{_EDGE} {foot}h{far}" stroke="{DARK.faint}"/>')
    done = 100 * drawing.played_s / drawing.whole_s
    drawing.rules.append(
        f"@keyframes played{{0%{{transform:none}}{done:.2f}%,100%"
        f"{{transform:translateX({far}px)}}}}"
    )
    still = f"translate({far * drawing.still / len(drawing.moments):.0f})"
    line = f'<path d="M{_EDGE} {top}v{_CHART_HIGH}" stroke="{DARK.text}"/>'
    drawing.shapes.append(f'<g class="played" transform="{still}">{line}</g>')
    drawing.text("dim", (_EDGE, foot + 16), "busy map and reduce slots, over the whole run")
    drawing.text("dim", (_WIDE - _EDGE, foot + 16), axis_time(end_ms), end=True)


def _draw_legend(drawing: _Drawing, y: int) -> None:
    x = float(_EDGE)
    for state, words in _LEGEND.items():
        box = f'width="14" height="12" rx="2" fill="{_COLOURS[state]}"'
        drawing.shapes.append(f'<rect x="{x:g}" y="{y - 11}" {box}/>')
        drawing.text("dim", (x + 20, y), words)
        x += 46 + 6.9 * len(words)
