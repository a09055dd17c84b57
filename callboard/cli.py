"""`callboard`: the command line.

Exit status: 0 for a run that ended, 1 for one that failed or got stuck (for `diff` when the
journals differ, for `check` when a guarantee failed), 2 for bad input, 130 after Ctrl-C.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import dropwhile
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import NoReturn, cast

from callboard import stdio
from callboard.actors.version import __version__
from callboard.experiments.user_errors import EXIT_INTERRUPTED
from callboard.scheduler.text.concise import concise

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
  callboard help run                       the options of a command
"""

SCENARIOS = Path(__file__).parent / "scenarios" / "library"

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
    "forecast": "say when jobs will end, from what is known at a moment",
    "export": "turn a journal into a page, a trace, a table, or what other systems read",
    "plot": "draw figures of journals, or of a store",
    "report": "write a page about journals or a store, to mail",
    "new": "write a policy of your own that runs, to begin with",
    "check": "test a policy against the properties of fairness that it guarantees",
    "hunt": "look for the scenario in which a policy looks worst against another",
    "reproduce": "set the papers' tables and figures beside ours",
    "ideal": "the simulator report's experiment: size-based disciplines on one divisible machine",
    "scenarios": "list the scenarios of the library",
    "policies": "list the parts that policies are made of",
    "completion": "print a script by which a shell completes all this",
}
"""What each is for.  `show` is `show_command` in `commands/show_command.py`, beside its
`add_arguments` if it takes any; the file is loaded only for that command, and its docstring is the
command's help.
"""


