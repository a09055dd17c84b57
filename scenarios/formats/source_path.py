"""The file or folder of a history that a user names."""

from pathlib import Path

from callboard.scenarios.scenario_error import ScenarioError


def checked_source(name: str) -> Path:
    """It, if it is there; ScenarioError if not."""
    path = Path(name)
    if not name or "\0" in name or not (path.is_file() or path.is_dir()):
        raise ScenarioError("there is no such file or folder", source=name[:200])
    return path
