"""What a person can ask of a run that goes on: change it, set another beside it, save it."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

import msgspec

from callboard.experiments.run.interventions import Intervene
from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.source import Request, Source


class Fork(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Set beside the run another that parts from it at this moment, under this policy."""

    policy: str


class Keep(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Of two runs beside each other go on with this one alone: 0 or 1."""

    side: int


class Save(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Save the run in front in a file: as a journal, or as a scenario that gives the same run.  A
    file that is there already is replaced only if that is said.
    """

    path: str
    as_journal: bool = False
    replace: bool = False


Intervention = Intervene | Fork | Keep | Save


class InterventionRequest(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Intervene at the moment that is shown, then show that; `Frame.refusal` says why not."""

    intervention: Intervention
    view: View


AnyRequest: TypeAlias = Request | InterventionRequest
"""What a live run can be asked."""


class LiveSource(Source, Protocol):
    """A source behind which the run itself goes on, so that one can intervene in it."""

    def ask_frame(self, request: AnyRequest, answer: Callable[[Frame], None]) -> None:
        """Move or intervene, and show; `answer` is called with the frame, now or later."""
