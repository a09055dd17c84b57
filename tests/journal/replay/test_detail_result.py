"""The result of a run that is over, against the figures of the same journal."""

from callboard.journal.figures.metrics import Metrics
from callboard.journal.replay.frame import DetailText, View
from callboard.journal.replay.source import GoTo, Move, Request
from callboard.journal.tell.names import duration
from tests.journal.replay.support import outage, recorded


def result_at(move: Move, view: View | None = None) -> DetailText | None:
    found: list[DetailText | None] = []
    source = recorded(outage())
    source.ask(Request(move, view or View()), lambda frame: found.append(frame.detail))
    return found[0]


def test_it_has_the_figures_of_the_run() -> None:
    result = result_at(GoTo(None))
    assert result is not None
    assert result.title == "the result"
    facts, summary = dict(result.facts), Metrics.of(outage()).summary()
    response = summary.response_seconds
    assert response.mean is not None
    assert response.p95 is not None
    mean, p95 = (duration(round(1000 * seconds)) for seconds in (response.mean, response.p95))
    assert facts["response"] == f"mean {mean}, p95 {p95}"
    assert facts["jobs"] == f"{summary.jobs.submitted} of {summary.jobs.submitted} succeeded"
    assert facts["digest"] == recorded(outage()).recording.ended.digest  # type: ignore[union-attr]
    for label in ("slowdown", "busy", "wasted", "waited most", "next"):
        assert facts[label]


def test_it_comes_at_the_end_and_gives_way_to_a_selection() -> None:
    assert result_at(GoTo(1_000_000)) is None
    chosen = result_at(GoTo(None), View(job=0))
    assert chosen is not None
    assert chosen.title != "the result"
