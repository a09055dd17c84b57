"""What a person changes in a run that goes on."""

import msgspec

from callboard.actors.vocabulary.faults import AnyFault
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scheduler.model import Millis


class Intervene(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Right after the moment that is shown let these faults happen, in their order, and these jobs
    come all at once (`burst`); go there, and forget what was known of the time after it.
    """

    faults: tuple[AnyFault, ...] = ()
    burst: ListedJob | None = None


class TimedIntervention(msgspec.Struct, frozen=True):
    """An intervention, and when it takes effect."""

    at_ms: Millis
    intervention: Intervene
