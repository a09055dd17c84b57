"""The same loops, compiled by numba (the optional extra `ideal`)."""

from pathlib import Path

from callboard.scheduler.ideal import age_loop, fsp, heap, loops, sharing_queues
from callboard.scheduler.ideal.disciplines import PLAIN_LOOPS
from callboard.scheduler.numba_cache import compiled_loops

COMPILED_LOOPS = compiled_loops(
    "ideal",
    Path(__file__).parent,
    (heap, sharing_queues, loops, fsp, age_loop),
    PLAIN_LOOPS,
    inline=True,
)
"""The compiled loops by name.  Set up while this module is imported, which one thread does."""
