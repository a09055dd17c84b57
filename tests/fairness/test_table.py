"""What docs/fairness.md says of the shipped policies, and the counterexamples that it links."""

import pytest

from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.counterexample import read_counterexample
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import evaluate
from tests.fairness.table import FOLDER, PAGE, POLICIES, with_tables

pytest.importorskip("scipy")  # for COSHH

FILES = sorted(path.name for path in FOLDER.iterdir())


def test_the_tables_are_those_of_promises_and_counterexamples() -> None:
    page = PAGE.read_text()
    assert with_tables(page) == page


@pytest.mark.parametrize("name", FILES)
def test_every_counterexample_still_is_one(name: str) -> None:
    prop, scenario = read_counterexample(FOLDER / name)
    (policy,) = scenario.policies
    assert policy in POLICIES
    assert evaluate(prop, Experiment(scenario, policy)).broken


def test_the_page_tells_every_property() -> None:
    page = PAGE.read_text()
    for prop in PROPERTIES_BY_NAME.values():
        assert f"| {prop.name} | " in page
