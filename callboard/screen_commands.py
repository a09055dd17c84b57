"""`callboard replay` and `callboard watch`: a run on the screen."""

import argparse
import os
import sys
from pathlib import Path

import msgspec

from actors.kernel import KernelError
from callboard.errors import InputError
from callboard.journals import journal_paths
from callboard.play import Options
from callboard.run_command import add_scenario_arguments, add_world_arguments, plan_of, until_ms
from journal.reader import Journal
from scenarios.spec import DEFAULT
from tui.recorded import RecordedSource
from tui.source import Source

SIDES = 2
"""How many runs a screen can show beside each other."""

COLUMNS_LEAST, LINES_LEAST = 60, 20
_AT_ONCE = 20_000
"""How many events are read before the screen comes up; the rest follows behind it."""


def add_replay_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard replay`."""
    parser.description = (
        "Show a recorded run on the screen: play it at any speed, step, go back and forth.  A run"
        " that was cut off is shown as far as it goes."
    )
    parser.add_argument(
        "journal", type=Path, metavar="JOURNAL", help="what `callboard run --journal` has written"
    )
    add_screen_arguments(parser)


def add_screen_arguments(parser: argparse.ArgumentParser) -> None:
    """What every command with a screen takes."""
    parser.add_argument(
        "--theme", choices=("dark", "light"), default="dark", help="colours (t changes them)"
    )


def replay_command(options: argparse.Namespace) -> int:
    """Show a journal on the screen."""
    check_terminal()
    source = RecordedSource(iter(Journal(options.journal)))
    source.read_on(_AT_ONCE)  # what is wrong with the file's beginning is said before the screen
    if source.tape.started is None:
        raise InputError(f"{options.journal}: no run has been recorded in it yet")
    return _show(source, options.theme)


def add_watch_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard watch`."""
    parser.description = (
        "Play a scenario and watch it on the screen: at any speed, step by step, back and forth."
        "  What happens is what `callboard run` would do, whatever is watched and however."
    )
    parser.add_argument(
        "scenario",
        nargs="?",
        default=DEFAULT,
        metavar="SCENARIO",
        help=f"a scenario or a trace, as `callboard run` takes them; {DEFAULT} if none is given",
    )
    parser.add_argument(
        "--policy",
        action="append",
        metavar="POLICY",
        help="as for `callboard run`; else the scenario's first.  Given twice, both runs are shown"
        " beside each other",
    )
    add_scenario_arguments(parser.add_argument_group("changing the scenario"))
    add_world_arguments(parser.add_argument_group("playing it"))
    parser.add_argument("--journal", metavar="FILE", help="record what is played")
    add_screen_arguments(parser)


def watch_command(options: argparse.Namespace) -> int:
    """Play a scenario on the screen."""
    check_terminal()
    asked = options.policy or []
    if len(asked) > SIDES:
        raise InputError(
            f"--policy: a screen has room for {SIDES} runs beside each other, not {len(asked)};"
            " `callboard run` compares any number in a table"
        )
    scenario, jobs, script, policies = plan_of(options.scenario, options, asked)
    runs = [(scenario.name, policy) for policy in policies[: max(len(asked), 1)]]
    journals = journal_paths(options.journal, runs)
    for journal in journals.values():
        journal.open("ab").close()  # what is wrong with it is said before the screen comes up
    from callboard.by_hand import Plan
    from callboard.live import start

    how = Options(until_ms=until_ms(options), tie_order=options.tie_order)
    source = start(
        *(
            Plan(
                scenario,
                jobs,
                policy,
                msgspec.structs.replace(how, journal=journals.get((name, policy))),
                script,
            )
            for name, policy in runs
        )
    )
    try:
        return _show(source, options.theme)
    finally:
        source.close()


def _show(source: Source, theme: str) -> int:
    """Let a person look, until they leave."""
    from tui.app import CallboardApp  # it takes a moment to load

    app = CallboardApp(source, theme=theme)
    app.run()
    if app.trouble is not None:
        raise app.trouble
    if app.frame is not None and app.frame.trouble:
        raise KernelError(app.frame.trouble)
    return app.return_code or 0


def check_terminal() -> None:
    """InputError where no screen can be shown, or none that anybody could read."""
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise InputError("this needs a terminal; `callboard show` prints a journal anywhere")
    if os.environ.get("TERM") in (None, "", "dumb"):
        raise InputError("this terminal (TERM=dumb) cannot place text; try another one")
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    if columns < COLUMNS_LEAST or lines < LINES_LEAST:
        raise InputError(
            f"the terminal has {columns}×{lines} characters; the screen needs"
            f" {COLUMNS_LEAST}×{LINES_LEAST}, and 80×24 for comfort"
        )
