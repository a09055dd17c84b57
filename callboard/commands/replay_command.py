"""Show a recorded run on the screen: play it at any speed, step, go back and forth.  A run that was
cut off is shown as far as it goes; one that is still being written is read on as it grows.
"""

import argparse
import sys
import time

from callboard.arguments import add_journal_argument
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.experiments.user_errors import InputError
from callboard.journal.follow import Follower, JournalStatus
from callboard.journal.replay.recorded import RecordedSource
from callboard.screen import add_screen_arguments, config_of, opening_of, show_on_screen
from callboard.terminal import check_terminal

_AT_ONCE = 20_000
"""How many events are read before the screen comes up; the rest follows behind it."""
_LOOK_AGAIN_S = 0.1
"""How often a file is looked at in which no run has begun."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal_argument(parser)
    followed = "begin at the end of what is known and go on as it grows, like `tail -f`"
    parser.add_argument("-f", "--follow", action="store_true", help=followed)
    add_screen_arguments(parser)


def replay_command(options: argparse.Namespace) -> int:
    if options.follow and options.at:
        raise InputError("--at: with --follow the screen begins at the end; leave one of them out")
    check_terminal()
    config = config_of(options)
    journal = Follower(options.journal)
    source = RecordedSource(journal, oracle_of_journal)
    source.read_on(_AT_ONCE)  # what is wrong with the file's beginning is said before the screen
    if options.follow:
        _await_begin(source, journal)
    if source.recording.started is None:
        raise InputError(f"{options.journal}: no run has been recorded in it yet")
    while options.follow and source.read_on(_AT_ONCE):
        pass
    opening = opening_of(options, config.defaults)
    return show_on_screen(source, config, opening, follow=options.follow)


def _await_begin(source: RecordedSource, journal: Follower) -> None:
    """Wait for a run that is about to be recorded, as long as its writer lives."""
    if source.recording.started is None and journal.status is JournalStatus.WRITING:
        told = f"callboard: {journal.path}: the run has not begun yet; Ctrl-C ends the waiting"
        print(told, file=sys.stderr)
    while source.recording.started is None and journal.status is JournalStatus.WRITING:
        time.sleep(_LOOK_AGAIN_S)
        source.read_on(_AT_ONCE)
