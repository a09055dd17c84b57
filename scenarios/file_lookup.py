"""Where the files lie that a scenario names: the traces, and what was recorded."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from callboard.scheduler.text.scenario_error import ScenarioError


def file_beside(folder: Path, path: str) -> Path | None:
    """The file as seen from the folder, else that of its name in it; None where neither is."""
    return _first_there((folder / path, folder / Path(path).name))


def locate_trace(path: str, base_dir: Path, key: str = "workload.path") -> Path:
    """The trace beside the scenario file, else in the working folder; `key` is where it stands."""
    found = _first_there((base_dir / path, Path(path)))
    if found is None:
        problem = f'there is no trace "{path[:200]}", beside the scenario or in the working folder'
        raise ScenarioError(problem, key=key)
    return found


def _first_there(places: Iterable[Path]) -> Path | None:
    for each in places:
        with suppress(OSError, ValueError):  # a name too long, or with a NUL in it
            if each.exists():
                return each
    return None
