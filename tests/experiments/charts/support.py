"""Runs to draw, from events worked out by hand."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from callboard.actors.vocabulary.events import AnyEvent, RunStarted
from callboard.experiments.pages.charts.chart_run import ChartRun, chart_run
from callboard.journal.writer import JournalWriter
from tests.journal.stories import STORY

SOLO_MS = np.array([2200, 1300])
"""In STORY job-0 takes 4400 ms and job-1 1300 ms: slowdowns of 2 and 1."""


def story_run(policy: str = "fifo", events: Iterable[AnyEvent] = STORY) -> ChartRun:
    """The tiny run, as if it had been under that policy."""
    run = chart_run(under(policy, events))
    return replace(run, solo_ms=SOLO_MS[: len(run.jobs.job)])


def under(policy: str, events: Iterable[AnyEvent] = STORY) -> list[AnyEvent]:
    return [
        msgspec.structs.replace(event, policy=policy) if isinstance(event, RunStarted) else event
        for event in events
    ]


def record(path: Path, events: Iterable[AnyEvent]) -> Path:
    """The events as a journal."""
    with JournalWriter(path) as sink:
        for event in events:
            sink(event)
    return path


def lines(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    """The data of each labelled line of a panel."""
    return {
        line.get_label(): (list(map(float, line.get_xdata())), list(map(float, line.get_ydata())))
        for line in axes.get_lines()
        if not line.get_label().startswith("_")
    }


def legend_labels(figure: Any) -> list[str]:
    """What all of a figure's legends say."""
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]
