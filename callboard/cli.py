"""`callboard`: the command line.

Exit status: 0 for a run that ended, 1 for one that failed or got stuck (for `diff` when the
journals differ, for `check` when a guarantee failed), 2 for bad input, 130 after Ctrl-C.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import dropwhile
from shutil import get_terminal_size
from textwrap import fill
from typing import NoReturn

from callboard import stdio
from callboard.scheduler.registry.concise import concise
from callboard.version import __version__

_ABOUT = """\
A simulator of a shared MapReduce cluster in which the master, every node, every slot and every
job is an actor, and a workbench for the schedulers that share such a cluster.

  callboard run                            the default scenario, FIFO beside Fair
  callboard run two-jobs --policy fair     a scenario of the library under one policy
  callboard run trace.tsv --nodes 100      a SWIM trace
  callboard import history/done            a history of your own cluster, to be played
  callboard watch rack-outage              a scenario on the screen
  callboard                                choose one of the library in a terminal
  callboard check fair                     a policy against the properties that it guarantees
"""

COMMAND_SUMMARIES = {
    "run": "run scenarios or traces under one or more policies",
    "sweep": "play scenarios in many settings with many seeds, and keep the results in a file",
    "show": "print a journal as sentences",
    "explain": "say why a job waited, from a journal",
    "diff": "find the first event at which two journals differ",
    "watch": "play a scenario on the screen, and watch it",
    "replay": "show a recorded run on the screen",
    "import": "turn a history of another system into a scenario",
    "calibrate": "estimate a cluster's figures from its history",
    "backtest": "compare a history with what a policy would have made of it",
    "export": "turn a journal into a trace, a table, or what other systems read",
    "plot": "draw figures of journals, or of a store",
    "report": "write a page about journals or a store, to mail",
    "check": "test a policy against the properties of fairness that it guarantees",
    "hunt": "look for the scenario in which a policy looks worst against another",
    "reproduce": "set the papers' tables and figures beside ours",
    "ideal": "the simulator report's experiment: size-based disciplines on one divisible machine",
    "scenarios": "list the scenarios of the library",
    "policies": "list the parts that policies are made of",
}
"""What each is for.  `show` is `show_command` in `commands/show_command.py`, beside its
`add_arguments` if it takes any; the file is loaded only for that command, and its docstring is the
command's help.
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
        from callboard.experiments.error_messages import describe_error

        message, status = describe_error(error)
        if message is None:
            raise
        stdio.print_error(message)
        return stdio.flush_output(status, told=True)


def _run(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = make_parser(words[0] if words else "")
    options = _parse(parser, words)
    if options.command is None:
        return _start(parser)
    status: int = options.action(options)
    return status


def _start(parser: argparse.ArgumentParser) -> int:
    """Without a command: in a terminal let the user choose a scenario and watch it, else help."""
    from callboard.commands import start_command  # the screen takes a moment to load

    if not start_command.can_choose():
        parser.print_help()
        return 0
    status, choice = 0, start_command.choose_scenario()
    while choice is not None:  # leaving a run leads back
        policies = [word for policy in choice.policies for word in ("--policy", policy)]
        status = _run(["watch", choice.scenario, *policies, "--theme", choice.theme])
        choice = start_command.choose_scenario(choice)
    return status


def _parse(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """The arguments; argparse leaves over scenarios of `run` between its options or after them."""
    options, left = parser.parse_known_args(words)
    options.arguments = words
    if left:
        unknown = list(dropwhile(lambda word: not word.startswith("-"), left))
        if options.command != "run" or unknown:
            parser.error(f"unrecognized arguments: {' '.join(unknown or left)}")
        options.scenarios += left
    return options


class _Parser(argparse.ArgumentParser):
    """Quotes no more of a wrong argument than a person reads."""

    def error(self, message: str) -> NoReturn:
        super().error(concise(message))


def make_parser(command: str = "") -> argparse.ArgumentParser:
    """The whole command line, with the arguments of one command: the others are not loaded."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser("callboard", description=_ABOUT, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"callboard {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMAND_SUMMARIES.items():
        subparser = subparsers.add_parser(name, help=summary)
        if name == command:
            module = import_module(f"callboard.commands.{name}_command")
            if hasattr(module, "add_arguments"):
                module.add_arguments(subparser)
            subparser.set_defaults(action=getattr(module, f"{name}_command"))
            about, _, subparser.epilog = (module.__doc__ or "").partition("\n\n")
            subparser.description = fill(" ".join(about.split()), get_terminal_size().columns - 2)
            subparser.formatter_class = raw
    return parser


if __name__ == "__main__":
    sys.exit(run_command_line())
