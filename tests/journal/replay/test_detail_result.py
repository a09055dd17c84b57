"""The result of a run that is over, against the figures of the same journal."""

from callboard.journal.figures.metrics import Metrics
from callboard.journal.replay.frame import DetailText, ResultHeadline, View
from callboard.journal.replay.source import GoTo, Move, Request
from callboard.scheduler.text.quantities import duration
from tests.journal.replay.support import events_of, outage, recorded


def result_at(move: Move, view: View | None = None) -> DetailText | None:
    found: list[DetailText | None] = []
    source = recorded(outage())
    source.ask_frame(Request(move, view or View()), lambda frame: found.append(frame.detail))
    return found[0]


def headline_of_the_end() -> str:
    """What the result says first."""
    found: list[ResultHeadline | None] = []
    source = recorded(outage())
    source.ask_frame(Request(GoTo(None), View()), lambda frame: found.append(frame.headline))
    assert found[0] is not None
    return found[0].sentences[0]


def test_it_has_the_figures_of_the_run() -> None:
    result = result_at(GoTo(None))
    assert result is not None
    assert result.title == "the result"
    facts, summary = dict(result.facts), Metrics.of(outage()).summary()
    response = summary.response_seconds
    assert response.mean is not None
    assert response.p95 is not None
    mean, p95 = (duration(1000 * each) for each in (response.mean, response.p95))
    assert facts["response"] == f"mean {mean}, p95 {p95}"
    assert mean in headline_of_the_end()
    assert facts["jobs"] == f"{summary.jobs.submitted} of {summary.jobs.submitted} succeeded"
    assert facts["digest"] == recorded(outage()).recording.ended.digest  # type: ignore[union-attr]
    for label in ("slowdown", "busy", "wasted", "waited most", "next"):
        assert facts[label]


def test_it_comes_at_the_end_and_gives_way_to_a_selection() -> None:
    before = result_at(GoTo(1_000_000))
    assert before is not None
    assert before.title == "how it goes"
    chosen = result_at(GoTo(None), View(job=0))
    assert chosen is not None
    assert chosen.title != "the result"


def test_before_its_end_it_has_the_figures_so_far() -> None:
    """As of the same events alone."""
    at_ms = 650_000
    before = result_at(GoTo(at_ms))
    assert before is not None
    facts = dict(before.facts)
    summary = Metrics.of(event for event in outage() if event.at_ms <= at_ms).summary()
    response = summary.response_seconds
    assert response.mean is not None
    assert response.p95 is not None
    mean, p95 = (duration(1000 * each) for each in (response.mean, response.p95))
    assert facts["response"] == f"mean {mean}, p95 {p95}"
    done, submitted = summary.jobs.completed, summary.jobs.submitted
    assert facts["jobs"] == f"{done} succeeded, {submitted - done} in the system"
    assert facts["without slot"] == "no job"


def test_it_says_who_starves() -> None:
    source = recorded(events_of("two-jobs", "fifo"))
    found: list[DetailText | None] = []
    source.ask_frame(Request(GoTo(90_000), View()), lambda frame: found.append(frame.detail))
    assert found[0] is not None
    starving = dict(found[0].facts)["without slot"]
    assert starving == "1 job; job-1 “short” has waited 1 min 00 s for its first"
    for at_ms, told in (0, False), (30_500, False), (31_000, True):
        source.ask_frame(Request(GoTo(at_ms), View()), lambda frame: found.append(frame.detail))
        assert found[-1] is not None
        assert ("without slot" in dict(found[-1].facts)) is told
