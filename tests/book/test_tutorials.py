"""The lessons are true: every command prints what the page says."""

import re
from pathlib import Path

import pytest

from callboard.scheduler.view import JobView
from tests.support.book_pages import page_text, play_page
from tests.support.soak import one_in

pytestmark = pytest.mark.soak


@pytest.mark.parametrize(
    ("page", "commands"),
    one_in(
        2,
        [
            (
                "class-room.md",
                ["run", "diff", *("run" for _ in range(6)), "show", "show"],
            ),
            (
                "your-own-policy.md",
                [
                    *("new", "run", "check", "hunt", "run", "explain", "run", "run"),
                    *("run", "sweep", "plot"),
                ],
            ),
        ],
    ),
)
def test_a_lesson_goes_as_it_says(
    page: str,
    commands: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "sweep" in commands:
        pytest.importorskip("matplotlib")
        pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    assert [command.split()[1] for command in play_page(page, capsys)] == commands


def test_the_table_of_a_job_has_all_that_a_policy_sees_of_it() -> None:
    """Each member of `JobView` once."""
    rows = re.findall(r"^\| (`job\..*?) \|", page_text("your-own-policy.md"), re.MULTILINE)
    told = [name for row in rows for name in re.findall(r"`job\.(\w+)", row)]
    assert sorted(told) == sorted(name for name in vars(JobView) if not name.startswith("_"))
