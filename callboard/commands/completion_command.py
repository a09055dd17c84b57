"""Print a script by which a shell completes commands, options, scenarios, policies and files of
`callboard`.

examples:
  eval "$(callboard completion bash)"                                  in ~/.bashrc
  callboard completion zsh > "${fpath[1]}/_callboard"                  then begin a new zsh
  callboard completion fish > ~/.config/fish/completions/callboard.fish
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Completer: TypeAlias = dict[str, str | dict[str, str]]
"""What completes a word, by shell; and the functions that it needs (`preamble`), by shell."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="for which shell")


def completion_command(options: argparse.Namespace) -> int:
    import shtab

    from callboard.cli import COMMAND_SUMMARIES, make_parser

    parser = make_parser(*COMMAND_SUMMARIES)
    by_metavar = _completers_by_metavar()
    for action in _all_actions(parser):
        if action.metavar in by_metavar:
            action.complete = by_metavar[action.metavar]  # type: ignore[attr-defined]
    print(shtab.complete(parser, options.shell))
    return 0


def _completers_by_metavar() -> dict[str | tuple[str, ...] | None, object]:
    """What completes an argument, by what stands for it in the help."""
    import shtab

    from callboard.actors.architectures import ARCHITECTURES
    from callboard.scenarios.library_list import library_names
    from callboard.scheduler.registry.shipped import ORDERS

    scenarios = library_names()
    return {
        "SCENARIO": words_and_files_completer("scenario", scenarios, ("toml", "tsv", "journal")),
        "POLICY": words_and_files_completer("policy", [*ORDERS, *ARCHITECTURES], ("py",)),
        "JOURNAL": shtab.glob("*.journal"),
        "FILE": shtab.FILE,
        "FOLDER": shtab.DIRECTORY,
    }


def words_and_files_completer(name: str, words: Sequence[str], endings: Sequence[str]) -> Completer:
    """Completes any of these words, files with these endings, and folders."""
    listed = " ".join(words)
    globs = " ".join(f"'!*.{ending}'" for ending in endings)
    function = f"_callboard_{name}"
    bash = f"""
{function}() {{
  compgen -W '{listed}' -- "$1"
  for others in {globs}; do compgen -f -X "$others" -- "$1"; done
  compgen -d -- "$1"
}}"""
    zsh = f"{function}() {{ compadd {listed}; _files -g '*.({'|'.join(endings)})' }}"
    fish = f"(printf '%s\\n' {listed}; __fish_complete_path (commandline -ct))"
    preamble = {"bash": bash, "zsh": zsh}
    return {"bash": function, "zsh": function, "fish": fish, "preamble": preamble}


def _all_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of the parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from _all_actions(each)
