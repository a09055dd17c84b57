"""Worlds that take long: their messages are those of the clocks in them, and nothing goes round."""

import json
from pathlib import Path

import pytest

from tests.callboard.conftest import Run, callboard

__all__ = ["callboard"]

WORLDS = Path(__file__).parent / "long_worlds"
OF_A_HEARTBEAT = 4
"""The messages that a heartbeat may cost: the node's clock, itself, the answer, a retry."""
OF_A_CHECK = 2
"""Those of a check for preemption: the clock and the order."""
OF_AN_ATTEMPT = 50
CHECK_S = 0.5
"""Between two checks for starved jobs (Hadoop's `update.interval`)."""


@pytest.mark.soak
@pytest.mark.parametrize(
    ("world", "nodes", "heartbeat_s", "until", "done"),
    [("one-node", 1, 3.0, "20d", 3), ("nine-nodes", 9, 0.3, "2:00:00", 5)],
)
def test_a_long_world_sends_what_its_clocks_ask_for(
    callboard: Run, world: str, nodes: int, heartbeat_s: float, until: str, done: int
) -> None:
    """49 s and 208 s of processor time under `--check` (docs/rules.md): stragglers that last a
    hundred times as long, in which nothing but heartbeats and checks go on, week after week.
    """
    asked = ("run", str(WORLDS / f"{world}.toml"), "--check", "--json", "--until", until)
    status, out, _ = callboard(*asked)
    assert status == 0
    (told,) = json.loads(out)
    lasted_s = told["virtual_seconds"]
    most = OF_A_HEARTBEAT * nodes * lasted_s / heartbeat_s + OF_A_CHECK * lasted_s / CHECK_S
    assert told["messages"] <= most + OF_AN_ATTEMPT * told["attempts"]["launched"]
    assert told["jobs"]["completed"] == done
