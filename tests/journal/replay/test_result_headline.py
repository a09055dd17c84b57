"""What is said of a run, or of two, once they are over."""

import msgspec
import pytest

from callboard.experiments.live.live_server import LiveServer
from callboard.experiments.run.run_loading import load_run
from callboard.journal.replay.frame import Frame, ResultHeadline
from callboard.journal.replay.source import GoTo
from callboard.tui.panels.comparison_figures import FIGURE_ROWS
from tests.tui.test_interventions import ask, to_the_end

MEANS = {"fifo": "3 min 04 s", "fair": "2 min 09 s"}
"""The means that `callboard run two-jobs` prints, 184 s and 129 s."""


def the_end(*policies: str) -> Frame:
    spec = load_run("two-jobs")
    with LiveServer([msgspec.structs.replace(spec, policy=each) for each in policies]) as server:
        return to_the_end(server)


def headline_of(*policies: str) -> ResultHeadline:
    headline = the_end(*policies).headline
    assert headline is not None
    return headline


def test_a_run_that_is_over_says_what_a_job_took_on_average() -> None:
    found = headline_of("fifo")
    assert found.figure == "3m04s"
    assert found.sentences == [
        f"A job took {MEANS['fifo']} on average under fifo.",
        "The longest was job-0 “long”, 3 min 25 s.",
    ]


def test_jobs_that_were_not_done_when_the_run_was_cut_off_have_not_failed() -> None:
    """A class read failures: the short job is done at 150 s under Fair, the long one later."""
    spec = msgspec.structs.replace(load_run("two-jobs"), until_ms=160_000)
    ends = []
    for policies in (("fair",), ("fair", "hfsp")):
        specs = [msgspec.structs.replace(spec, policy=each) for each in policies]
        with LiveServer(specs) as server:
            ends.append(to_the_end(server).headline)
    alone, both = (end.sentences for end in ends if end is not None)
    assert (
        alone[1] == "1 of 2 jobs was not done when the run was cut off: the mean is of the others."
    )
    assert both[0].endswith("1 of 2 jobs is left out, as it did not succeed in both runs.")


@pytest.mark.parametrize(
    ("policies", "figure"), [(("fifo", "fair"), "-30%"), (("fair", "fifo"), "+43%")]
)
def test_two_runs_that_are_over_say_which_is_better_by_how_much_and_that_it_is_one_seed(
    policies: tuple[str, str], figure: str
) -> None:
    """The figure is the second run's; the better one is named, whichever came first."""
    found = headline_of(*policies)
    better, who, chance = found.sentences
    assert found.figure == figure
    assert better == (
        f"Under fair a job took {MEANS['fair']} on average, 30% less than under fifo"
        f" ({MEANS['fifo']})."
    )
    assert who == f"1 of 2 jobs was done sooner under {policies[1]}, 1 later."
    assert chance.startswith("One seed:")


def test_the_figures_beside_each_other_are_those_of_the_sentence() -> None:
    """Both round a mean: 128.6 s is 2m09s in the table, as the result has it."""
    end = the_end("fifo", "fair")
    assert end.comparison is not None
    mean = next(row for row in FIGURE_ROWS if row.label == "mean response")
    written = [mean.written(mean.of(figures) or 0) for figures in end.comparison.figures]
    assert written == ["3m04s", "2m09s"]


def test_equal_runs_are_said_to_be_alike() -> None:
    found = headline_of("fifo", "fifo")
    assert found.figure == "0%"
    assert found.sentences[0] == f"A job took {MEANS['fifo']} on average under fifo and fifo alike."
    assert not any("sooner" in each for each in found.sentences)


def test_nothing_is_said_before_both_are_over_and_then_the_table_has_all_jobs() -> None:
    """FIFO's run ends some ten seconds before Fair's."""
    spec = load_run("two-jobs")
    specs = [msgspec.structs.replace(spec, policy=each) for each in ("fifo", "fair")]
    with LiveServer(specs) as server:
        end = to_the_end(server)
        first_end_ms = min(run.recording.end_ms for run in server.runs)
        between = ask(server, GoTo(first_end_ms))
    assert between.headline is None
    assert between.comparison is not None
    assert [row.name for row in between.comparison.rows] == ["long"]
    assert end.comparison is not None
    assert [row.name for row in end.comparison.rows] == ["long", "short"]
