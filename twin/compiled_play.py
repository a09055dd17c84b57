"""The loop, compiled by numba (the optional extra `twin`), if it computes here what the actors do.

About two minutes once, then about a second a process.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np

from callboard.actors.kernel.streams import Stream
from callboard.scheduler.numba_cache import Loop, compiled_loops
from callboard.twin import addressed_draws, play_loop
from callboard.twin.twin_run import PlayLoop

_HELPERS = """
    addressed_draws attempt_lengths believed_sizes block_lists fair_shares job_lists
    job_queue kept_log killed_attempts launch_reasons locality_waits next_instants offers
    play_loop running_caps sorted_keys starving_claimants trained_phases virtual_cluster
    virtual_line virtual_orders virtual_phases virtual_rates wide_numbers
"""
_PLAIN: dict[str, Loop] = {
    "play_instants": play_loop.play_instants,
    "draw_lognormals": addressed_draws.draw_lognormals,
}
_WAIT = "callboard: compiling the twin, once for this version: some two minutes"

_LOOPS = compiled_loops(
    "twin",
    Path(__file__).parent,
    [import_module(f"callboard.twin.{name}") for name in _HELPERS.split()],
    _PLAIN,
    inline=False,
    wait=_WAIT,
)

COMPILED_PLAY: PlayLoop = _LOOPS["play_instants"]
"""`play_loop.play_instants`, compiled when it is first called."""

_TESTED, _SIGMA = 4096, 0.7


@cache
def draws_agree() -> bool:
    """Whether the compiled draws are Python's to the last bit.  `exp` and `log` are a library's,
    and another compiler may join a product and a sum.
    """
    purpose = "compiled draws"
    key, drawn = np.uint64(addressed_draws.draw_key(1, purpose)), np.zeros(_TESTED)
    _LOOPS["draw_lognormals"](key, _SIGMA, drawn)
    stream = Stream(1, purpose)
    return drawn.tolist() == [stream.lognormal(_SIGMA, 0, b) for b in range(_TESTED)]
