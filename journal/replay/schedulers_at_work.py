"""What schedulers of a cluster without a master are doing: their thoughts, and their probes under
way; folded from a run's events.
"""

from collections import defaultdict
from copy import copy
from typing import Self

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.journal.figures.thoughts import ThoughtSums
from callboard.scheduler.model import JobId, Millis


class SchedulersAtWork:
    """`observe` takes the next event in."""

    def __init__(self) -> None:
        self.sums = ThoughtSums()
        self.last_thoughts: dict[int, ev.SchedulingAttempted] = {}
        """The last thought of each scheduler that thinks, by number."""
        self.job_thoughts: dict[JobId, ev.SchedulingAttempted] = {}
        """The last thought about each job."""
        self._thoughts: defaultdict[int, tuple[ev.ThoughtBegun, ...]] = defaultdict(tuple)
        """Those that have not come to an end, of each scheduler."""
        self._probes: dict[tuple[int, int], ev.NodesProbed] = {}
        """Of each scheduler the samples that are not answered, by their numbers."""

    def copy(self) -> Self:
        """The same, to be changed independently."""
        twin = copy(self)
        for name, value in vars(self).items():
            vars(twin)[name] = value.copy()
        return twin

    def observe(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.ThoughtBegun():
                self._thoughts[event.scheduler] += (event,)
            case ev.SchedulingAttempted():
                self._end_thought(event)
            case ev.NodesProbed():
                self._probes[event.scheduler, event.sample] = event
            case ev.ProbesAnswered():
                self._probes.pop((event.scheduler, event.sample), None)
            case ev.FaultStruck(fault=faults.CrashScheduler(scheduler=scheduler)):
                self._thoughts.pop(scheduler, None)
                for of in [of for of in self._probes if of[0] == scheduler]:
                    del self._probes[of]

    def _end_thought(self, event: ev.SchedulingAttempted) -> None:
        self.sums.add(event)
        self.last_thoughts[event.scheduler] = self.job_thoughts[event.job] = event
        left = list(self._thoughts[event.scheduler])
        of = event.job, event.stage
        ended = next((each for each in left if (each.job, each.stage) == of), None)
        if ended is not None:  # else the run is of before such beginnings were told
            left.remove(ended)
            self._thoughts[event.scheduler] = tuple(left)

    def thinking(self, at_ms: Millis) -> list[ev.ThoughtBegun]:
        """What schedulers think about at that moment, by their numbers; of a thought that is over
        the commit may be under way.
        """
        thoughts = (each for _, begun in sorted(self._thoughts.items()) for each in begun)
        return [each for each in thoughts if each.from_ms <= at_ms < each.until_ms]

    @property
    def probing(self) -> list[ev.NodesProbed]:
        """What nodes are being asked, longest ago first."""
        return list(self._probes.values())
