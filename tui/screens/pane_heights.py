"""How many lines each pane gets: by what it has to show, as long as the others stay in view."""

from collections.abc import Callable
from typing import NamedTuple

BORDERS = 2
_HEAD = 1
_EVENTS_LEAST = 14
"""What events keep before charts get more than two rows each."""

_ROWS = 4
"""The room for jobs grows by this many rows at once, lest panes move with each of them."""

_ABOVE_LEAST = 22
"""The lines above the charts, below which a chart has one row."""

_CHART_ROWS_LEAST, _CHART_ROWS_MOST = 2, 4
_SLOTS_LEAST = 8
_SLOTS_USUAL = 16
"""The lines that four racks of ten nodes need, with heads and a legend."""

_EVENTS_KEPT = 6


class WideHeights(NamedTuple):
    """The slots, the jobs and the charts; events are below the slots, details below the jobs."""

    slots: int
    jobs: int
    charts: int


class PaneWants(NamedTuple):
    """What panes have use for: the lines of slots, given the most there are for them; the jobs; the
    number of charts.  With `many_nodes` charts make room for them.
    """

    slots: Callable[[int], int]
    jobs: int
    charts: int
    many_nodes: bool = False

    @property
    def least_chart_rows(self) -> int:
        """The rows that a chart has at least."""
        return 1 if self.many_nodes else _CHART_ROWS_LEAST

    @property
    def job_table_lines(self) -> int:
        """The lines of the table of jobs, with its borders."""
        return -(-max(self.jobs, 1) // _ROWS) * _ROWS + _HEAD + BORDERS


def wide_heights(total: int, wants: PaneWants) -> WideHeights:
    """Where all panes are shown: slots, and jobs, get two thirds of what is above the charts at
    most; slots also as many lines as they usually need, where events keep a few.
    """
    rows = wants.least_chart_rows
    if total - _charts_height(wants, rows) < _ABOVE_LEAST:
        rows = 1
    rest = total - _charts_height(wants, rows)
    most = rest * 2 // 3
    slots_most = max(most, min(_SLOTS_USUAL, rest - _EVENTS_KEPT))
    slots = min(max(wants.slots(slots_most - BORDERS) + BORDERS, _SLOTS_LEAST), slots_most)
    spare = max(rest - slots - _EVENTS_LEAST, 0)
    more = spare // (2 * max(wants.charts, 1))
    rows = min(rows + more, _CHART_ROWS_MOST)
    return WideHeights(slots, min(wants.job_table_lines, most), _charts_height(wants, rows))


def small_height(total: int, wants: PaneWants, shown: str) -> int:
    """Where one pane is shown below the slots: its lines.  It gets those that slots do not need."""
    most = -(-total * 9 // 20)
    wanted = {
        "jobs": wants.job_table_lines,
        "charts": _charts_height(wants, _CHART_ROWS_LEAST),
    }.get(shown, most)
    below = min(wanted, most)
    slots = wants.slots(total - below - BORDERS) + BORDERS
    return max(below, total - slots)


def _charts_height(wants: PaneWants, rows: int) -> int:
    return wants.charts * rows + BORDERS
