"""A person's own keys, theme and defaults: `callboard/config.toml` in the folder that
XDG_CONFIG_HOME names, `~/.config` if it names none.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from callboard.journal.replay.palette import THEMES
from callboard.scenarios.toml_reader import line_of_key, parse_toml
from callboard.scheduler.text.key_path import KeyPath, dotted
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.strict_decoder import DecodeError, decode_strictly, suggestion
from callboard.scheduler.text.text_file import read_text
from callboard.tui.keymap import COMMANDS, Keymap

SPEED_MAX = 1_000_000

_NAMED = {"space", "esc", "backspace", "delete", "insert", "home", "end"}
_NAMED |= {f"f{number}" for number in range(1, 13)}
_TAKEN = {"up", "down", "left", "right", "enter", "tab", "pageup", "pagedown", "ctrl+c", "ctrl+p"}
"""Keys of the panes, and of what is above all of them."""

_MODIFIERS = ("ctrl", "alt", "shift")
_SENT_AS = {
    "ctrl+h": "backspace", "ctrl+i": "tab", "ctrl+j": "enter", "ctrl+m": "enter", "ctrl+[": "esc",
}  # fmt: skip
"""What terminals send instead."""


class ScreenDefaults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a screen begins where the command does not say: virtual seconds in a real one, or "max";
    whether time passes at once; whether it is for an audience.
    """

    speed: float | str = 60
    play: bool = False
    present: bool = False


class UserConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file.  `theme` is one of `THEMES`, `keys` has keys by the names of commands."""

    theme: str = "dark"
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    defaults: ScreenDefaults = ScreenDefaults()

    @property
    def keymap(self) -> Keymap:
        return Keymap(self.keys)


def config_path() -> Path:
    """Where the file is, or would be; a relative XDG_CONFIG_HOME does not count."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    home = folder if folder.is_absolute() else Path("~/.config").expanduser()
    return home / "callboard" / "config.toml"


def load_config() -> UserConfig:
    """What the file says; what is usual where there is none.  ScenarioError names the line of what
    is wrong.
    """
    path = config_path()
    if not path.exists():
        return UserConfig()
    text = read_text(path)
    if not text.strip():
        return UserConfig()
    try:
        config = decode_strictly(parse_toml(text, path), UserConfig, "the file")
        _check_config(config)
    except DecodeError as error:
        line = line_of_key(text, error.key) or line_of_key(text, error.key[:-1])
        raise ScenarioError(str(error), source=path, key=dotted(error.key), line=line) from None
    return msgspec.structs.replace(config, keys=dict(_keys_as_shown(config.keys)))


def check_theme(name: str) -> str:
    """The theme's name; ValueError for none."""
    if name not in THEMES:
        raise ValueError(f"no theme is called `{name}`; {suggestion(name, THEMES)}")
    return name


def _check_config(config: UserConfig) -> None:
    try:
        check_theme(config.theme)
    except ValueError as error:
        raise DecodeError(str(error), ("theme",)) from None
    speed = config.defaults.speed
    if speed != "max" and (isinstance(speed, str) or not 0 < speed <= SPEED_MAX):
        expected = f'a number above 0 and up to {SPEED_MAX:,}, or "max"'
        raise DecodeError(f"expected {expected}, got {speed!r}", ("defaults", "speed"))
    names = [command.name for command in COMMANDS]
    for name, key in config.keys.items():
        if name not in names:
            raise DecodeError(
                f"no command is called `{name}`; {suggestion(name, names)}", _key_path(name)
            )
        if (problem := _key_flaw(key)) is not None:
            raise DecodeError(problem, _key_path(name))
    _check_key_clashes(dict(_keys_as_shown(config.keys)))


def _key_path(name: str) -> KeyPath:
    return ("keys", name)


def _key_flaw(key: str) -> str | None:
    *modifiers, base = key.split("+") if len(key) > 1 else [key]
    if base == "escape":
        base = "esc"
    if key in _TAKEN:
        return f"`{key}` is for going about in panes, or out; choose another key"
    if (sent := _SENT_AS.get(key.lower())) is not None:
        return f"`{key}` is {sent} in a terminal; choose another key"
    if wrong := [each for each in modifiers if each not in _MODIFIERS]:
        return f"`{wrong[0]}` is no modifier; {suggestion(wrong[0], _MODIFIERS)}"
    if "shift" in modifiers and len(base) == 1:
        typed = f"`{base.upper()}`" if base.isalpha() else "the character that it types"
        return f"no terminal sends `{key}`; write {typed}"
    if (len(base) == 1 and base.isprintable() and base != " ") or base in _NAMED:
        return None
    near = "did you mean `space`?" if base == " " else suggestion(base, _NAMED)
    expected = "expected a character, or a name such as space or f5"
    return f"`{key}` is no key; {near if 'mean' in near else expected}"


def _keys_as_shown(keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, key in keys.items():
        yield name, "esc" if key == "escape" else key


_SECOND_KEYS = {"+": ("=",)}
"""Keys that do the same without the shift key."""


def _check_key_clashes(keys: Mapping[str, str]) -> None:
    owner: dict[str, str] = {}
    for command in sorted(Keymap(keys).commands, key=lambda each: each.name in keys):
        for key in (command.key, *_SECOND_KEYS.get(command.key, ())):
            if key in owner and command.name in keys:
                problem = f"`{command.key}` is the key of `{owner[key]}` already"
                raise DecodeError(f"{problem}; give that one another", _key_path(command.name))
            owner[key] = command.name
