"""Everything a person can do, once: the keys, the palette, the help and the docs come from here.
A config file (`tui.user_config`) gives other keys to commands by their names.
"""

from collections.abc import Mapping

import msgspec

_SPELLED_BY_TEXTUAL = {"+": "plus,equals_sign", ",": "comma", "esc": "escape", ":": "colon"}
"""Keys for which Textual has a name of its own, or which have a second key."""


class Command(msgspec.Struct, frozen=True):
    """One thing to do: its key as people read it, its name, the action of the app, what it does.

    `word` is for the bottom line, which has commands with a `rank` only; the highest go first.
    """

    key: str
    name: str
    action: str
    help: str
    word: str = ""
    rank: int | None = None

    @property
    def textual_keys(self) -> str:
        """The key, or all keys, as Textual spells them."""
        return _SPELLED_BY_TEXTUAL.get(self.key, self.key)


_TIME = (
    Command("space", "play", "play", "play, or pause", "play", 0),
    Command("+", "faster", "faster(1)", "faster"),
    Command("-", "slower", "faster(-1)", "slower (the bottom line shows both)", "speed", 2),
    Command("*", "flat-out", "flat_out", "as fast as it goes, and back to ×60"),
    Command(".", "next-event", "step('event')", "step to the next event", "event", 3),
    Command(",", "previous-event", "step('event', True)", "step back by one event"),
    Command("h", "next-master", "step('master')", "step to when a scheduler acts next"),
    Command(
        "H", "previous-master", "step('master', True)", "back to when a scheduler acted before"
    ),
    Command("j", "next-job", "step('job')", "step to the next end of a job", "job", 4),
    Command("J", "previous-job", "step('job', True)", "back to the end of a job before"),
    Command(
        "m",
        "next-mark",
        "step('mark')",
        "to the next mark: a fault, a lost node, a preemption",
        "mark",
        1,
    ),
    Command("M", "previous-mark", "step('mark', True)", "back to the mark before"),
    Command("]", "forward", "scrub(1)", "forward by a hundredth of the run"),
    Command("[", "back", "scrub(-1)", "back by a hundredth of the run", "scrub", 5),
    Command("}", "far-forward", "scrub(10)", "forward by a tenth of the run"),
    Command("{", "far-back", "scrub(-10)", "back by a tenth of the run"),
    Command("home", "start", "seek_start", "to the beginning"),
    Command(
        "end",
        "end",
        "seek_end",
        "to the end of what is known (* then space: to the run's); follows a journal that grows",
    ),
    Command("g", "go-to", "ask_time", "go to a time: 7:30, 90s, 1h30m", "go to", 6),
    Command(":", "jump", "ask_jump", "jump to a job, a node or a time"),
    Command("u", "until", "until", "play until a time, a fault, the end of a job", "until", 9),
)
_INTERVENING = (
    Command(
        "x",
        "intervene",
        "intervene",
        "intervene: change a node, a job, the cluster",
        "intervene",
        2,
    ),
    Command("f", "fork", "fork", "fork: another run from here on, under another policy", "fork", 4),
    Command("W", "save", "save", "save the run as a scenario file or a journal"),
)
_COMPARING = (
    Command("d", "divergence", "divergence", "to where the two runs first differ", "divergence", 1),
    Command("v", "swap", "front", "bring the other run to the front", "swap", 1),
    Command("w", "keep", "keep", "go on with the run in front alone", "keep", 5),
    Command("D", "differences", "differences", "highlight the slots that differ, or all"),
)
_VIEW = (
    Command(
        "1",
        "slots",
        "focus_pane('slots')",
        "to the slots; arrows choose a node, enter goes into it",
        "panes",
        0,
    ),
    Command("2", "jobs", "focus_pane('jobs')", "to the jobs; arrows choose one"),
    Command(
        "3",
        "events",
        "focus_pane('log')",
        "to the events; arrows choose, → ← unfold and fold, enter goes there",
    ),
    Command(
        "4", "detail", "focus_pane('detail')", "to the details of the selection; arrows scroll"
    ),
    Command("5", "charts", "focus_pane('charts')", "to the charts"),
    Command("z", "zoom", "maximise", "the focused pane alone, or all again", "zoom", 8),
    Command(
        "c",
        "cells",
        "cell_size",
        "slots: what fits, tiles, cells, halves, racks, cards, nodes, blocks",
        "cells",
        9,
    ),
    Command(
        "C",
        "colours",
        "ask_colours",
        "colours: by job, pool, user, locality, age, …",
        "colours",
        10,
    ),
    Command(
        "/",
        "filter",
        "ask_filter",
        "only jobs and events with a text; !text: without it",
        "filter",
        7,
    ),
    Command("s", "sort", "sort", "sort the jobs by the next column", "sort", 10),
    Command("S", "reverse", "reverse_order", "reverse the order of the jobs"),
    Command(
        "a", "all-jobs", "all_jobs", "also jobs that have left the system, or not", "all jobs", 11
    ),
    Command(
        "e",
        "more-events",
        "log_level",
        "events: headlines, also decisions, everything",
        "events",
        12,
    ),
    Command("k", "event-kind", "ask_kind", "events of one kind only, or of all"),
    Command(
        "o",
        "own-events",
        "log_of_selection",
        "events of the selection only, or of all",
        "only its own",
        13,
    ),
    Command("esc", "clear", "clear", "leave the zoomed pane, the slot, the selection, the filters"),
)
_AUDIENCE = (
    Command("n", "tour-next", "tour(1)", "on a tour: the next step"),
    Command("N", "tour-back", "tour(-1)", "on a tour: the step before"),
    Command(
        "P",
        "present",
        "present",
        "for an audience: fewer panes, larger tiles, captions; or all again",
    ),
)
_SCREEN = (
    Command("t", "theme", "theme", "the next theme: dark, light, high-contrast, mono"),
    Command(
        "p", "picture", "picture", "save the screen as a picture: SVG, and PNG with the extra `png`"
    ),
    Command("y", "copy", "copy", "copy the chosen event, or what the focused pane shows"),
    Command("?", "help", "help", "this list, and what the signs mean", "help", 0),
    Command("q", "quit", "quit", "leave", "quit", 0),
)

