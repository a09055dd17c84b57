"""Whole clusters under Sparrow, as its authors' simulator plays them, with its own draws."""

import json
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from tests.support.reference_sparrow import PlainSparrow
from tests.support.traces import oracle
from trials.oracles.sparrow import PLACEMENTS
from trials.oracles.sparrow_clusters import (
    FIGURES,
    ClusterCase,
    case_of_line,
    counted_responses_ms,
    figures_of,
)

FILE = "sparrow-1000-workers.jsonl"


def lines() -> list[dict[str, Any]]:
    found = [json.loads(line) for line in oracle(FILE).read_text().splitlines()]
    return [each for each in found if each["which"] in PLACEMENTS]


def plain_responses(case: ClusterCase) -> list[float]:
    drawn = case.their_draws().jobs(case.jobs + case.jobs // 8 + 1)
    return PlainSparrow(case, drawn).responses_ms()


def test_the_draws_are_those_of_the_released_simulator() -> None:
    """How many jobs come while the cluster fills follows from all that was drawn up to then."""
    found = lines()
    assert {each["which"] for each in found} == PLACEMENTS.keys()
    for line in found:
        case = case_of_line(line)
        arrivals_ms = case.their_draws().jobs(200).arrivals_ms
        assert arrivals_ms[-1] > case.warm_up_ms
        assert case.jobs - sum(at_ms <= case.warm_up_ms for at_ms in arrivals_ms) == line["n"], line


@pytest.mark.parametrize("which", ["central", "batch"])
def test_the_plain_loop_gives_what_the_released_simulator_gave(which: str) -> None:
    """To the digit, 3,000 jobs of 100 tasks on 1,000 workers."""
    (line,) = (each for each in lines() if each["which"] == which)
    found = figures_of(np.array(plain_responses(case_of_line(line))))
    assert found == pytest.approx({what: line[what] for what in FIGURES}, rel=1e-12)


@pytest.mark.parametrize("which", PLACEMENTS)
def test_the_actors_give_what_the_plain_loop_gives(which: str) -> None:
    """A shorter run: each response, or their mean to 0.1 % with cancellation, which may come as a
    slot is freed.  `python -m trials.oracles` plays the whole ones.
    """
    line = {"which": which, "workers": 200, "load": 0.9, "jobs": 30, "dist": "jobs", "seed": 5}
    case = case_of_line(line | dict.fromkeys(FIGURES, 0.0) | {"warm_up_ms": -1.0})
    ours, plain = sorted(counted_responses_ms(case, None).tolist()), sorted(plain_responses(case))
    assert len(ours) == case.jobs
    assert fmean(ours) == pytest.approx(fmean(plain), rel=case.within)
    if which != "cancel":
        assert ours == pytest.approx(plain, abs=2e-6)
