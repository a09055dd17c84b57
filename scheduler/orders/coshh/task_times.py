"""How long a task takes on which node type, true or learnt: m(J, R) of the hybrid paper."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from callboard.scheduler.estimation import Oracle, RunningMean, work_ms
from callboard.scheduler.facts import Closed
from callboard.scheduler.model import JobId, SlotKind, stage_on
from callboard.scheduler.view import JobView


class NodeType(NamedTuple):
    """What nodes that treat all jobs alike have in common: a name and a speed."""

    name: str
    speed: float


class TaskTimes(ABC):
    """What is believed of mean task times."""

    @abstractmethod
    def mean_ms(self, job: JobView, kind: SlotKind, node_type: NodeType) -> float:
        """A task of the job on a node of this type."""

    def prior_ms(self, user: str, kind: SlotKind, node_type: NodeType) -> float:  # noqa: ARG002
        """What is believed of the user's jobs before any task of theirs; 0 where each is known."""
        return 0.0

    def unmeasured_type_count(
        self,
        job: JobId,  # noqa: ARG002
        kind: SlotKind,  # noqa: ARG002
        node_types: Sequence[NodeType],  # noqa: ARG002
    ) -> int:
        """On how many of these types the job's own tasks do not tell: there it has, or may have,
        its user's mean.
        """
        return 0

    def learn_end(self, closed: Closed, user: str, node_type: NodeType) -> None:  # noqa: B027
        """Hear of an attempt that succeeded."""

    def forget_job(self, job: JobId) -> None:  # noqa: B027
        """The job has left."""


class OracleTaskTimes(TaskTimes):
    """The truth, input local."""

    def __init__(self, oracle: Callable[[], Oracle]) -> None:
        self._oracle = oracle

    def mean_ms(self, job: JobView, kind: SlotKind, node_type: NodeType) -> float:
        return (
            self._oracle().mean_task_ms(job.job, stage_on(kind), node_type.name) / node_type.speed
        )


MeansByNodeType: TypeAlias = dict[tuple[SlotKind, NodeType | None], RunningMean]
"""A job's or a user's tasks by the slots and the type of node they ran on; None: anywhere."""


class LearnedTaskTimes(TaskTimes):
    """The mean of completed tasks that tell most, in this order: the job's own on that type, its
    user's on that type, the job's own anywhere, its user's anywhere, all on that type, all
    anywhere; else `guess_ms`.

    What was measured anywhere is scaled by speed.  That a user's jobs are alike is the papers' own
    habit (the hybrid paper, V: each user submits jobs from one category).
    """

    def __init__(self, guess_ms: int) -> None:
        self._guess_ms = guess_ms
        self._jobs: dict[JobId, MeansByNodeType] = {}
        self._users: dict[str, MeansByNodeType] = {}
        self._all: MeansByNodeType = {}

    def mean_ms(self, job: JobView, kind: SlotKind, node_type: NodeType) -> float:
        return self._most_telling_mean(self._jobs.get(job.job, {}), job.user, kind, node_type)

    def prior_ms(self, user: str, kind: SlotKind, node_type: NodeType) -> float:
        return self._most_telling_mean({}, user, kind, node_type)

    def unmeasured_type_count(
        self, job: JobId, kind: SlotKind, node_types: Sequence[NodeType]
    ) -> int:
        own = self._jobs.get(job, {})
        return sum((kind, each) not in own for each in node_types)

    def learn_end(self, closed: Closed, user: str, node_type: NodeType) -> None:
        ms = work_ms(closed)
        own = self._jobs.setdefault(closed.job, {})
        for means in (own, self._users.setdefault(user, {}), self._all):
            means.setdefault((closed.kind, node_type), RunningMean()).add(ms)
            means.setdefault((closed.kind, None), RunningMean()).add(round(ms * node_type.speed))

    def forget_job(self, job: JobId) -> None:
        self._jobs.pop(job, None)

    def _most_telling_mean(
        self, own: MeansByNodeType, user: str, kind: SlotKind, node_type: NodeType
    ) -> float:
        users, here = self._users.get(user, {}), (kind, node_type)
        for tables in ((own, users), (self._all,)):
            for where, speed in ((here, 1.0), ((kind, None), node_type.speed)):
                for means in tables:
                    if (mean := means.get(where)) is not None:
                        return mean.total / mean.count / speed
        return self._guess_ms / node_type.speed