INTERVENING, COMPARING = "intervening", "two runs compared"
"""What is only for live runs, and what is only for two runs."""

GROUPS = {
    "time": _TIME,
    INTERVENING: _INTERVENING,
    COMPARING: _COMPARING,
    "view": _VIEW,
    "for an audience": _AUDIENCE,
    "screen": _SCREEN,
}
"""All commands under the headings of the help."""

COMMANDS = tuple(command for commands in GROUPS.values() for command in commands)


class Keymap:
    """All commands with the keys in force: `chosen` has keys by the names of commands."""

    def __init__(self, chosen: Mapping[str, str] | None = None) -> None:
        self.chosen = dict(chosen or {})
        self.groups = {
            heading: tuple(self._rebound_command(command) for command in commands)
            for heading, commands in GROUPS.items()
        }
        self.commands = tuple(each for commands in self.groups.values() for each in commands)
        self._now = {old.key: new.key for old, new in zip(COMMANDS, self.commands, strict=True)}
        self.usual = {command.name: command.key for command in COMMANDS}
        """The keys by name that are in force unless others are chosen."""

    def _rebound_command(self, command: Command) -> Command:
        return msgspec.structs.replace(command, key=self.chosen.get(command.name, command.key))

    def key_in_force(self, key: str) -> str:
        """The key that does what this one does usually."""
        return self._now.get(key, key)

    def for_textual(self) -> dict[str, str]:
        """The chosen keys by the names of commands, as Textual spells them."""
        return {each.name: each.textual_keys for each in self.commands if each.name in self.chosen}
