"""`callboard`: the command line.

Exit status: 0 for a run that ended, 1 for one that failed or got stuck (for `diff` when the
journals differ, for `check` when a claim failed), 2 for bad input, 130 after Ctrl-C.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import dropwhile

from callboard import stdio
from callboard.commands import (
    check_arguments,
    export_command,
    ideal_command,
    reading_commands,
    screen_commands,
)
from callboard.commands.run_command import add_run_arguments, run_command
from callboard.experiments.user_errors import describe_error
from callboard.version import __version__

DESCRIPTION = """\
A simulator of a shared MapReduce cluster in which the master, every node, every slot and every
job is an actor, and a workbench for the schedulers that share such a cluster.

  callboard run                            the default scenario, FIFO beside Fair
  callboard run two-jobs --policy fair     a scenario of the library under one policy
  callboard run trace.tsv --nodes 100      a SWIM trace
  callboard watch rack-outage              a scenario on the screen
  callboard                                choose one of the library in a terminal
  callboard check fair                     a policy against the properties that it claims
"""


def run_command_line(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    try:
        stdio.prepare_streams()
        return stdio.flush_output(_run(arguments))
    except SystemExit as leaving:  # argparse has printed help, or what is wrong
        sys.exit(stdio.flush_output(leaving.code if isinstance(leaving.code, int) else 0))
    except KeyboardInterrupt:
        return stdio.flush_output(130)
    except BrokenPipeError:  # the reader, say `head`, has had enough
        stdio.discard_output()
        return 0
    except Exception as error:
        message, status = describe_error(error)
        if message is None:
            raise
        stdio.print_error(message)
        return stdio.flush_output(status, told=True)


def _run(arguments: Sequence[str] | None) -> int:
    parser = make_parser()
    options = _parse(parser, arguments)
    if options.command is None:
        return _start(parser)
    status: int = options.action(options)
    return status


def _start(parser: argparse.ArgumentParser) -> int:
    """Without a command: in a terminal let a scenario be chosen and watched, else help."""
    from callboard.commands import start_command  # the screen takes a moment to load

    if not start_command.can_choose():
        parser.print_help()
        return 0
    choice = start_command.choose_scenario()
    if choice is None:
        return 0
    chosen = ["watch", choice.scenario, "--policy", choice.policy, "--theme", choice.theme]
    return _run(chosen)


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; the scenarios of `run` may also stand between its options and after them.

    argparse takes only the first group of them and leaves the others over.
    """
    options, left = parser.parse_known_args(arguments)
    options.arguments = list(sys.argv[1:] if arguments is None else arguments)
    if left:
        strange = list(dropwhile(lambda word: not word.startswith("-"), left))
        if options.command != "run" or strange:
            parser.error(f"unrecognized arguments: {' '.join(strange or left)}")
        options.scenarios += left
    return options


def make_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("callboard", description=DESCRIPTION, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"callboard {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    run = subparsers.add_parser(
        "run",
        help="run scenarios or traces under one or more policies",
        description="Run each scenario under each policy and print one table that compares them.",
        epilog=RUN_EPILOG,
        formatter_class=raw,
    )
    add_run_arguments(run)
    run.set_defaults(action=run_command)

    show = subparsers.add_parser("show", help="print a journal as sentences")
    reading_commands.add_show_arguments(show)
    show.set_defaults(action=reading_commands.show_command)

    explain_job = subparsers.add_parser("explain", help="say why a job waited, from a journal")
    reading_commands.add_explain_arguments(explain_job)
    explain_job.set_defaults(action=reading_commands.explain_command)

    diff = subparsers.add_parser("diff", help="find the first event at which two journals part")
    reading_commands.add_diff_arguments(diff)
    diff.set_defaults(action=reading_commands.diff_command)

    watch = subparsers.add_parser("watch", help="play a scenario on the screen, and watch it")
    screen_commands.add_watch_arguments(watch)
    watch.set_defaults(action=screen_commands.watch_command)

    replay = subparsers.add_parser("replay", help="show a recorded run on the screen")
    screen_commands.add_replay_arguments(replay)
    replay.set_defaults(action=screen_commands.replay_command)

    export = subparsers.add_parser("export", help="turn a journal into a trace or a table")
    export_command.add_export_arguments(export)
    export.set_defaults(action=export_command.export_command)

    check = subparsers.add_parser(
        "check",
        help="hold a policy against the properties of fairness that it claims",
        description=check_arguments.CHECK_DESCRIPTION,
        epilog=check_arguments.CHECK_EPILOG,
        formatter_class=raw,
    )
    check_arguments.add_check_arguments(check)
    check.set_defaults(action=check_arguments.check_command)

    hunt = subparsers.add_parser(
        "hunt",
        help="look for the scenario in which a policy looks worst against another",
        description=check_arguments.HUNT_DESCRIPTION,
        epilog=check_arguments.HUNT_EPILOG,
        formatter_class=raw,
    )
    check_arguments.add_hunt_arguments(hunt)
    hunt.set_defaults(action=check_arguments.hunt_command)

    ideal_command.add_parser(subparsers)

    scenarios = subparsers.add_parser(
        "scenarios",
        help="list the scenarios of the library",
        description="List the scenarios that come with Callboard, by the name that"
        " `callboard run` takes, with what each is about.",
    )
    scenarios.set_defaults(action=reading_commands.scenarios_command)

    policies = subparsers.add_parser(
        "policies",
        help="list the parts that policies are made of",
        description="List the orders, locality, preemption and speculation rules that"
        " `callboard run --policy` takes, with their parameters and defaults.",
    )
    policies.set_defaults(action=reading_commands.policies_command)
    return parser


RUN_EPILOG = """\
examples:
  callboard run facebook-morning --policy fifo --policy fair --slowdown
  callboard run trace.tsv --nodes 100 --jobs 1000 --policy fair
  callboard run two-jobs --set tasks.sigma=0.3 --seed 7 --json
  callboard run two-jobs --policy fair --journal fair.journal
"""


if __name__ == "__main__":
    sys.exit(run_command_line())
