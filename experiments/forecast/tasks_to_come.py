"""How long the tasks of a job will take that have not ended, from those that have.

A job of which many tasks have ended tells it itself.  Of another the level is in doubt, the mean of
its tasks: it is drawn from its own few tasks, else from the levels of jobs of the same name but for
a number, or of the same user, or of all; where only running tasks are seen, a level is known to be
longer than these.  Around its level tasks vary as those of all jobs do.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from callboard.actors.job_spec import JobSpec
from callboard.experiments.forecast.lengths import CensoredLengths
from callboard.scheduler.model import JobId, Millis

MANY = 20
"""Once as many tasks of a job have ended its others are drawn from them alone."""

SOME = 3
"""Jobs of which as many tasks have ended tell how much those of one job vary."""

UNKNOWN_MS = 60_000
"""How long a task takes at least where nothing at all has ended."""

LengthDraw = Callable[[float], float]
"""Draws the length of a task that is longer than what is given, in ms."""

_NUMBERED = re.compile(r"[\W_]*\d[\d\W_]*$")


class SeenStage(NamedTuple):
    """A stage of a job: the lengths in ms on a node of speed 1 of the tasks that have ended, how
    far others are that run, and of ended reduces the shuffle and what of it came after the last
    map.
    """

    job: JobSpec
    ended: Sequence[float]
    running: Sequence[float]
    shuffles: Sequence[tuple[Millis, Millis]]


class TasksToCome:
    """Of one stage, of all jobs that have been seen; nothing is said of others."""

    def __init__(self, seen: Mapping[JobId, SeenStage]) -> None:
        self._seen = seen
        spread = list(_lengths_over_job_mean(seen.values()))
        self._varies = bool(spread)
        self._spread = CensoredLengths(spread or [1.0])

    def length_law(self, job: JobSpec, rng: np.random.Generator) -> LengthDraw:
        """The law of the job's tasks, whose level is drawn where it is not known."""
        own = self._seen[job.job]
        if len(own.ended) >= MANY:
            lengths = CensoredLengths(own.ended, own.running)
            return lambda beyond: lengths.draw(rng, beyond)
        level = (
            _bootstrapped_mean_length(own, rng) if own.ended else self._drawn_mean_length(job, rng)
        )
        if level is None:
            return lambda beyond: max(2 * beyond, UNKNOWN_MS)
        if level == 0:
            return lambda beyond: beyond
        return lambda beyond: level * self._spread.draw(rng, beyond / level)

    def why_lengths_unknown(self, job: JobSpec, called: str) -> str:
        """Why nothing tells how much the lengths of such a job's tasks vary, `called` maps or
        reduces; empty where that is told.  Of one length nobody knows how far the next is off, nor
        of one job's how far another job's are.
        """
        own = len(self._seen[job.job].ended)
        known = own or sum(bool(each.ended) for each in next(self._groups_of_like_jobs(job), []))
        if known > 1 or (own and self._varies):
            return ""
        if known:
            like = "of jobs of its name and user, or else of its user"
            return f"too few {called} {like} have ended to tell how much their lengths vary"
        guess = f"{UNKNOWN_MS // 1000} s each, or twice what one has run if that is more"
        return f"none of the {called} has ended yet, and their lengths are guessed: {guess}"

    def _drawn_mean_length(self, job: JobSpec, rng: np.random.Generator) -> float | None:
        """A level for a job of which no task has ended; None if none of any has."""
        group = next(self._groups_of_like_jobs(job), [])
        known = [float(np.mean(each.ended)) for each in group if each.ended]
        if not known:
            return None
        longer = [max(each.running) for each in group if each.running and not each.ended]
        passed = max(self._seen[job.job].running, default=0)
        drawn = CensoredLengths(known, longer).draw(rng, passed)
        return max(drawn * _smoothing_factor(known, rng), passed)

    def drawn_shuffle(self, job: JobSpec, rng: np.random.Generator) -> tuple[Millis, Millis]:
        """What a reduce's shuffle takes, and what of it comes after the last map."""
        known = self._known_shuffles(job)
        return known[rng.integers(len(known))] if known else (0, 0)

    def longest_shuffle_tail_ms(self, job: JobSpec) -> Millis:
        """What came at most of a shuffle after the last map, among those that tell; 0 if none."""
        return max((tail_ms for _, tail_ms in self._known_shuffles(job)), default=0)

    def _known_shuffles(self, job: JobSpec) -> list[tuple[Millis, Millis]]:
        """Its own, else those of the jobs most like it."""
        own = self._seen[job.job].shuffles
        group = (
            [own] if own else [each.shuffles for each in next(self._groups_of_like_jobs(job), [])]
        )
        return [each for shuffles in group for each in shuffles]

    def _groups_of_like_jobs(self, job: JobSpec) -> Iterator[list[SeenStage]]:
        """Groups of jobs like this one in which a task has ended, the nearest first."""
        seen = list(self._seen.values())
        yield from (
            group
            for group in (
                [
                    each
                    for each in seen
                    if _user_and_name_stem(each.job) == _user_and_name_stem(job)
                ],
                [each for each in seen if each.job.user == job.user],
                seen,
            )
            if any(each.ended for each in group)
        )


def _lengths_over_job_mean(seen: Iterable[SeenStage]) -> Iterator[float]:
    """The tasks of jobs as multiples of their level, each as far from 1 as it would be if the level
    were known and not the mean of these few.
    """
    for each in seen:
        count = len(each.ended)
        if count < SOME or not any(each.ended):
            continue
        level, wider = float(np.mean(each.ended)), (count / (count - 1)) ** 0.5
        yield from (max(1 + (length / level - 1) * wider, 0.0) for length in each.ended)


def _smoothing_factor(levels: Sequence[float], rng: np.random.Generator) -> float:
    """A factor that lets a level lie between and beyond those few that are known: the smoothed
    bootstrap with the normal reference rule, on a logarithmic scale (Silverman, *Density
    Estimation for Statistics and Data Analysis*, 1986, 3.4.2 and 6.4).
    """
    logs = np.log([each for each in levels if each > 0])
    width = 1.06 * float(np.std(logs)) * len(logs) ** -0.2 if len(logs) > 1 else 0.0
    return float(np.exp(width * rng.standard_normal()))


def _bootstrapped_mean_length(own: SeenStage, rng: np.random.Generator) -> float:
    """The mean of as many tasks again as have ended (the bootstrap)."""
    lengths = CensoredLengths(own.ended, own.running)
    return float(np.mean([lengths.draw(rng) for _ in own.ended]))


def _user_and_name_stem(job: JobSpec) -> tuple[str, str]:
    return job.user, _NUMBERED.sub("", job.name)
