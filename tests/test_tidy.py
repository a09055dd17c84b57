"""House rules to rely on: which way imports run, and what keeps runs reproducible."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FRONT_DOOR = "callboard"

MAY_IMPORT = {
    "scheduler": {"scheduler"},
    "actors": {"scheduler", "actors"},
    "histories": {"scheduler", "actors", "histories"},
    "twin": {"scheduler", "actors", "twin"},
    "scenarios": {"scheduler", "actors", "histories", "scenarios"},
    "journal": {"scheduler", "actors", "histories", "journal"},
    "experiments": {
        *("scheduler", "actors", "twin", "histories", "scenarios", "journal", "experiments"),
    },
    "fairness": {"scheduler", "actors", "scenarios", "journal", "experiments", "fairness"},
    "tui": {"scheduler", "actors", "scenarios", "journal", "experiments", "tui"},
    "callboard": {
        "scheduler",
        "actors",
        "twin",
        "histories",
        "scenarios",
        "journal",
        "experiments",
        "fairness",
        "tui",
        "callboard",
    },
}
"""The one way in which imports run; `scenarios` and `journal` do not know each other."""

BANNED_IN_THE_WORLD = {"time", "random", "uuid", "datetime", "secrets", "asyncio"}
"""What no actor and no policy may ask: the wall clock, and randomness without an address."""


ROOMS = MAY_IMPORT.keys() - {FRONT_DOOR}


def files(package: str) -> list[Path]:
    """A room's own files; `rglob` does not go through the links of the front door."""
    return sorted((ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, by its whole name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def distributions(path: Path) -> set[str]:
    """The first names of all that a file imports."""
    return {name.partition(".")[0] for name in imports(path)}


def rooms(path: Path) -> set[str]:
    """The rooms from which a file imports; what is in none of them is the front door's."""
    parts = [name.split(".") for name in imports(path)]
    seconds = {(names[1:] or [""])[0] for names in parts if names[0] == FRONT_DOOR}
    return {second if second in ROOMS else FRONT_DOOR for second in seconds}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_run_one_way(package: str) -> None:
    for path in files(package):
        foreign = rooms(path) - MAY_IMPORT[package]
        assert not foreign, f"{path.relative_to(ROOT)} imports {foreign}"


STUDIES_MAY_IMPORT: dict[str, set[str]] = {
    "run": set(),
    "live": {"run"},
    "many": {"run"},
    "backtest": {"run", "many"},
    "forecast": {"run", "many", "backtest"},
    "pages": {"run", "many"},
    "ideal_study": {"run", "many", "pages"},
    "reproduction": {"run", "many", "pages", "ideal_study"},
}
"""The same within `experiments`, whose own files, of places and errors, all of these may use."""


@pytest.mark.parametrize("room", STUDIES_MAY_IMPORT)
def test_studies_stand_on_runs_and_never_the_other_way_round(room: str) -> None:
    allowed = {room} | STUDIES_MAY_IMPORT[room]
    for path in files(f"experiments/{room}"):
        parts = [name.split(".") for name in imports(path) if ".experiments." in name]
        foreign = {names[2] for names in parts} & (STUDIES_MAY_IMPORT.keys() - allowed)
        assert not foreign, f"{path.relative_to(ROOT)} imports {foreign}"


def test_every_folder_of_studies_has_its_place() -> None:
    folders = {path.parent.name for path in (ROOT / "experiments").glob("*/__init__.py")}
    assert folders == STUDIES_MAY_IMPORT.keys()
    for path in (ROOT / "experiments").glob("*.py"):
        parts = [name.split(".") for name in imports(path) if ".experiments." in name]
        assert not {names[2] for names in parts} & folders, path.name


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_is_imported_through_its_link_in_the_front_door(room: str) -> None:
    link = ROOT / FRONT_DOOR / room
    assert link.is_symlink()
    assert link.readlink() == Path("..", room)


@pytest.mark.parametrize("package", ["scheduler", "actors", "twin"])
def test_the_world_asks_no_clock_and_draws_no_unaddressed_number(package: str) -> None:
    for path in files(package):
        banned = distributions(path) & BANNED_IN_THE_WORLD
        assert not banned, f"{path.relative_to(ROOT)} imports {banned}"


def test_the_twin_shares_no_rule_with_the_actors() -> None:
    """Either can judge the other: what both import is what a scenario states."""
    found = {name for path in files("twin") for name in imports(path) if ".actors." in name}
    assert found <= {
        "callboard.actors.job_spec.JobSpec",
        "callboard.actors.kernel.streams.Stream",  # to test the twin's own draws
        "callboard.actors.stall_limits.calm_stall_ms",
        "callboard.actors.topology.Topology",
        "callboard.actors.vocabulary.events",  # what a journal tells, which is no rule
        "callboard.actors.vocabulary.events.AnyEvent",
        "callboard.actors.vocabulary.events.Outcome",
        "callboard.actors.vocabulary.events.WHY_UNSEEN",
        "callboard.actors.world.World",
    }


def test_only_its_own_room_knows_the_masters_address() -> None:
    """So that other architectures can stand beside it: jobs and injector are given addresses."""
    knowing = {
        path.parent.name
        for package in MAY_IMPORT
        for path in files(package)
        if any(name.endswith(".MASTER") for name in imports(path))
    }
    assert knowing == {"central"}


def test_an_architectures_room_is_known_to_the_list_of_those_that_ship() -> None:
    """Nobody else in `actors/` imports from a room of schedulers but that room itself, and rooms
    that are made of its parts.
    """
    made_of_it = {"sparrow": {"hawk"}}
    for room in ("central", "hawk", "omega", "sparrow", "yarn"):
        rooms = {room} | made_of_it.get(room, set())
        outside = [path for path in files("actors") if path.parent.name not in rooms]
        knowing = {
            path.name
            for path in outside
            if any(f".actors.{room}." in name for name in imports(path))
        }
        assert knowing <= {"architectures.py"}


def test_a_cause_is_set_where_messages_are_delivered_and_nowhere_else() -> None:
    """Elsewhere it is an argument; a job's entry has a list of that name."""
    setting = set()
    for path in files("actors"):
        nodes = ast.walk(ast.parse(path.read_text()))
        named = (node for node in nodes if isinstance(node, ast.Attribute) and node.attr == "cause")
        if any(isinstance(node.ctx, ast.Store) for node in named):
            setting.add(str(path.relative_to(ROOT / "actors")))
    assert setting == {"kernel/actor.py", "kernel/drivers.py", "books/job_tasks.py"}


def test_only_the_drivers_know_trio() -> None:
    knowing = {
        path.name
        for package in MAY_IMPORT
        for path in files(package)
        if "trio" in distributions(path)
    }
    assert knowing == {"drivers.py"}


@pytest.mark.parametrize("package", ["scheduler", "actors", "twin"])
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
    for path in (ROOT / "actors" / "vocabulary").glob("*.py"):
        names = {
            node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)
        }
        assert not names & {"set", "frozenset", "Set", "AbstractSet"}, path


DEFINED_TWICE = {"add_arguments"}
"""Each command has its own, which `callboard.cli` asks for by this name."""


def public_names(path: Path) -> Iterator[str]:
    """The public names that a file defines at its top level."""
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(name)):
                yield name


def test_no_public_name_is_defined_twice() -> None:
    """A name means one thing, and a search for it finds one place."""
    places: dict[str, list[str]] = {}
    for path in (path for package in MAY_IMPORT for path in files(package)):
        for name in set(public_names(path)):
            if not name.startswith("_"):
                places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert not {name: found for name, found in twice.items() if name not in DEFINED_TWICE}


def test_no_two_files_have_one_name() -> None:
    paths = [path for package in MAY_IMPORT for path in files(package)]
    stems = Counter(path.stem for path in paths if not path.stem.startswith("__"))
    assert not {stem: times for stem, times in stems.items() if times > 1}
