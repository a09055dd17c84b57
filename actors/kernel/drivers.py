"""The two drivers that can run a kernel's actors, to the same journal: Trio, and a plain loop.

Under **Trio** every actor is a task in one nursery, which is the run's lifetime. A newborn task
detaches its coroutine (`temporarily_detach_coroutine_object`), the conductor resumes those that a
superstep has mail for, and at the end each is attached again and returns to its nursery: a pass of
Trio's own loop costs more than the answer to a message. The **direct** driver calls the same
handlers from a loop, where thousands of small runs are wanted (solo runs, property tests).
"""

from collections.abc import Callable, Generator, Iterator
from types import coroutine

import trio

from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.kernel import ActorFailed, Kernel

_NOT_THE_ACTORS = (KeyboardInterrupt, GeneratorExit)
"""What no actor raises: Ctrl-C, and the end of its task."""

_STEPS_A_PASS = 512  # supersteps that the conductor plays before Trio's own loop gets a turn


def run_direct(kernel: Kernel) -> None:
    """Run to the end in a plain loop; raises `ActorFailed` or another `KernelError`."""
    for _ in supersteps(kernel):
        pass


def supersteps(kernel: Kernel) -> Iterator[None]:
    """The same, one superstep at a time, for callers that look or wait in between."""
    message = None
    while (due := kernel.advance()) is not None:
        for actor in due:
            mailbox = actor.mailbox
            try:
                for _, _, _, message, actor.cause in mailbox:
                    actor.receive(message)
            except _NOT_THE_ACTORS:
                raise
            except BaseException as error:
                raise _actor_failed_error(kernel, actor, message, error) from error
            mailbox.clear()
        yield


def run_on_trio(kernel: Kernel) -> None:
    """Run to the end with every actor a Trio task; raises as `run_direct`."""
    trio.run(TrioDriver(kernel).play)


class TrioDriver:
    """One run of one kernel under Trio; `play` may be awaited beside other Trio tasks."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._on_stage: dict[int, Callable[[bool], object]] = {}
        self._entering = 0
        self._newborn: list[Callable[[bool], object]] = []
        self._error: BaseException | None = None
        self._nursery: trio.Nursery

    async def play(self) -> None:
        """Run the kernel's actors until the run has ended."""
        async with trio.open_nursery() as self._nursery:
            self._kernel.on_admit = self._start_actor
            for actor in self._kernel.actors.values():
                self._start_actor(actor)
            try:
                await self._conduct_rounds()
            except KeyboardInterrupt as error:  # kept, so that no nursery wraps it into a group
                self._error = error
            finally:
                self._kernel.on_admit = None
                with trio.CancelScope(shield=True):
                    await self._await_newborn()
                for life in list(self._on_stage.values()):
                    life(False)
        if self._error is not None:
            raise self._error

    async def _conduct_rounds(self) -> None:
        advance, steps = self._kernel.advance, 0
        while True:
            if self._entering or self._newborn:
                await self._await_newborn()
            try:
                due = advance()
            except Exception as error:  # kept, so that no nursery wraps it into a group
                self._error = error
                return
            if due is None:
                return
            for actor in due:
                actor.wake(True)
                if self._error is not None:
                    return
            steps += 1
            if steps % _STEPS_A_PASS == 0:
                await trio.lowlevel.checkpoint()

    def _start_actor(self, actor: Actor) -> None:
        """An actor's task has to detach before it can get mail."""
        self._entering += 1
        self._nursery.start_soon(self._actor_task, actor, name=actor.name)

    async def _await_newborn(self) -> None:
        while self._entering:
            await trio.lowlevel.checkpoint()
        for resume in self._newborn:  # out of Trio's frames, into the actor's own
            resume(True)
        self._newborn.clear()

    async def _actor_task(self, actor: Actor) -> None:
        """An actor's task: on stage from birth until the conductor or the actor itself ends it."""
        task = trio.lowlevel.current_task()
        resume: Callable[[bool], object] = task.coro.send  # type: ignore[assignment]
        self._on_stage[actor.address] = actor.wake = resume
        self._newborn.append(resume)
        self._entering -= 1
        if await trio.lowlevel.temporarily_detach_coroutine_object(_refuse_cancellation):
            await self._answer_mail(actor)
        del self._on_stage[actor.address]
        await trio.lowlevel.reattach_detached_coroutine_object(task, None)

    @coroutine
    def _answer_mail(self, actor: Actor) -> Generator[None, bool, None]:
        """Answer the mail, wait for more (`yield`: True for mail, False at the end of the run)."""
        mailbox, receive = actor.mailbox, actor.receive
        message = None
        try:
            while True:
                for _, _, _, message, actor.cause in mailbox:
                    receive(message)
                mailbox.clear()
                if actor.retired or not (yield):
                    return
        except _NOT_THE_ACTORS as error:  # Ctrl-C in the middle of a handler
            self._error = error
        except BaseException as error:
            self._error = _actor_failed_error(self._kernel, actor, message, error)


def _refuse_cancellation(_raise_cancel: object) -> trio.lowlevel.Abort:
    """A detached task is not Trio's to cancel; the conductor ends it."""
    return trio.lowlevel.Abort.FAILED


def _actor_failed_error(
    kernel: Kernel, actor: Actor, message: object, error: BaseException
) -> ActorFailed:
    failed = ActorFailed(actor, message, kernel.now_ms, error)
    failed.__cause__ = error
    return failed
