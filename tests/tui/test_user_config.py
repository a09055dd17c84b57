"""A person's config file: what it changes on the screen, and what is said of its flaws."""

from pathlib import Path

import pytest

from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.tui.keymap import COMMANDS, Keymap
from callboard.tui.user_config import UserConfig, config_path, load_config
from tests.journal.replay.support import outage, recorded
from tests.tui.support import SMALL, Screen, drive


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the file would be."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = config_path()
    path.parent.mkdir()
    return path


def test_it_lies_where_such_files_lie(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for nothing in ("", "relative"):
        monkeypatch.setenv("XDG_CONFIG_HOME", nothing)
        assert config_path() == tmp_path / ".config" / "callboard" / "config.toml"


def test_none_or_an_empty_one_changes_nothing(config: Path) -> None:
    assert load_config() == UserConfig()
    config.write_text("\n", encoding="utf-8")
    assert load_config() == UserConfig()


def test_all_that_it_can_say(config: Path) -> None:
    config.write_text(
        'theme = "mono"\n[keys]\nplay = "p"\npicture = "space"\nclear = "escape"\n'
        '[defaults]\nspeed = "max"\nplay = true\npresent = true\n',
        encoding="utf-8",
    )
    found = load_config()
    assert (found.theme, found.defaults.speed, found.defaults.play) == ("mono", "max", True)
    assert found.keys == {"play": "p", "picture": "space", "clear": "esc"}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('theme = "drak"', 1, "no theme is called `drak`; did you mean `dark`?"),
        ("themes = 1", 1, "unknown field `themes` in the file; did you mean `theme`?"),
        ('[keys]\nplya = "p"', 2, "no command is called `plya`; did you mean `play`?"),
        ('[keys]\nplay = "spacebar"', 2, "`spacebar` is no key; did you mean `space`?"),
        ('[keys]\nplay = "crtl+s"', 2, "`crtl` is no modifier; did you mean `ctrl`?"),
        ('[keys]\nplay = ""', 2, "`` is no key; expected a character, or a name"),
        ('[keys]\nplay = "ctrl+c"', 2, "`ctrl+c` is for going about in panes, or out"),
        ('[keys]\nplay = "ctrl+j"', 2, "`ctrl+j` is enter in a terminal; choose another key"),
        ('[keys]\nplay = "ctrl+["', 2, "`ctrl+[` is esc in a terminal; choose another key"),
        ('[keys]\nplay = "shift+a"', 2, "no terminal sends `shift+a`; write `A`"),
        (
            '[keys]\nplay = "shift+1"',
            2,
            "no terminal sends `shift+1`; write the character that it types",
        ),
        ('[keys]\nplay = "f"', 2, "`f` is the key of `fork` already; give that one another"),
        ('[keys]\nplay = "="', 2, "`=` is the key of `faster` already"),
        ("[keys]\nplay = 3", 2, "expected a string in quotes, got 3"),
        ("[defaults]\nspeed = 0", 2, 'up to 1,000,000, or "max", got 0'),
        ('[defaults]\nspeed = "fast"', 2, "or \"max\", got 'fast'"),
        ("[defaults]\nplay = 1", 2, "expected true or false, got 1"),
        ("theme = dark", 1, "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(config: Path, text: str, line: int, said: str) -> None:
    config.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as error:
        load_config()
    assert said in str(error.value)
    assert error.value.line == line
    assert str(config) in str(error.value)


def test_every_command_has_a_name_of_its_own() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


def test_chosen_keys_are_in_force_everywhere() -> None:
    """Two that change places, one with a modifier; in the bottom line, the titles, the help."""
    keymap = Keymap({"play": "p", "picture": "space", "jobs": "f2", "next-mark": "ctrl+n"})

    async def act(screen: Screen) -> None:
        assert "p to play" in screen.text()
        await screen.press("p")
        assert screen.playing()
        await screen.press("p", "ctrl+n")
        assert (screen.playing(), screen.frame.at_ms) == (False, 420_000)
        await screen.press("f2")
        lines = screen.text().splitlines()
        assert any("[f2] jobs in the system" in line for line in lines)
        assert lines[-1].startswith(" p play  ")
        assert " ctrl+n M mark " in lines[-1]
        await screen.press("m")
        assert screen.frame.at_ms == 420_000
        await screen.press("question_mark")
        await screen.press(*["pagedown"] * 2)
        assert "ctrl+n  to the next mark" in screen.text()

    drive(recorded(outage()), act, SMALL, keymap=keymap)
