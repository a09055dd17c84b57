"""What copies are for: slow nodes hold jobs up, and LATE's copies are mostly of use."""

import pytest

from callboard.actors.vocabulary.events import AttemptClosed, JobFinished, Outcome
from callboard.scenarios import scenario_file
from tests.support.world import PlayedRun, play

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def runs() -> dict[str, PlayedRun]:
    scenario = scenario_file.load_scenario(
        scenario_file.find_scenario("stragglers"), ["workload.job.0.count=3"]
    )
    jobs = scenario_file.make_jobs(scenario)
    return {
        rule: play(jobs, f"fair{rule}", cluster=scenario.cluster, tasks=scenario.tasks)
        for rule in ("", "+naive", "+late", "+mantri")
    }


def mean_ms(run: PlayedRun) -> float:
    ends = run.all(JobFinished)
    return sum(end.at_ms - end.submitted_ms for end in ends) / len(ends)


def useless(run: PlayedRun) -> int:
    good = {e.attempt for e in run.all(AttemptClosed) if e.outcome is Outcome.SUCCEEDED}
    return sum(bool(e.original) and e.attempt not in good for e in run.launches())


def test_copies_bring_the_mean_response_time_far_down(runs: dict[str, PlayedRun]) -> None:
    for rule in ("+naive", "+late"):
        assert mean_ms(runs[rule]) < 0.8 * mean_ms(runs[""])


def test_late_makes_fewer_useless_copies_than_the_naive_rule(runs: dict[str, PlayedRun]) -> None:
    """The second wave is behind the average as soon as it has begun."""
    assert 0 < 3 * useless(runs["+late"]) < useless(runs["+naive"])


def test_most_of_mantris_copies_are_of_use(runs: dict[str, PlayedRun]) -> None:
    copies = sum(e.original > 0 for e in runs["+mantri"].launches())
    assert 0 < 2 * useless(runs["+mantri"]) < copies
