"""Everything a person can do, once: the keys, the palette, the help and the docs come from here."""

import msgspec

_SPELLED_BY_TEXTUAL = {"+": "plus,equals_sign", ",": "comma", "esc": "escape", ":": "colon"}
"""Keys for which Textual has a name of its own, or which have a second key."""


class Command(msgspec.Struct, frozen=True):
    """One thing to do: its key as people read it, the action of the app, and what it does.

    `word` is for the bottom line, which has commands with a `rank` only; the highest go first.
    """

    key: str
    action: str
    help: str
    word: str = ""
    rank: int | None = None

    @property
    def keys(self) -> str:
        """The key, or all keys, as Textual spells them."""
        return _SPELLED_BY_TEXTUAL.get(self.key, self.key)


_TIME = (
    Command("space", "play", "play, or pause", "play", 0),
    Command("+", "faster(1)", "faster"),
    Command("-", "faster(-1)", "slower (the bottom line shows both)", "speed", 2),
    Command("*", "flat_out", "as fast as it goes, and back to ×60"),
    Command(".", "step('event')", "step to the next event", "event", 3),
    Command(",", "step('event', True)", "step back by one event"),
    Command("h", "step('master')", "step to when the master acts next"),
    Command("H", "step('master', True)", "back to when the master acted before"),
    Command("j", "step('job')", "step to the next end of a job", "job", 4),
    Command("J", "step('job', True)", "back to the end of a job before"),
    Command("m", "step('mark')", "to the next mark: a fault, a lost node, a preemption", "mark", 1),
    Command("M", "step('mark', True)", "back to the mark before"),
    Command("]", "scrub(1)", "forward by a hundredth of the run"),
    Command("[", "scrub(-1)", "back by a hundredth of the run", "scrub", 5),
    Command("}", "scrub(10)", "forward by a tenth of the run"),
    Command("{", "scrub(-10)", "back by a tenth of the run"),
    Command("home", "seek_start", "to the beginning"),
    Command("end", "seek_end", "to the end of what is known; follows a journal that grows"),
    Command("g", "ask_time", "go to a time: 7:30, 90s, 1h30m", "go to", 6),
    Command(":", "ask_jump", "jump to a job, a node or a time"),
    Command("u", "until", "play until a time, a fault, the end of a job", "until", 9),
)
_INTERVENING = (
    Command("x", "intervene", "intervene: change a node, a job, the cluster", "intervene", 2),
    Command("f", "fork", "fork: another run from here on, under another policy", "fork", 4),
    Command("W", "save", "save the run as a scenario file or a journal"),
)
_COMPARING = (
    Command("d", "divergence", "to where the two runs first differ", "divergence", 1),
    Command("v", "front", "bring the other run to the front", "swap", 1),
    Command("w", "keep", "go on with the run in front alone", "keep", 5),
    Command("D", "differences", "highlight the slots that differ, or all"),
)
_VIEW = (
    Command(
        "1",
        "focus_pane('slots')",
        "to the slots; arrows choose a node, enter goes into it",
        "panes",
        0,
    ),
    Command("2", "focus_pane('jobs')", "to the jobs; arrows choose one"),
    Command(
        "3",
        "focus_pane('log')",
        "to the events; arrows choose, → ← unfold and fold, enter goes there",
    ),
    Command("4", "focus_pane('detail')", "to the details of the selection; arrows scroll"),
    Command("5", "focus_pane('charts')", "to the charts"),
    Command("z", "maximise", "the focused pane alone, or all again", "zoom", 8),
    Command("c", "cell_size", "slots: what fits, tiles, cells, halves, racks, cards", "cells", 9),
    Command("C", "ask_colours", "colours: by job, pool, user, locality, age, …", "colours", 10),
    Command("/", "ask_filter", "only jobs and events with a text; !text: without it", "filter", 7),
    Command("s", "sort", "sort the jobs by the next column", "sort", 10),
    Command("S", "reverse_order", "reverse the order of the jobs"),
    Command("a", "all_jobs", "also jobs that have left the system, or not", "all jobs", 11),
    Command("e", "log_level", "events: headlines, also decisions, everything", "events", 12),
    Command("k", "ask_kind", "events of one kind only, or of all"),
    Command("o", "log_of_selection", "events of the selection only, or of all", "only its own", 13),
    Command("esc", "clear", "leave the zoomed pane, the slot, the selection, the filters"),
)
_AUDIENCE = (
    Command("n", "tour(1)", "on a tour: the next step"),
    Command("N", "tour(-1)", "on a tour: the step before"),
    Command("P", "present", "for an audience: fewer panes, larger tiles, captions; or all again"),
)
_SCREEN = (
    Command("t", "theme", "dark or light"),
    Command("p", "picture", "save the screen as a picture (SVG)"),
    Command("y", "copy", "copy the chosen event, or what the focused pane shows"),
    Command("?", "help", "this list, and what the signs mean", "help", 0),
    Command("q", "quit", "leave", "quit", 0),
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
