"""Trio as a host: a run is one nursery, may play beside other tasks, and can be cancelled whole."""

from collections.abc import Callable

import msgspec
import pytest
import trio

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.drivers import TrioDriver, run_direct, run_on_trio
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.message import NO_CAUSE, Message
from callboard.actors.vocabulary.events import Event
from callboard.experiments.run.simulation import Simulation
from callboard.scheduler.model import Millis
from tests.support.world import job, spec_of


def world(
    sink: Callable[[Event], None] | None = None, *, jobs: int = 40, map_ms: Millis = 9000
) -> Kernel:
    """That many jobs on ten nodes that send every heartbeat."""
    spec = spec_of(
        [job(n, maps=4, map_ms=map_ms, submit_ms=2000 * n) for n in range(jobs)],
        cluster=Cluster(nodes=10, heartbeat=Heartbeats(send="all")),
    )
    sinks = [] if sink is None else [sink]
    return Simulation(msgspec.structs.replace(spec, policy="fair"), sinks).kernel


@pytest.mark.trio
async def test_a_run_plays_beside_other_tasks_and_gives_them_turns() -> None:
    """One job of a quarter of an hour: hardly anybody enters, but many thousands of heartbeats are
    sent.
    """
    kernel, turns = world(jobs=1, map_ms=900_000), 0

    async def bystander() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(bystander)
        await TrioDriver(kernel).play()
        nursery.cancel_scope.cancel()
    assert kernel.messages > 8000
    assert turns > kernel.messages // 1024 + 5


@pytest.mark.trio
async def test_every_actor_is_a_task_and_none_is_left_behind() -> None:
    kernel = world()
    before = trio.lowlevel.current_statistics().tasks_living
    seen: list[tuple[int, int]] = []

    def look() -> None:
        tasks = trio.lowlevel.current_statistics().tasks_living
        seen.append((tasks - before, len(kernel.actors)))

    kernel.settled = look
    await TrioDriver(kernel).play()
    # One that has retired leaves when Trio's own loop next gets a turn.
    assert min(tasks - actors for tasks, actors in seen) == 0
    assert max(actors for _, actors in seen) > 10 + 10 * 2  # nodes and slots; and others besides
    assert trio.lowlevel.current_statistics().tasks_living == before


@pytest.mark.trio
async def test_cancelling_a_run_from_outside_takes_every_actor_with_it() -> None:
    kernel = world()
    before = trio.lowlevel.current_statistics().tasks_living
    with trio.CancelScope() as scope:
        kernel.watch = scope.cancel
        await TrioDriver(kernel).play()
    assert scope.cancelled_caught
    assert kernel.reason is None
    assert trio.lowlevel.current_statistics().tasks_living == before


@pytest.mark.trio
async def test_a_run_cancelled_before_its_actors_have_entered_leaves_none_behind() -> None:
    before = trio.lowlevel.current_statistics().tasks_living
    with trio.CancelScope() as scope:
        scope.cancel()
        await TrioDriver(world()).play()
    assert scope.cancelled_caught
    assert trio.lowlevel.current_statistics().tasks_living == before


@pytest.mark.parametrize("host", [run_direct, run_on_trio])
def test_a_sink_that_fails_ends_the_run_with_its_own_error(host: Callable[[Kernel], None]) -> None:
    """A full disk is neither an actor's fault nor a group of exceptions."""

    def full(_event: Event) -> None:
        raise OSError(28, "No space left on device", "j")

    with pytest.raises(OSError, match="No space left"):
        host(world(full))


class Begin(Message, frozen=True):
    """Parent to itself: have a child."""


class Leave(Message, frozen=True):
    """Parent to child: leave, or wait for another message first."""

    now: bool


class Child(Actor):
    """Leaves when it is told to."""

    def on_leave(self, leave: Leave) -> None:
        if leave.now:
            self.retire()


class Parent(Actor):
    """Has a child in every third superstep, which leaves before the next one comes."""

    def on_begin(self, _: Begin) -> None:
        child = 10 + self._sent
        self.spawn(Child(child, f"child {child}"))
        self.send(child, Leave(False), NO_CAUSE, 1)
        self.send(child, Leave(True), NO_CAUSE, 2)
        self.timer(Begin(), 3, NO_CAUSE)


def test_actors_that_enter_while_the_loop_has_its_turn_leave_in_good_order() -> None:
    """Some of that many are born in just the superstep after which Trio's own loop gets a turn."""
    kernel = Kernel(until_ms=3000)
    kernel.admit_actor(Parent(1, "parent"))
    kernel.post(1, 0, 1, Begin(), 1, NO_CAUSE)
    run_on_trio(kernel)
    assert kernel.reason == "until"
    assert kernel.dead_letters == 0
