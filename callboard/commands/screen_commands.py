"""`callboard replay` and `callboard watch`: a run on the screen."""

import argparse
import os
import sys
from pathlib import Path

import msgspec

from callboard import web
from callboard.actors.kernel.kernel import KernelError
from callboard.commands.run_command import (
    add_scenario_arguments,
    add_world_arguments,
    plan_runs,
    until_ms,
)
from callboard.experiments.journal_paths import journal_paths
from callboard.experiments.simulation import RunOptions
from callboard.experiments.user_errors import InputError
from callboard.journal.follow import Follower
from callboard.journal.replay.recorded import FollowedSource
from callboard.journal.replay.source import Source
from callboard.scenarios.scenario_file import DEFAULT_SCENARIO

SIDES = 2
"""How many runs a screen can show."""

COLUMNS_LEAST, LINES_LEAST = 60, 20
_AT_ONCE = 20_000
"""How many events are read before the screen comes up; the rest follows behind it."""


def add_replay_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard replay`."""
    parser.description = (
        "Show a recorded run on the screen: play it at any speed, step, go back and forth.  A run"
        " that was cut off is shown as far as it goes; one that is still being written is read on"
        " as it grows."
    )
    parser.add_argument(
        "journal",
        type=Path,
        metavar="JOURNAL",
        help="what `callboard run --journal` has written, or is still writing",
    )
    parser.add_argument(
        "-f",
        "--follow",
        action="store_true",
        help="begin at the end of what is known and go on with it as it grows, like `tail -f`",
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
    source = FollowedSource(Follower(options.journal))
    source.read_on(_AT_ONCE)  # what is wrong with the file's beginning is said before the screen
    if source.recording.started is None:
        raise InputError(f"{options.journal}: no run has been recorded in it yet")
    while options.follow and source.read_on(_AT_ONCE):
        pass
    return _show(source, options.theme, follow=options.follow)


def add_watch_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard watch`."""
    parser.description = (
        "Play a scenario and watch it on the screen: at any speed, step by step, back and forth."
        "  What happens is what `callboard run` would do, whatever is watched and however."
    )
    parser.add_argument(
        "scenario",
        nargs="?",
        default=DEFAULT_SCENARIO,
        metavar="SCENARIO",
        help="a scenario or a trace, as `callboard run` takes them;"
        f" {DEFAULT_SCENARIO} if none is given",
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
    browser = parser.add_argument_group("in a browser")
    browser.add_argument(
        "--web",
        action="store_true",
        help=f"show the screen at http://{web.HOST}:{web.PORT}, to browsers on this machine alone",
    )
    browser.add_argument(
        "--port", type=_port, default=web.PORT, metavar="N", help="another port than that"
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:6]) < 65536):
        raise argparse.ArgumentTypeError(f"expected a port between 1 and 65535, got {text!r}")
    return int(text)


def watch_command(options: argparse.Namespace) -> int:
    """Play a scenario on the screen."""
    asked = options.policy or []
    if len(asked) > SIDES:
        raise InputError(
            f"--policy: a screen has room for {SIDES} runs, not {len(asked)};"
            " `callboard run` compares any number in a table"
        )
    if options.web and not web.is_child():
        return _watch_in_browsers(options, asked)
    check_terminal()
    scenario, jobs, script, policies = plan_runs(options.scenario, options, asked)
    runs = [(scenario.name, policy) for policy in policies[: max(len(asked), 1)]]
    journals = journal_paths(options.journal, runs)
    for journal in journals.values():
        journal.open("ab").close()  # what is wrong with it is said before the screen comes up
    from callboard.experiments.interventions import RunSpec
    from callboard.experiments.live_server import start_runs

    how = RunOptions(until_ms=until_ms(options), tie_order=options.tie_order)
    source = start_runs(
        *(
            RunSpec(
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


def _watch_in_browsers(options: argparse.Namespace, policies: list[str]) -> int:
    """Let each browser have a process that plays the scenario; what is wrong is said before."""
    if options.journal is not None:
        raise InputError("--journal: with --web each browser plays a run of its own; leave it out")
    plan_runs(options.scenario, options, policies)
    web.check_port(options.port)
    return web.serve_browsers(options.arguments, options.port)


def _show(source: Source, theme: str, *, follow: bool = False) -> int:
    """Let a person look, until they leave."""
    from callboard.tui.app import CallboardApp  # it takes a moment to load

    app = CallboardApp(source, theme=theme)
    if follow:
        app.playback.follow()
    app.run()
    if app.failure is not None:
        raise app.failure
    if app.playback.frame is not None and app.playback.frame.failure:
        raise KernelError(app.playback.frame.failure)
    return app.return_code or 0


def check_terminal() -> None:
    """InputError where no screen can be shown, or none that anybody could read."""
    if web.is_child():
        return
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
