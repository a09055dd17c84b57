"""List the library's scenarios by the names that `callboard run` takes, with what each is about."""

import argparse

from callboard.console import print_list
from callboard.scenarios.scenario_file import library_scenarios


def scenarios_command(_options: argparse.Namespace) -> int:
    print_list((name, story) for name, _, story in library_scenarios())
    return 0
