"""What `callboard run --steady` prints: mean response times in steady state, policy by policy."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.table import Table

from callboard.experiments.many.steady_state import SteadyState
from callboard.experiments.pages.figure_rows import write_seconds
from callboard.experiments.pages.figure_text import interval_text
from callboard.experiments.pages.report.document import ReportTable
from callboard.scheduler.text.quantities import count
from callboard.tables.terminal_table import terminal_table

Steady = tuple[str, SteadyState]
"""A policy, and what its run tells."""


def steady_table(found: Sequence[Steady]) -> Table | None:
    """A row for each policy of which the run tells the mean; None where there is none."""
    rows = [
        (
            policy,
            interval_text(write_seconds, each.response),
            f"{each.warm_up:,} of {count(each.jobs, 'job')}",
            f"{each.batches} of {count(each.batch_jobs, 'job')}",
        )
        for policy, each in found
        if each.response is not None
    ]
    head = ("steady state", "mean response", "warm-up left out", "batches")
    return terminal_table(ReportTable(headings=head, rows=rows)) if rows else None


def steady_lines(found: Sequence[Steady]) -> Iterator[str]:
    """What the intervals are, where they may be too short, and of which runs nothing is told."""
    told = [(policy, each.response) for policy, each in found if each.response is not None]
    if told:
        yield "± is half a 95 % interval of the mean of ever more such jobs, by batch means"
    skewed = ", ".join(policy for policy, response in told if response.is_skewed)
    if skewed:
        yield f"skewed batches: {skewed}; the interval holds less often; more jobs help"
    for policy, each in found:
        if each.incomplete:
            yield f"left out: {count(each.incomplete, 'job')} of {policy} that did not complete"
        if each.response is None:
            jobs = count(each.jobs, "completed job")
            yield f"no steady state of {policy}: {jobs}, {each.why_not}"


def steady_json(found: SteadyState) -> dict[str, object]:
    """The same as plain data, in seconds."""
    plain: dict[str, object] = msgspec.to_builtins(found)
    return {("response_seconds" if key == "response" else key): plain[key] for key in plain}
