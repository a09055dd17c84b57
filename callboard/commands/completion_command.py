"""Print a script by which a shell completes commands, options and files of `callboard`.

examples:
  eval "$(callboard completion bash)"                                  in ~/.bashrc
  callboard completion zsh > "${fpath[1]}/_callboard"                  then begin a new zsh
  callboard completion fish > ~/.config/fish/completions/callboard.fish
"""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="for which shell")


def completion_command(options: argparse.Namespace) -> int:
    import shtab

    from callboard.cli import make_whole_parser

    print(shtab.complete(make_whole_parser(), options.shell))
    return 0
