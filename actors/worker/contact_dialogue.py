"""A node's side of its contacts with several schedulers (`actors.contact`)."""

from abc import abstractmethod
from collections.abc import Callable, Iterable

import msgspec

from callboard.actors.contact import MAY_SILENCE, Contact, Framed, SayAgain
from callboard.actors.kernel.address import launching_scheduler_address
from callboard.actors.network import HEALTHY, Link, LinkConditions
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.worker.direct_dialogue import DirectDialogue
from callboard.scheduler.model import AttemptId, JobId, Millis


class ContactDialogue(DirectDialogue):
    """Says what it has to say so that it is heard, whatever the link does, as long as node and
    scheduler hold on to each other.
    """

    __slots__ = (
        "_contacts",
        "_doomed",
        "_hears",
        "_is_watched",
        "_life",
        "_running",
        "_seed",
        "_up",
    )

    def __init__(
        self, latency_ms: Millis, scheduler_of_job: Callable[[JobId], int], seed: int = 0
    ) -> None:
        super().__init__(latency_ms, scheduler_of_job)
        self._seed = seed
        self._life = 0
        self._is_watched = False
        self._up: LinkConditions = HEALTHY
        self._contacts: dict[int, Contact] = {}
        self._running: dict[AttemptId, msg.LaunchTask] = {}
        self._doomed: dict[AttemptId, msg.KillTask] = {}
        """What was killed while it waited: each ends as soon as it has a slot."""
        self._hears: int | None = None
        """The address of the scheduler to whose contact the present message belongs."""

    @abstractmethod
    def forget_scheduler(self, scheduler: int, cause: int) -> None:
        """A session with the scheduler at this address is over: what it wanted here is void."""

    def forget_all(self) -> None:
        """The machine has stopped dead: nothing runs or waits here any more."""
        self._running.clear()
        self._doomed.clear()

    def launch(self, launch: msg.LaunchTask) -> None:
        """Start an attempt in a slot that is held for it."""
        self._running[launch.attempt] = launch
        self._node.launch(launch)
        if launch.attempt in self._doomed:
            self._node.kill(self._doomed.pop(launch.attempt))

    def on_kill_task(self, kill: msg.KillTask) -> None:
        if any(each.attempt == kill.attempt for each in self.waiting_launches()):
            self._doomed[kill.attempt] = kill
        else:  # the node passes over one that has ended meanwhile
            self._node.kill(kill)

    def waiting_launches(self) -> Iterable[msg.LaunchTask]:
        """The tasks that have come and have no slot yet."""
        return ()

    def kill_attempts_of(self, scheduler: int, cause: int) -> None:
        """The scheduler at this address is gone: nobody wants what it has begun here."""
        for attempt in list(self._running):
            if launching_scheduler_address(attempt) == scheduler:
                self._node.kill(msg.KillTask(attempt, cause))

    @property
    def is_stale(self) -> bool:
        """Whether the present message was sent to an earlier life, in no contact."""
        return self._life > 0 and self._hears is None

    def say(self, to: int, message: msgspec.Struct, cause: int) -> None:
        if self._is_watched:
            self._contact_with_scheduler(to).say(message, cause)
        else:
            super().say(to, message, cause)

    def scheduler_of_running(self, job: JobId) -> int:
        running = (attempt for attempt, launch in self._running.items() if launch.job == job)
        for attempt in running:
            return launching_scheduler_address(attempt)
        return super().scheduler_of_running(job)

    def _contact_with_scheduler(self, scheduler: int) -> Contact:
        contact = self._contacts.get(scheduler)
        if contact is None:
            link = Link(self._seed, f"up/{self._node.address}/{scheduler}", self._latency_ms)
            link.conditions = self._up
            contact = Contact(self._node, scheduler, link, self._latency_ms)
            contact.life = self._life
            self._contacts[scheduler] = contact
        return contact

    def on_framed(self, frame: Framed) -> None:
        """Hear it, unless it was meant for another life or an earlier session."""
        contact = self._contact_with_scheduler(frame.sender)
        if frame.life != self._life:
            contact.confirm_heard()
            return
        if frame.session < contact.session:
            return
        if frame.session > contact.session:
            contact.begin_session(self._life, frame.session, frame.cause)
            self.forget_scheduler(frame.sender, self._node.cause)
        for each in contact.hear(frame):
            if each.said is None:
                continue
            self._hears = frame.sender
            self._node.receive_held_back([(each.cause, each.said)])
            self._hears = None

    def on_say_again(self, again: SayAgain) -> None:
        if again.peer in self._contacts:
            self._contacts[again.peer].say_again(again)

    def begin_life(self, cause: int) -> None:  # noqa: ARG002
        self._life += 1

    def end_life(self) -> None:
        self._contacts.clear()
        self.forget_all()

    def take_in_fault(self, fault: faults.NodeFault | faults.MasterFault) -> None:
        if isinstance(fault, MAY_SILENCE):
            self._is_watched = True
        if isinstance(fault, faults.Disturb):
            self._up = fault.up
            for contact in self._contacts.values():
                contact.link.conditions = fault.up
