"""The Python of the pages runs, and its dialogues say what Python says."""

import ast
import doctest
import re
from pathlib import Path

import pytest

from tests.support.book_pages import DOCS

README = DOCS.parent / "README.md"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [README, *sorted(DOCS.glob("*.md"))]
DIALOGUES = [page for page in PAGES if "\n>>> " in page.read_text(encoding="utf-8")]
QUICK = ("ideal", "queues")
"""Pages whose dialogues are of functions; the others' play runs."""


def test_the_calls_in_the_readme_print_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    (block,) = FENCE.findall(README.read_text(encoding="utf-8"))
    exec(block, {"__name__": "readme"})
    run, difference = capsys.readouterr().out.splitlines()
    seconds, digest = run.split()
    assert float(seconds) > 0
    assert len(digest) == 32
    assert difference.startswith("Interval(")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_no_dialogue_is_good_python(page: Path) -> None:
    for block in FENCE.findall(page.read_text(encoding="utf-8")):
        if ">>>" not in block:
            ast.parse(block if not block.startswith(" ") else f"if True:\n{block}")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[] if page.stem in QUICK else [pytest.mark.soak])
        for page in DIALOGUES
    ],
)
def test_a_dialogue_gives_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One imported a function that had got another name, and no test knew the page."""
    if page.stem not in QUICK:
        for extra in ("scipy", "pandas", "SALib"):
            pytest.importorskip(extra)
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.attempted > 6
    assert found.failed == 0
