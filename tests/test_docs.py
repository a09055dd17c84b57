"""What the docs cite is there: files, classes, functions, rules."""

import ast
import re
from functools import cache
from pathlib import Path

from callboard.fairness.catalogue import PROPERTIES
from callboard.journal.checks.checker import Checker

ROOT = Path(__file__).parents[1]
ROOMS = (
    *("actors", "scheduler", "histories", "scenarios", "journal", "experiments", "fairness", "tui"),
    *("twin", "callboard", "tests", "bench", "trials"),
)
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
RULES = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")

ELSEWHERE = {
    "FairScheduler",
    "FaultyTrackersInfo",
    "JobInProgress",
    "JobQueueTaskScheduler",
    "JobTracker",
    "KeyboardInterrupt",
    "ReduceCopier",
    "TaskInProgress",
    "TaskTracker",
}
"""Names in the docs that are Hadoop's, or Python's."""

CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@cache
def sources() -> dict[str, ast.Module]:
    """Every module by its dotted name as the docs write it, without the front door's."""
    paths = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    found = {}
    for path in paths:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@cache
def members() -> dict[str, set[str]]:
    """The classes, and what each has: methods, fields, and what `__init__` sets."""
    found: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for tree in sources().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                own = found.setdefault(node.name, set())
                bases.setdefault(node.name, set()).update(map(ast.unparse, node.bases))
                for each in ast.walk(node):
                    if isinstance(each, ast.FunctionDef):
                        own.add(each.name)
                    elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                        own.add(each.id)
                    elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                        own.add(each.attr)
    for _ in range(4):
        for name, parents in bases.items():
            for parent in parents:
                found[name] |= found.get(parent.split(".")[-1], set())
    return found


@cache
def names() -> set[str]:
    """What modules define: classes, functions, constants; and what is elsewhere."""
    found = set(ELSEWHERE)
    for tree in sources().values():
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.add(node.name)
            else:
                found.update(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    return found


def cited(page: Path) -> set[str]:
    """What stands between backticks in a page, code blocks apart."""
    return set(CODE.findall(FENCE.sub("", page.read_text(encoding="utf-8"))))


def problem(word: str) -> str | None:
    """Why there is no such thing; None if there is, or if it is no name of ours."""
    if re.fullmatch(r"[\w.-]+(/[\w.-]+)+\.(py|md|toml|json|svg|tsv)", word):
        there = any((folder / word).is_file() for folder in (ROOT, ROOT / "docs"))
        return None if there else "no such file"
    if re.fullmatch(r"(\w+/)+", word):
        there = any((ROOT / room / word).is_dir() for room in ("", *ROOMS))
        return None if there else "no such folder"
    if re.fullmatch(r"\w+\.py", word):
        stems = {name.split(".")[-1] for name in sources()}
        return None if word.removesuffix(".py") in stems or word in FILES else "no such file"
    if re.fullmatch(r"[A-Z]\w*\.\w+(\(\))?", word):
        owner, member = word.removesuffix("()").split(".")
        known = owner in ELSEWHERE or member in members().get(owner, set())
        return None if known else "no such member"
    if re.fullmatch(r"[A-Z][a-z]+([A-Z][a-z]*)+", word):
        return None if word in names() else "no such class"
    if re.fullmatch(rf"(callboard\.)?({'|'.join(ROOMS)})(\.\w+)+", word):
        path = word.removeprefix("callboard.")
        module, _, last = path.rpartition(".")
        ours = path in sources() or ((not module or module in sources()) and last in names())
        return None if ours or f"callboard.{path}" in sources() else "no such module"
    return None


FILES = {"FILE.py", "mine.py", "scheduler.py", "actors.py"}
"""Files of a user's own in examples."""


def test_what_the_pages_name_is_there() -> None:
    """All in one test, so that one process reads the sources."""
    found = {(page.name, word): problem(word) for page in PAGES for word in sorted(cited(page))}
    assert not {where: why for where, why in found.items() if why}


def test_every_rule_that_is_cited_is_on_the_page() -> None:
    """In code, tests and docs: H, T, S, F, M, O, P and Y with a number."""
    stated = set(re.findall(r"^\| ([HTSFMPOY]\d+) \|", RULES, re.MULTILINE))
    found: dict[str, str] = {}
    for path in (*PAGES, *(p for room in ROOMS for p in (ROOT / room).rglob("*.py"))):
        text = path.read_text(encoding="utf-8")
        for rule in re.findall(r"\b(?:rules? |and |, |\()([HTSFMPOY][1-9]\d?)\b(?![\w.])", text):
            found.setdefault(rule, str(path.relative_to(ROOT)))
    assert not {rule: where for rule, where in found.items() if rule not in stated}


def test_the_rules_of_every_run_say_what_the_page_says() -> None:
    rows = re.findall(r"^\| ([SPOY]\d+) \| (.*) \| `(\w+)` \|$", RULES, re.MULTILINE)
    rules = {rule.id: (rule.says, type(rule).__name__) for rule in Checker().rules}
    assert {number: (says, name) for number, says, name in rows} == rules


def test_every_property_of_the_kit_holds_a_rule_on_the_page() -> None:
    held = {p.name: re.findall(r"\b[SFMPOY]\d+\b", p.source) for p in PROPERTIES}
    lines = {row.split("|")[1].strip(): row for row in RULES.splitlines() if row.startswith("| ")}
    for name, numbers in held.items():
        assert numbers, f"{name} names no rule"
        for number in numbers:
            shown = number[0] in "SPOY" or f"`{name}`" in lines[number]
            assert shown, f"{number} does not name {name}"
