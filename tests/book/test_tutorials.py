"""The lessons are true: every command prints what the page says."""

from pathlib import Path

import pytest

from tests.support.book_pages import play_page
from tests.support.soak import one_in


@pytest.mark.parametrize(
    ("page", "commands"),
    one_in(
        2,
        [
            (
                "class-room.md",
                ["run", "diff", *("run" for _ in range(6)), "show", "show"],
            ),
            ("your-own-policy.md", ["new", "run", "check", "hunt", "run", "explain", "run", "run"]),
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
    monkeypatch.chdir(tmp_path)
    assert [command.split()[1] for command in play_page(page, capsys)] == commands
