"""What tells of the version besides the package says the same."""

import re
import tomllib
from pathlib import Path

from callboard.actors.version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def field(name: str) -> str:
    found = re.search(rf"^{name}: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    assert found is not None
    return found[1]


def test_the_citation_is_of_this_version() -> None:
    assert field("version") == __version__
    assert field("license") == PROJECT["license"]


def test_the_changes_begin_with_this_version() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+?),", changes, re.M)[0] == __version__
