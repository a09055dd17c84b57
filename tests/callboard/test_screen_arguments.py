"""How a screen is asked to begin."""

import pytest

from callboard.cli import make_parser, run_command_line
from callboard.journal.replay.player import Opening
from callboard.screen import opening_of
from callboard.tui.user_config import ScreenDefaults

USUAL = ScreenDefaults()


def opening(*words: str, defaults: ScreenDefaults = USUAL) -> Opening:
    return opening_of(make_parser("watch").parse_args(["watch", "rack-outage", *words]), defaults)


def test_by_itself_it_begins_paused_at_the_start() -> None:
    assert opening() == Opening(0, False, 60)


def test_it_begins_where_and_how_it_is_told() -> None:
    assert opening("--play", "--speed", "90.5", "--at", "13:00") == Opening(780_000, True, 90.5)
    assert opening("--speed", "max").speed is None


def test_the_config_file_says_what_the_command_does_not() -> None:
    mine = ScreenDefaults(speed="max", play=True, present=True)
    assert opening(defaults=mine) == Opening(0, True, None, True)
    assert opening("--speed", "5", defaults=mine).speed == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("watch", "--speed", "0"),
            "expected a speed above 0 and up to 1,000,000",
        ),
        (("watch", "--speed", "nan"), "expected a speed above 0 and"),
        (("watch", "--at", "noon"), "--at: 'noon' is no time; try 7:30"),
        (("replay", "x.journal", "--follow", "--at", "3"), "--follow the screen begins at the end"),
    ],
)
def test_what_is_wrong_is_said_in_words(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status: object = run_command_line(words)
    except SystemExit as leaving:
        status = leaving.code
    assert status == 2
    assert said in capsys.readouterr().err
