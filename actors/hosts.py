"""The two hosts that can run a kernel's actors: Trio, and a plain loop.

Under **Trio** every actor is a task in one nursery, which is the run's lifetime.  There is no
conductor.  Each task parks in `wait_task_rescheduled`; a counter says how many have still to
park, and the one that brings it to zero asks the kernel for the next superstep itself and
reschedules those that are due.  If it is due itself it goes on without a task switch.

The **direct** host calls the same handlers from a loop.  It is several times faster, has nothing
to cancel and nobody to talk to, and is used where thousands of small runs are wanted (solo runs
for slowdowns, sweeps, property tests).  Both give the same digest and the same journal, byte for
byte: the order is the kernel's.
"""

import trio
from trio.lowlevel import Abort, Task, reschedule, wait_task_rescheduled

from actors.actor import Actor
from actors.kernel import ActorFailed, Kernel, KernelError

_TURNS_MAX = 256
"""How often a task may go on without a switch before Trio's own loop gets a turn."""


def run_direct(kernel: Kernel) -> None:
    """Run to the end in a plain loop.

    Raises `ActorFailed` or another `KernelError`.
    """
    while (due := kernel.advance()) is not None:
        for actor in due:
            _answer_mail(kernel, actor)


def run_on_trio(kernel: Kernel) -> None:
    """Run to the end with every actor a Trio task.

    Raises `ActorFailed` or another `KernelError`.
    """
    trio.run(TrioHost(kernel).play)


class TrioHost:
    """One run of one kernel under Trio; `play` may be awaited beside other Trio tasks."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._tasks: dict[int, Task] = {}
        self._to_park = 0
        self._error: KernelError | None = None
        self._nursery: trio.Nursery

    async def play(self) -> None:
        """Run the kernel's actors until the run has ended."""
        async with trio.open_nursery() as self._nursery:
            self._to_park = 1
            self._kernel.on_admit = self._start
            for actor in self._kernel.actors.values():
                self._start(actor)
            self._parked(None)
        self._kernel.on_admit = None
        if self._error is not None:
            raise self._error

    def _start(self, actor: Actor) -> None:
        """Begin an actor's task; it counts as still to park until it has."""
        self._to_park += 1
        self._nursery.start_soon(self._live, actor, name=actor.name)

    async def _live(self, actor: Actor) -> None:
        """An actor's life: answer the mail, park, answer the mail."""
        self._tasks[actor.address] = trio.lowlevel.current_task()
        mailbox, turns = actor.mailbox, 0
        while True:
            if mailbox:
                try:
                    _answer_mail(self._kernel, actor)
                except KernelError as error:
                    self._end(error)
                    return
                if actor.retired:
                    del self._tasks[actor.address]
                    self._parked(None)
                    return
            if self._parked(actor):
                turns += 1
                if turns % _TURNS_MAX == 0:
                    await trio.lowlevel.cancel_shielded_checkpoint()
            else:
                await wait_task_rescheduled(_let_go)

    def _parked(self, actor: Actor | None) -> bool:
        """Count one more parked; the last one begins the next superstep.

        True when `actor` itself has mail in it.
        """
        self._to_park -= 1
        if self._to_park:
            return False
        try:
            due = self._kernel.advance()
            while due == []:  # every letter was a dead one
                due = self._kernel.advance()
        except KernelError as error:
            self._end(error)
            return False
        if due is None:
            self._end(None)
            return False
        self._to_park = len(due)
        mine = False
        for each in due:
            if each is actor:
                mine = True
            else:
                reschedule(self._tasks[each.address])
        return mine

    def _end(self, error: KernelError | None) -> None:
        """Close the nursery, and with it every actor's task."""
        self._error = self._error or error
        self._nursery.cancel_scope.cancel()


def _answer_mail(kernel: Kernel, actor: Actor) -> None:
    """Let an actor answer all its mail, naming it if it fails."""
    mailbox = actor.mailbox
    message = None
    try:
        for message in mailbox:
            actor.receive(message)
            if actor.retired:
                break
    except Exception as error:
        raise ActorFailed(actor, message, kernel.now_ms, error) from error
    finally:
        mailbox.clear()


def _let_go(_raise_cancel: object) -> Abort:
    """A parked actor may always be cancelled."""
    return Abort.SUCCEEDED