def run_command_line(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    try:
        stdio.prepare_streams()
        return stdio.flush_output(_parse_and_run(arguments))
    except SystemExit as leaving:  # argparse has printed help, or what is wrong
        sys.exit(stdio.flush_output(leaving.code if isinstance(leaving.code, int) else 0))
    except KeyboardInterrupt:
        stdio.print_error("interrupted")
        return stdio.flush_output(EXIT_INTERRUPTED, told=True)
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


def _parse_and_run(arguments: Sequence[str] | None) -> int:
    words = _help_as_option(list(sys.argv[1:] if arguments is None else arguments))
    parser = make_parser(*words[:1])
    options = _parsed_options(parser, words)
    if options.command is None:
        return _start_without_command(parser)
    status: int = options.action(options)
    return status


def _help_as_option(words: list[str]) -> list[str]:
    """`help run` is another way to say `run --help`."""
    return [*words[1:2], "--help"] if words[:1] == ["help"] else words


def _start_without_command(parser: argparse.ArgumentParser) -> int:
    """Without a command: in a terminal let the user choose a scenario and watch it, else help."""
    from callboard.commands import start_command  # the screen takes a moment to load

    if not start_command.can_choose():
        parser.print_help()
        return 0
    status, choice = 0, start_command.choose_scenario()
    while choice is not None:  # leaving a run leads back, and so does one that cannot be played
        status, trouble = _try_command(start_command.arguments_of(choice))
        choice = start_command.choose_scenario(choice, trouble)
    return status


def _try_command(words: Sequence[str]) -> tuple[int, str]:
    """The exit status of a command, and what was wrong with its input."""
    try:
        return _parse_and_run(words), ""
    except Exception as error:
        from callboard.experiments.error_messages import describe_error

        message, status = describe_error(error)
        if message is None:
            raise
        return status, message


def _parsed_options(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """The arguments; of scenarios, files and other lists argparse leaves over those that stand
    between options or after them.
    """
    if words and not words[0].startswith("-") and words[0] not in COMMAND_SUMMARIES:
        parser.error(_no_command_message(words[0]))
    if words and words[0].startswith("--") and words[0] not in ("--help", "--version"):
        parser.error(
            f"{words[0]}: options come after the command, as in `callboard run … {words[0]}`"
        )
    bare = next((word for word in words if word[:2] == "--" and word[-3:] == "=--"), None)
    if bare is not None:  # argparse would hand on an empty list
        parser.error(f"argument {bare[:-3]}: `--` is no value")
    options, left = parser.parse_known_args(_join_percentages_to_options(words))
    options.arguments = words
    if left:
        asked = _parser_of(parser, options.command)
        unknown = list(dropwhile(lambda word: not word.startswith("-"), left))
        named = None if unknown else _positional_list_argument(asked)
        if named is None:
            asked.error(_unrecognised_message(asked, unknown or left))
        read = cast(Callable[[str], object], named.type or str)
        setattr(options, named.dest, [*getattr(options, named.dest), *map(read, left)])
    return options


def _parser_of(parser: argparse.ArgumentParser, command: str | None) -> argparse.ArgumentParser:
    """That of a command; the whole one's without any."""
    if command is None:
        return parser
    subparsers = (each.choices for each in parser._actions if each.dest == "command")
    found: argparse.ArgumentParser = next(subparsers)[command]  # type: ignore[index]
    return found


def _positional_list_argument(parser: argparse.ArgumentParser) -> argparse.Action | None:
    """What a command takes a list of without an option, if it does."""
    actions = parser._get_positional_actions()
    return next((each for each in actions if each.nargs in ("*", "+")), None)


_CHANGE = re.compile(r"-\d+(\.\d+)?%")


def _join_percentages_to_options(words: list[str]) -> list[str]:
    """`--nodes -20%` as one word: argparse takes what begins with a dash for an option."""
    joined: list[str] = []
    for word in words:
        if _CHANGE.fullmatch(word) and joined and joined[-1].startswith("--"):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


_TO_A_FILE = ("--to", "--journal FILE", "--cache FILE")
_BY_OTHER_WORDS = {
    "o": _TO_A_FILE,
    "out": _TO_A_FILE,
    "output": _TO_A_FILE,
    "twin": ("--engine twin",),
    "actors": ("--engine actors",),
    "format": ("--json",),
    "workers": ("--cores",),
    "parallel": ("--cores",),
}
"""What other programs call an option, and the options that it may be, with what they take."""

_ALIKE = 0.65
"""How like an option a word must be, at least, to be taken for a slip of the pen."""


def _unrecognised_message(parser: argparse.ArgumentParser, left: Sequence[str]) -> str:
    """What a command cannot take, and the option that is like it."""
    from difflib import get_close_matches

    from callboard.experiments.run.run_loading import SHORTCUTS

    message = f"unrecognized arguments: {' '.join(left)}"
    asked = next((word.partition("=")[0] for word in left if word.startswith("-")), "").lstrip("-")
    known = parser._option_string_actions
    short_for = {name.lstrip("-"): (f"--set {key}=",) for name, (key, _) in SHORTCUTS.items()}
    others = {**short_for, **_BY_OTHER_WORDS}.get(asked, ())
    named = [each for each in others if each.split()[0] in known]
    alike = get_close_matches(asked, [each.lstrip("-") for each in known], n=1, cutoff=_ALIKE)
    meant = named or [f"--{each}" for each in alike]
    return f"{message}; did you mean `{meant[0]}`?" if meant else message


def _no_command_message(word: str) -> str:
    """What to type in place of a word that is no command."""
    from difflib import get_close_matches

    if Path(word).exists() or (SCENARIOS / f"{word}.toml").is_file():
        return f"{word!r} is no command; did you mean `callboard run {word}`?"
    near = get_close_matches(word, COMMAND_SUMMARIES, n=1)
    meant = f"did you mean `callboard {near[0]}`?" if near else "`callboard help` lists them"
    return f"{word!r} is no command; {meant}"


class _Parser(argparse.ArgumentParser):
    """Quotes no more of a wrong argument than a person reads, and says what a missing one is."""

    def error(self, message: str) -> NoReturn:
        named = message.partition("arguments are required: ")[2].split(", ")
        missing = [each for each in self._actions if _argument_name(each) in named]
        told = [f"\n  {_argument_name(each)}: {_argument_help(each)}" for each in missing]
        super().error(concise(message) + "".join(told))


def _argument_name(argument: argparse.Action) -> str:
    """As argparse calls it where it is missing."""
    return "/".join(argument.option_strings) or str(argument.metavar or argument.dest)


def _argument_help(argument: argparse.Action) -> str:
    """Its help as `--help` prints it."""
    return (argument.help or "") % vars(argument)


def make_parser(*commands: str) -> argparse.ArgumentParser:
    """The whole command line, with the arguments of these commands: the others are not loaded, as
    all take a second.
    """
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser("callboard", description=_ABOUT, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"callboard {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMAND_SUMMARIES.items():
        subparser = subparsers.add_parser(name, help=summary, formatter_class=raw)
        if name in commands:
            _add_command(subparser, name)
    return parser


def _add_command(parser: argparse.ArgumentParser, name: str) -> None:
    """What a command's file says of it."""
    module = import_module(f"callboard.commands.{name}_command")
    if hasattr(module, "add_arguments"):
        module.add_arguments(parser)
    parser.set_defaults(action=getattr(module, f"{name}_command"))
    about, _, parser.epilog = (module.__doc__ or "").partition("\n\n")
    parser.description = fill(" ".join(about.split()), get_terminal_size().columns - 2)


if __name__ == "__main__":
    sys.exit(run_command_line())
