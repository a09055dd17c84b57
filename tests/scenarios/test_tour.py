"""Reading tours: what is wrong with one is said with its line."""

from pathlib import Path

import pytest

from callboard.scenarios.library_list import LIBRARY
from callboard.scenarios.tour import check_tour_steps, find_tour, load_tour
from callboard.scheduler.text.scenario_error import ScenarioError

GOOD = """\
policies = ["fair"]
question = "Why?"
answer = "Because."

[[step]]
text = "Look."
at_s = 1.5
pane = "jobs"
"""


def test_a_tour_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.tour.toml"
    path.write_text(GOOD)
    assert find_tour(tmp_path / "mine.toml") == path
    (step,) = load_tour(path).steps
    assert (step.text, step.at_ms, step.pane) == ("Look.", 1500, "jobs")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (GOOD.replace("jobs", "job"), r"line 8, step\[0\]\.pane"),
        (GOOD.replace("1.5", "-1"), r"line 7, step\[0\]\.at_s"),
        (GOOD.replace("text =", "txt ="), r"did you mean .*text"),
        (GOOD.replace('answer = "Because."', ""), "answer"),
        (GOOD.partition("[[")[0], "step"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, wrong: str, said: str) -> None:
    path = tmp_path / "mine.tour.toml"
    path.write_text(wrong)
    with pytest.raises(ScenarioError) as error:
        load_tour(path)
    assert error.match(said)
    assert error.match("mine.tour.toml")


def test_a_scenario_without_one_is_told_which_have(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no tour; of the library google-like, master-pause"):
        find_tour(LIBRARY / "gp-busy.toml")
    with pytest.raises(ScenarioError, match=r"there is no mine\.tour\.toml beside it"):
        find_tour(tmp_path / "mine.toml")


@pytest.mark.parametrize(("what", "last"), [("job", 12), ("node", 39)])
def test_a_step_that_selects_what_is_not_there_is_refused(
    tmp_path: Path, what: str, last: int
) -> None:
    """It was passed over in silence."""
    path = tmp_path / "mine.tour.toml"
    path.write_text(f"{GOOD}{what} = {last}\n")
    check_tour_steps(load_tour(path), 13, 40)
    path.write_text(f"{GOOD}{what} = {last + 1}\n")
    told = f"step 1 of the tour: there is no {what} {last + 1}: the last is {last}"
    with pytest.raises(ScenarioError, match=told):
        check_tour_steps(load_tour(path), 13, 40)
