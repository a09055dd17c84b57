"""House rules to rely on: which way imports run, and what keeps runs reproducible."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MAY_IMPORT = {
    "scheduler": {"scheduler"},
    "actors": {"scheduler", "actors"},
    "scenarios": {"scheduler", "actors", "scenarios"},
    "journal": {"scheduler", "actors", "journal"},
    "fairness": {"scheduler", "actors", "scenarios", "journal", "fairness"},
    "tui": {"scheduler", "actors", "scenarios", "journal", "tui"},
    "callboard": {"scheduler", "actors", "scenarios", "journal", "fairness", "tui", "callboard"},
}
"""The one way in which imports run; `scenarios` and `journal` do not know each other."""

BANNED_IN_THE_WORLD = {"time", "random", "uuid", "datetime", "secrets", "asyncio"}
"""What no actor and no policy may ask: the wall clock, and randomness without an address."""


def files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_run_one_way(package: str) -> None:
    for path in files(package):
        foreign = set(imports(path)) & MAY_IMPORT.keys() - MAY_IMPORT[package]
        assert not foreign, f"{path.relative_to(ROOT)} imports {foreign}"


@pytest.mark.parametrize("package", ["scheduler", "actors"])
def test_the_world_asks_no_clock_and_draws_no_unaddressed_number(package: str) -> None:
    for path in files(package):
        banned = set(imports(path)) & BANNED_IN_THE_WORLD
        assert not banned, f"{path.relative_to(ROOT)} imports {banned}"


def test_only_the_hosts_know_trio() -> None:
    knowing = {
        path.name
        for package in MAY_IMPORT
        for path in files(package)
        if "trio" in set(imports(path))
    }
    assert knowing == {"hosts.py"}


@pytest.mark.parametrize("package", ["scheduler", "actors"])
def test_nothing_is_ordered_by_address_or_hash(package: str) -> None:
    for path in files(package):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                assert node.func.id not in {"id", "hash"}, f"{where} calls {node.func.id}()"


def test_no_policy_reads_sealed_orders() -> None:
    """What a task will really take is in `work`, which the master carries and nobody reads."""
    for path in files("scheduler"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.Attribute) and node.attr == "work"), path


def test_no_message_holds_a_set() -> None:
    """A set has no order, and what a message holds goes into the digest."""
    for path in (ROOT / "actors" / "messages.py", ROOT / "actors" / "events.py"):
        names = {
            node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)
        }
        assert not names & {"set", "frozenset", "Set", "AbstractSet"}, path
