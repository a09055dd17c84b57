"""Small scenarios as plain data, and a way to look at the error that bad input raises."""

from collections.abc import Callable
from typing import Any

import pytest

from callboard.scheduler.text.scenario_error import ScenarioError


def raw(**changes: Any) -> dict[str, Any]:
    """The smallest scenario, with top-level fields changed."""
    job = {"maps": 1, "map_s": 10}
    return {"name": "small", "workload": {"kind": "jobs", "job": [job]}, **changes}


def generated(**changes: Any) -> dict[str, Any]:
    return raw(workload={"kind": "generated", **changes})


def error_of(call: Callable[[], object]) -> ScenarioError:
    """The ScenarioError that the call raises."""
    with pytest.raises(ScenarioError) as caught:
        call()
    return caught.value
