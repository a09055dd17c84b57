"""Everything a person can do, once: the keys, the palette, the help and the docs come from here."""

import msgspec


class Command(msgspec.Struct, frozen=True):
    """One thing to do: its key (as Textual calls it, and as people read it), the action of the
    app, a word for the bottom line, and what it does.  `rank` says how soon the bottom line drops
    it: the highest first; None for what is never there.
    """

    keys: str
    shown: str
    action: str
    word: str
    help: str
    group: str
    rank: int | None = None


_TIME, _LOOK, _SCREEN = "time", "looking", "the screen"
INTERVENING, COMPARING = "doing", "two runs beside each other"

COMMANDS = (
    Command("space", "space", "play", "play", "play, or pause", _TIME, 0),
    Command("plus,equals_sign", "+", "faster(1)", "", "faster", _TIME),
    Command("minus", "-", "faster(-1)", "speed", "slower (the bottom line shows both)", _TIME, 2),
    Command("asterisk", "*", "flat_out", "", "as fast as it goes, and back to ×60", _TIME),
    Command("full_stop", ".", "step('event')", "event", "step to the next event", _TIME, 3),
    Command("comma", ",", "step('event', True)", "", "step back by one event", _TIME),
    Command("h", "h", "step('master')", "", "step to when the master acts next", _TIME),
    Command("H", "H", "step('master', True)", "", "back to when the master acted before", _TIME),
    Command("j", "j", "step('job')", "job", "step to the next end of a job", _TIME, 4),
    Command("J", "J", "step('job', True)", "", "back to the end of a job before", _TIME),
    Command(
        "m",
        "m",
        "step('mark')",
        "mark",
        "go to the next mark: a fault, a lost node, a preemption",
        _TIME,
        1,
    ),
    Command("M", "M", "step('mark', True)", "", "back to the mark before", _TIME),
    Command(
        "right_square_bracket", "]", "scrub(1)", "", "forward by a hundredth of the run", _TIME
    ),
    Command(
        "left_square_bracket", "[", "scrub(-1)", "scrub", "back by a hundredth of the run", _TIME, 5
    ),
    Command("right_curly_bracket", "}", "scrub(10)", "", "forward by a tenth of the run", _TIME),
    Command("left_curly_bracket", "{", "scrub(-10)", "", "back by a tenth of the run", _TIME),
    Command("home", "home", "seek_to('start')", "", "to the beginning", _TIME),
    Command(
        "end",
        "end",
        "seek_to('end')",
        "",
        "to the end of what is known; of a journal that still grows, on with it",
        _TIME,
    ),
    Command("g", "g", "ask_time", "go to", "go to a time: 7:30, 90s, 1h30m", _TIME, 6),
    Command(
        "u",
        "u",
        "until",
        "until",
        "play until: a time, the next fault, the end of the selected job",
        _TIME,
        9,
    ),
    Command(
        "x",
        "x",
        "interfere",
        "interfere",
        "interfere: with the node or job that is selected, its rack, the cluster",
        INTERVENING,
        2,
    ),
    Command(
        "f",
        "f",
        "fork",
        "fork",
        "fork: from here on also under another policy, shown beside this run",
        INTERVENING,
        4,
    ),
    Command("d", "d", "parting", "difference", "to where the two first differ", COMPARING, 1),
    Command("v", "v", "front", "swap", "the other one in front", COMPARING, 1),
    Command("w", "w", "keep", "keep", "go on with the one in front alone", COMPARING, 5),
    Command("D", "D", "differences", "", "let slots that differ stand out, or all", COMPARING),
    Command(
        "1",
        "1",
        "focus_pane('slots')",
        "",
        "to the slots; arrows go from node to node, enter into its slots",
        _LOOK,
    ),
    Command("2", "2", "focus_pane('jobs')", "", "to the jobs; arrows choose one", _LOOK),
    Command(
        "3",
        "3",
        "focus_pane('log')",
        "",
        "to the events; arrows choose one, enter goes to its time",
        _LOOK,
    ),
    Command("4", "4", "focus_pane('detail')", "", "to what is selected; arrows scroll", _LOOK),
    Command("5", "5", "focus_pane('charts')", "", "to the charts", _LOOK),
    Command("z", "z", "maximise", "zoom", "the focused pane alone, or all again", _LOOK, 8),
    Command(
        "c",
        "c",
        "cell_size",
        "cells",
        "larger or smaller slots: what fits, tiles, cells, half blocks, racks",
        _LOOK,
        9,
    ),
    Command(
        "slash",
        "/",
        "ask_filter",
        "filter",
        "only jobs and events with this text; !text leaves those out",
        _LOOK,
        7,
    ),
    Command("s", "s", "sort(1)", "sort", "sort the jobs by the next column", _LOOK, 10),
    Command("S", "S", "sort(0)", "", "turn the order of the jobs round", _LOOK),
    Command(
        "a", "a", "all_jobs", "all jobs", "also jobs that have left the system, or not", _LOOK, 11
    ),
    Command(
        "e", "e", "log_level", "events", "events: headlines, also decisions, everything", _LOOK, 12
    ),
    Command("k", "k", "ask_kind", "", "events of one kind only, or of all", _LOOK),
    Command(
        "o",
        "o",
        "log_of_selection",
        "only its own",
        "events of what is selected only, or of all",
        _LOOK,
        13,
    ),
    Command(
        "escape",
        "esc",
        "clear",
        "",
        "let go: of the pane alone, the slot, the selection, the filters",
        _LOOK,
    ),
    Command("t", "t", "theme", "", "dark or light", _SCREEN),
    Command("p", "p", "picture", "", "save the screen as a picture (SVG)", _SCREEN),
    Command("question_mark", "?", "help", "help", "this list, and what the signs mean", _SCREEN, 0),
    Command("q", "q", "quit", "quit", "leave", _SCREEN, 0),
)
