"""Scenario files of the library with something changed: they play, or are refused in words.

A traceback, a run of many seconds or much memory would each fail the test.
"""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import inspect

from callboard.scenarios.scenario_file import (
    library_scenarios,
    load_scenario,
    make_fault_script,
    make_jobs,
)
from callboard.scenarios.timeline import Timeline
from callboard.scheduler.text.scenario_error import ScenarioError

TEXTS = [path.read_text(encoding="utf-8") for _, path, _ in library_scenarios()]

ODD = st.sampled_from(
    ["0", "-1", "1e308", "nan", "inf", "0.0001", "99999999999999999999", "true", '""', "[]", "{}",
     "[[]]", '"all"', '"node-0"', '["node-0", "1 any"]', '"100%"', '"999999 any"', '"rack-*"',
     '"node-[!"', '"*"', '"up"', '"crash"', '"split"', '"link"', '"pause"', '"exponential"',
     '{law = "uniform", shortest_s = 5, longest_s = 9}', '{law = "exponential", mean_s = 1e8}',
     '{law = "weibull", mean_s = 1e-9, shape = 0.1}', '{law = "lognormal"}', '"high"', '"job-*"',
     "200000", "20000", "0.5", "'''", "\x00", "1979-05-27"]
)  # fmt: skip

TIMELINE = inspect.type_info(Timeline)
assert isinstance(TIMELINE, inspect.VarTupleType)
assert isinstance(TIMELINE.item_type, inspect.UnionType)


def _entry(kind: inspect.StructType) -> st.SearchStrategy[dict[str, str]]:
    """A table of one kind: what it must have, some of what it may have, now and then more."""
    needed = {field.name: ODD for field in kind.fields if field.required}
    others = {field.name: ODD for field in kind.fields if not field.required}
    return st.fixed_dictionaries(
        {"what": st.just(str(kind.tag)), **needed}, optional={**others, "odd": ODD}
    )


ENTRY = st.one_of(
    *(_entry(kind) for kind in TIMELINE.item_type.types if isinstance(kind, inspect.StructType))
)


def entry(fields: dict[str, str]) -> str:
    """A table of the timeline."""
    rows = "\n".join(f"{name} = {text}" for name, text in fields.items() if name != "what")
    return f'\n[[timeline]]\nwhat = "{fields["what"]}"\n{rows}\n'


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A file of the library with values exchanged, lines lost or doubled, and entries added."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(0, 3))):
        values = list(re.finditer(r"(?m)(?<= = )[^,}\n]+", text))
        at = draw(st.sampled_from(values))
        text = text[: at.start()] + draw(ODD) + text[at.end() :]
    lines = text.splitlines()
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(lines) - 1))
        lines[place : place + 1] = [lines[place]] * draw(st.sampled_from([0, 2]))
    return "\n".join(lines) + "".join(map(entry, draw(st.lists(ENTRY, max_size=3))))


@pytest.mark.soak
@settings(
    derandomize=True,
    max_examples=400,
    deadline=20_000,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(text=mutated())
def test_a_changed_file_plays_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "mutated.toml"
    path.write_text(text, encoding="utf-8")
    with suppress(ScenarioError):
        scenario = load_scenario(path)
        jobs = make_jobs(scenario, path.parent)
        scheduled = make_fault_script(scenario, jobs, path.parent)
        assert all(each.at_ms >= 0 for each in scheduled)
