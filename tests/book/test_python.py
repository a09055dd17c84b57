"""The Python of the pages runs; `tests/experiments/test_docs.py` has the pages on experiments."""

import ast
import re
from pathlib import Path

import pytest

from tests.support.book_pages import DOCS

README = DOCS.parent / "README.md"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [README, *sorted(DOCS.glob("*.md"))]


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
