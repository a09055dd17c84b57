"""What each slot did as a page of its own, to zoom in a browser; it asks for nothing outside."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from callboard.experiments.pages.charts.chart_run import ChartRun, NothingToDraw, runs_title
from callboard.experiments.pages.charts.gantt_chart import (
    GROUP_COLOURS,
    colour_grouping,
    has_both_kinds,
    slot_bars,
)
from callboard.journal.export.run_page import assembled_page
from callboard.journal.replay.cluster_state import slot_offsets
from callboard.scheduler.text.quantities import printable

_PARTS = Path(__file__).parent / "page"

PAGE_BARS_MAX = 300_000
"""More bars make a page that browsers are slow with."""


class PageRun(msgspec.Struct, frozen=True):
    """A run as the page knows it.  `first` is each node's first row, and the number of rows at the
    end; `down` are a first row, how many rows, and the two moments between which they were down.
    Columns have an entry for each time that an attempt held a slot: its row, when, for how long, by
    which group, job, kind and task, and whether the attempt came to nothing.
    """

    label: str
    end_ms: int
    rows: int
    first: list[int]
    down: list[tuple[int, int, int, int]]
    jobs: list[str]
    row: list[int]
    began_ms: list[int]
    lasted_ms: list[int]
    group: list[int]
    job: list[int]
    kind: list[int]
    task: list[int]
    lost: list[int]


class PageOfRuns(msgspec.Struct, frozen=True):
    """All of the page: the groups with their colours, and the runs under each other."""

    groups: list[tuple[str, str]]
    runs: list[PageRun]


def gantt_page(runs: Sequence[ChartRun], title: str | None = None) -> str:
    """The page; equal runs give equal pages.  NothingToDraw if no attempt ever held a slot, or if
    that many did that no browser would draw them.
    """
    groups, name_of = colour_grouping(runs)
    pages = [_page_run(run, groups, name_of(run)) for run in runs]
    bars = sum(len(page.row) for page in pages)
    if not bars:
        raise NothingToDraw("no attempt has held a slot")
    if bars > PAGE_BARS_MAX:
        raise NothingToDraw(
            f"{bars:,} bars are too many for a page ({PAGE_BARS_MAX:,}); name it .svg or .png"
        )
    coloured = list(zip(map(printable, groups), GROUP_COLOURS, strict=False))
    title = printable(title or f"{runs_title(runs)}: what each slot did")
    data, rows = PageOfRuns(coloured, pages), _ROWS if has_both_kinds(runs) else ""
    return assembled_page(_PARTS, "gantt", ["gantt"], title, data, rows=rows)


_ROWS = "Of each node map slots are above reduce slots."


def _page_run(run: ChartRun, groups: Sequence[str], names: Sequence[str]) -> PageRun:
    bars, attempts = slot_bars(run), run.slot_history.attempts
    first = list(slot_offsets(run.slot_history.nodes))
    place_of_job = {job: place for place, job in enumerate(run.jobs.job.tolist())}
    jobs = attempts.job[bars.attempt].tolist()
    return PageRun(
        label=run.label,
        end_ms=run.horizon_ms,
        rows=first[-1],
        first=first,
        down=[
            (first[d.node], first[d.node + 1] - first[d.node], d.began_ms, d.ended_ms)
            for d in run.slot_history.down
        ],
        jobs=[printable(name) for name in run.jobs.name],
        row=bars.row.tolist(),
        began_ms=bars.began_ms.tolist(),
        lasted_ms=(bars.ended_ms - bars.began_ms).tolist(),
        group=[groups.index(names[at]) for at in bars.attempt.tolist()],
        job=[place_of_job[job] for job in jobs],
        kind=attempts.kind[bars.attempt].tolist(),
        task=attempts.task[bars.attempt].tolist(),
        lost=bars.lost.astype(int).tolist(),
    )
