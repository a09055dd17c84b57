"""Looking for counterexamples, and making them small."""

from functools import partial

import pytest

from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.experiment import Experiment
from callboard.fairness.search import find_counterexample
from callboard.fairness.variants import entries_of


@pytest.mark.parametrize(
    ("policy", "name", "jobs"),
    [("las", "ideal-mean", 2), ("las", "ideal-dominance", 2), ("hfsp", "ideal-mean", 8)],
)
def test_a_stream_of_jobs_is_no_longer_than_breaks_the_property(
    policy: str, name: str, jobs: int
) -> None:
    """Twelve equal jobs were the smallest that was found, where two do: streams are drawn whole."""
    under_test, prop = partial(Experiment, policy=policy), PROPERTIES_BY_NAME[name]
    found = find_counterexample(under_test, prop, examples=100, seed=1)
    assert found is not None
    assert sum(entry.count for entry in entries_of(found.scenario)) <= jobs
    assert f" under {policy}" in found.seen
