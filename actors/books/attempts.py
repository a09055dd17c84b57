"""An attempt as a scheduler has it in its books, from its launch until its end is booked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary.events import OUTCOMES, AttemptLaunched
from callboard.actors.vocabulary.lifecycle import (
    BEING_KILLED,
    BOOKED_ATTEMPT,
    WITHOUT_SLOT,
    BookedChange,
    BookedState,
    step,
)
from callboard.scheduler import model
from callboard.scheduler.model import Locality, Stage
from callboard.scheduler.reasons import Why

if TYPE_CHECKING:
    from callboard.actors.books.job_tasks import BookedJob

_BEING_KILLED = frozenset(BEING_KILLED)
_SUSPENDING = BookedState.SUSPENDING
_WITHOUT_SLOT = frozenset(WITHOUT_SLOT)


class BookedAttempt(msgspec.Struct, eq=False):
    """An attempt that was launched and has not been closed (`scheduler.view.AttemptView`)."""

    owner: BookedJob
    """Its job's entry in the same books."""
    attempt: model.AttemptId
    job: model.JobId
    stage: Stage
    kind: model.SlotKind
    task: model.TaskIndex
    number: int
    node: model.NodeId
    level: Locality
    launched_ms: model.Millis
    original: model.AttemptId = 0
    event: int = NO_CAUSE  # of its launch
    tracked: bool = False
    state: BookedState = BookedState.LAUNCHED
    killing: bool = False
    suspending: bool = False
    holds_slot: bool = True
    suspended_ms: model.Millis | None = None
    progress: float = 0.0
    ran_ms: model.Millis = 0
    shuffled_ms: model.Millis = 0
    sibling: BookedAttempt | None = None
    """The other attempt of its task, while both run and neither has succeeded."""
    older: BookedAttempt | None = None
    """What was beaten and open when this one began, since the output of the winner was lost."""
    beaten: bool = False  # its sibling has succeeded
    doomed: bool = False  # its task has failed too often

    def change_state(self, change: BookedChange) -> None:
        after = BOOKED_ATTEMPT.get((self.state, change))
        state = self.state = after or step(BOOKED_ATTEMPT, self.state, change, self)
        self.killing = state in _BEING_KILLED
        self.suspending = state is _SUSPENDING
        self.holds_slot = state not in _WITHOUT_SLOT

    @property
    def alone(self) -> bool:
        if self.suspending or not self.holds_slot:
            return False
        if self.older is not None and self.older.state not in OUTCOMES:
            return False  # on a node that is silent, as a rule
        return self.sibling is None and not self.beaten and not self.doomed

    def launch_event(self, why: Why, cause: int) -> AttemptLaunched:
        """What the journal is told of its launch."""
        return AttemptLaunched(
            self.launched_ms,
            self.attempt,
            self.job,
            self.kind,
            self.task,
            self.number,
            self.node,
            self.level,
            why,
            self.original,
            cause=cause,
        )

    def __str__(self) -> str:
        return f"attempt {self.attempt}"
