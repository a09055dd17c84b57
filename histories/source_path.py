"""The file or folder of a history that a user names."""

from pathlib import Path

from callboard.histories.readers.swim_lines import is_swim
from callboard.histories.readers.unpacked_text import first_bytes
from callboard.scheduler.text.likely_file import likely_file
from callboard.scheduler.text.scenario_error import ScenarioError


def checked_source(name: str) -> Path:
    """It, if it is there; ScenarioError if not."""
    path = Path(name)
    if not name or "\0" in name or not (path.is_file() or path.is_dir()):
        near = likely_file(path) if name and "\0" not in name else None
        meant = f"; did you mean `{near}`?" if near else ""
        raise ScenarioError(f"there is no such file or folder{meant}", source=name[:200] or '""')
    return path


def checked_history_source(name: str, columns: str = "") -> Path:
    """The history of that name, if it is there; ScenarioError if not, or for a SWIM trace of which
    `columns` say nothing: that one tells of no attempt, and is played as it is.
    """
    path = checked_source(name)
    if not columns and path.is_file() and is_swim(first_bytes(path, 1000)):
        hint = f"it tells sizes of jobs and no attempts; `callboard run {path}` plays it as it is"
        raise ScenarioError(f"a SWIM trace: {hint}", source=path)
    return path
