"""What an architecture has to provide: who schedules, and how nodes, jobs and faults reach them.

An architecture is a room of actors (`actors/central/` is Hadoop 1's, `actors/sparrow/` has no
master).  The world around it is the same for all: client, jobs, nodes, slots, and the injector that
plays the script of faults.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.vocabulary.faults import AnyFault
from callboard.actors.worker.dialogue import Dialogue
from callboard.actors.world import World
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.policy import Policy, PolicySpecError, Spelled
from callboard.scheduler.view import ClusterView

CENTRAL = "central"
"""The name of the architecture of one master."""


class Architecture(Spelled):
    """One run's schedulers, from before they are admitted to a kernel; made with its `Params` if it
    has any.  The central one is not spelled: a policy alone means it.
    """

    heartbeats: ClassVar[bool] = False
    """Whether nodes tell only at heartbeats what they have to tell."""

    knows: ClassVar[tuple[type[faults.Fault], ...]] = (faults.Fault,)
    """The faults that its actors have an answer to."""

    knows_constraints: ClassVar[bool] = False
    """Whether its schedulers keep jobs to the nodes on which alone they may run (`only_on`)."""

    goes_by_demands: ClassVar[bool] = False
    """Whether a task is placed by what it demands of a node besides a slot."""

    policy: Policy | None = None
    """The policy that decides, where there is one."""

    def check(self, jobs: Iterable[JobSpec], script: Iterable[ScheduledFault]) -> None:
        """PolicySpecError if it cannot play these jobs, or this script of faults."""
        constrained = next((job for job in jobs if job.only_on), None)
        if constrained is not None and not self.knows_constraints:
            from callboard.actors.refusals import why_unconstrained

            raise PolicySpecError(why_unconstrained(self, constrained))
        script = list(script)
        for each in script:
            if not isinstance(each.fault, self.knows):
                from callboard.actors.refusals import why_fault_refused  # knows all architectures

                raise PolicySpecError(why_fault_refused(self, each, script))

    @abstractmethod
    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        """Bring the schedulers into the kernel.  The world's nodes and jobs come later."""

    @abstractmethod
    def schedulers(self) -> Sequence[int]:
        """The addresses of the schedulers."""

    @abstractmethod
    def scheduler_of(self, job: JobId) -> int:
        """The address of the scheduler that a job speaks with."""

    def fallback_schedulers(self, job: JobId) -> Sequence[int]:  # noqa: ARG002
        """The addresses of the schedulers to which a job goes in turn when its own is gone."""
        return ()

    @abstractmethod
    def dialogue(self, node: NodeFacts, world: World) -> Dialogue:
        """How a node speaks with the schedulers."""

    def longest_wait_ms(self, world: World) -> Millis:  # noqa: ARG002
        """How long at most its schedulers, by timers of their own, may bring nothing about in this
        world once all is calm: until then a run is not stuck.
        """
        return 0

    @abstractmethod
    def routes(self, fault: AnyFault) -> Sequence[int]:
        """The addresses of the schedulers that a fault strikes or is told to."""

    @property
    def view(self) -> ClusterView | None:
        """What the policy sees of the cluster."""
        return None

    @abstractmethod
    def books_of(self, job: JobId) -> BookedJob | None:
        """What the job's scheduler has in its books of it; None once it has ended."""
