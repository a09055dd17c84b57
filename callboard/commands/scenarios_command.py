"""`callboard scenarios`: what the library has."""

import argparse

from callboard.console import print_list
from callboard.scenarios.scenario_file import library_scenarios


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command takes none."""
    parser.description = (
        "List the scenarios that come with Callboard, by the name that `callboard run` takes, with"
        " what each is about."
    )


def scenarios_command(_options: argparse.Namespace) -> int:
    """List the library."""
    print_list((name, story) for name, _, story in library_scenarios())
    return 0
