"""An attempt while a slot runs it: what the slot keeps of it, and nothing of the world."""

import msgspec

from callboard.actors.vocabulary.lifecycle import ATTEMPT, AttemptChange, AttemptState, step
from callboard.actors.vocabulary.messages import Checkpoint, InjectedFailure, LaunchTask
from callboard.actors.worker.copier import Copier
from callboard.actors.worker.progress import Phase
from callboard.scheduler.model import REDUCES, SHUFFLE_SHARE, Millis

_SHUFFLING = AttemptState.SHUFFLING


class RunningAttempt(msgspec.Struct, eq=False):
    """One attempt, from its start or its resumption until it ends or is suspended.

    `suspended_ms` and `shuffled_ms` are how long it was suspended and in its shuffle; at
    `deadline_ms` it has failed, if it hangs or waits so long.  `phase` is None while it waits or
    has not begun, and while the machine stands still: then `put_off` has what was left of it, and
    the progress.  `event` is the number of what it did last.
    """

    launch: LaunchTask
    started_ms: Millis
    state: AttemptState = AttemptState.UNASSIGNED
    suspended_ms: Millis = 0
    shuffled_ms: Millis = 0
    injected: InjectedFailure | None = None
    deadline_ms: Millis | None = None
    copier: Copier | None = None
    phase: Phase | None = None
    put_off: tuple[Millis, float] | None = None
    event: int = 0

    @classmethod
    def resumed(cls, saved: Checkpoint, now_ms: Millis) -> "RunningAttempt":
        attempt = cls(saved.launch, saved.started_ms)
        attempt.suspended_ms = now_ms - saved.started_ms - saved.ran_ms
        attempt.shuffled_ms = saved.shuffled_ms
        attempt.injected = saved.injected
        attempt.state = saved.state
        attempt.change_state(AttemptChange.SUSPEND)
        attempt.change_state(AttemptChange.RESUME)
        return attempt

    def change_state(self, change: AttemptChange) -> None:
        after = ATTEMPT.get((self.state, change))
        self.state = after or step(ATTEMPT, self.state, change, self)

    def __str__(self) -> str:
        return f"attempt {self.launch.attempt}"

    def checkpoint(self, now_ms: Millis, slowness: float) -> Checkpoint:
        """What is left of it, for its node to keep."""
        phase, copier = self.phase, self.copier
        return Checkpoint(
            launch=self.launch,
            state=self.state,
            started_ms=self.started_ms,
            ran_ms=self.ran_ms(now_ms),
            shuffled_ms=self.shuffled_for_ms(now_ms),
            left_ms=None if phase is None else phase.ends_ms - now_ms,
            done=0.0 if phase is None else phase.progress(now_ms),
            injected=self.injected,
            slowness=slowness,
            fetched=() if copier is None else copier.fetched_hosts(),
        )

    def ran_ms(self, now_ms: Millis) -> Millis:
        """How long it has run so far, the time when it was suspended not counted."""
        return now_ms - self.started_ms - self.suspended_ms

    def shuffled_for_ms(self, now_ms: Millis) -> Millis:
        """How much of that was in its shuffle."""
        return self.ran_ms(now_ms) if self.copier is not None else self.shuffled_ms

    def left_of_phase(self, now_ms: Millis) -> tuple[Millis, float] | None:
        """What is left of the present phase, and the progress so far; None where none is timed."""
        phase = self.phase
        return None if phase is None else (phase.ends_ms - now_ms, phase.progress(now_ms))

    @property
    def progress_at_work_start(self) -> float:
        """The progress when its own work begins: of a reduce, after its shuffle."""
        return SHUFFLE_SHARE if self.launch.stage == REDUCES else 0.0

    @property
    def progress_at_phase_end(self) -> float:
        """How far the present phase brings it."""
        if self.injected is None or self.state is _SHUFFLING:
            return 1.0
        return self.progress_at_work_start + (1 - self.progress_at_work_start) * self.injected.at
