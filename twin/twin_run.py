"""A run of the twin: its tables, and what plays them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from callboard.actors.world import World
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.policy import Policy
from callboard.twin import columns as c
from callboard.twin.cannot_play import CannotPlay
from callboard.twin.lowering import grown_tables, lower, refuse_unplayable
from callboard.twin.play_loop import play_instants

PlayLoop = Callable[[Any, int], int]

INSTANTS_A_CALL = 4096
"""A few thousandths of a second, after which Ctrl-C is heard and a line on a terminal moves."""

_REASONS = {c.COMPLETE: "complete", c.UNTIL_REACHED: "until"}
_TROUBLES = {
    c.IS_STUCK: "nothing can happen any more, and the actors can tell why",
    c.TOO_LARGE: "its numbers are too large to be compared as one",
}


class TwinRun:
    """One run, from before its first instant.  CannotPlay for what the twin has no rules for.

    With `keep_log` every attempt is kept.  `play` is the compiled loop, or the plain one, which is
    as slow as the actors and for tests.
    """

    def __init__(
        self,
        world: World,
        policy: Policy | None,
        until_ms: Millis | None = None,
        *,
        keep_log: bool = False,
        play: PlayLoop | None = None,
    ) -> None:
        refuse_unplayable(world, policy)
        assert policy is not None
        self.world = world
        self.policy = policy
        try:
            self.tables = lower(world, policy, until_ms, keep_log=keep_log)
        except OverflowError:  # of a number that no column can hold
            raise CannotPlay(_TROUBLES[c.TOO_LARGE]) from None
        self.reason: str | None = None if world.jobs else "complete"
        self._play = play or play_instants

    @property
    def now_ms(self) -> Millis:
        return int(self.tables.state[c.NOW])

    @property
    def ended_job_count(self) -> int:
        """How many jobs have ended."""
        return int(self.tables.state[c.ENDED])

    @property
    def launched_attempt_count(self) -> int:
        """How many attempts were launched."""
        return int(self.tables.state[c.LAUNCHED])

    def ended_ms_by_job(self) -> dict[JobId, Millis]:
        """When the jobs ended that have."""
        rows = self.tables.jobs[: int(self.tables.state[c.DUE])]
        ended = rows[rows[:, c.FINISHED] != c.NONE]
        return dict(zip(ended[:, c.NUMBER].tolist(), ended[:, c.FINISHED].tolist(), strict=True))

    def compile_loop(self) -> None:
        """Have the loop compiled, or read from disk, before the clock is looked at."""
        self._play(self.tables, 0)

    def play(self) -> None:
        """Play it to its end."""
        while self.reason is None:
            self.play_some_instants()

    def play_some_instants(self) -> None:
        """Play on for a moment.  CannotPlay where only the actors can."""
        with np.errstate(over="ignore"):  # of the plain loop
            while (how := self._play(self.tables, INSTANTS_A_CALL)) == c.NO_ROOM:
                self.tables = grown_tables(self.tables)
        if how in _TROUBLES:
            raise CannotPlay(_TROUBLES[how])
        self.reason = _REASONS.get(how)

    def interrupt(self) -> None:
        """Let it end here, unless it has ended."""
        self.reason = self.reason or "interrupted"
