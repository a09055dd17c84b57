"""`--version` and `--help` answer before a screen, a simulator or a library has been loaded."""

import sys

import pytest

from tests.callboard import support

LOADED = """
import sys

before = set(sys.modules)
sys.argv = ["callboard", *{arguments}]
from callboard.__main__ import main

try:
    main()
except SystemExit as leaving:
    assert leaving.code in (0, None), leaving.code
print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""

HEAVY = {"asyncio", "concurrent", "email", "http", "inspect", "multiprocessing", "ssl", "tomllib"}
"""What the standard library has that takes a moment to load."""


def loaded_by(*arguments: str) -> set[str]:
    done = support.python(LOADED.format(arguments=arguments))
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_an_option_that_only_prints_loads_no_library_and_no_room(option: str) -> None:
    modules = loaded_by(option)
    foreign = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
    assert foreign <= {"callboard"}
    version = {"callboard.actors", "callboard.actors.version"}  # a constant, for all rooms
    own = {name for name in modules if name.startswith("callboard.")} - version
    rooms = {"actors", "fairness", "journal", "scenarios", "tui", "commands", "api"}
    assert not [name for name in own if name.split(".")[1] in rooms]
    assert not HEAVY & modules


def test_the_list_of_what_is_loaded_is_no_empty_one() -> None:
    assert {"callboard.cli", "argparse"} <= loaded_by("--version")
    assert "msgspec" in loaded_by("policies")


def test_a_run_of_the_library_loads_no_reader_of_histories() -> None:
    modules = loaded_by("run", "two-jobs")
    assert "callboard.experiments.run.simulation" in modules
    assert not [name for name in modules if ".formats." in name or ".backtest." in name]
