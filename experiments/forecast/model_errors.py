"""By what factor jobs really take longer, or less long, than they are played.

A forecast stands on a run that is played, and jobs that are over tell how far such runs are off the
cluster: its heartbeats, the load that the history does not show, what it does between tasks.  Those
that still run are known to be longer than they have run.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from callboard.experiments.forecast.lengths import CensoredLengths
from callboard.scheduler.model import Millis

ENOUGH = 5
"""Jobs that must have ended before they tell anything."""

NEAREST = 20
"""That many jobs that are played about as long tell of a job."""


class Compared(NamedTuple):
    """A job's response as it is played, in ms, and as it really was; `running`: as long so far."""

    played_ms: Millis
    real_ms: Millis
    running: bool = False


class ModelErrors:
    """What jobs tell of a model's errors."""

    def __init__(self, jobs: Sequence[Compared]) -> None:
        self._jobs = [each for each in jobs if each.played_ms > 0 and each.real_ms > 0]
        self._log_ms = np.log([each.played_ms for each in self._jobs])

    def response_ms(
        self, rng: np.random.Generator, played_ms: Millis, elapsed_ms: Millis
    ) -> Millis:
        """A response of a job that is played so long and already takes so long."""
        if sum(not each.running for each in self._jobs) < ENOUGH or played_ms <= 0:
            return max(played_ms, elapsed_ms)
        ended, running = self._nearest_error_ratios(played_ms)
        ratio = CensoredLengths(ended, running).draw(rng, elapsed_ms / played_ms)
        return max(round(played_ms * ratio), elapsed_ms)

    def _nearest_error_ratios(self, played_ms: Millis) -> tuple[list[float], list[float]]:
        """Those of the nearest jobs that have ended, and of others no farther off that run."""
        ended: list[float] = []
        running: list[float] = []
        for place in np.argsort(np.abs(self._log_ms - np.log(played_ms)), kind="stable"):
            each = self._jobs[place]
            (running if each.running else ended).append(each.real_ms / each.played_ms)
            if len(ended) == NEAREST:
                break
        return ended, running
