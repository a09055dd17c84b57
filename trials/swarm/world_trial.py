"""One drawn world on trial: safe at every event, live to its end, and the same however it is run.

Safety are the rules S1 to S15; a run that is stuck, or whose actors raise, is not live.  What is
compared are runs that must be equal: under the other driver, with all heartbeats sent, from its own
file and journal, stopped half-way.  Under another order of ties a run must be safe and live again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from callboard.actors.architecture import CENTRAL
from callboard.actors.architectures import architecture_name
from callboard.actors.books.ledger import Ledger
from callboard.actors.central.central import Central
from callboard.actors.kernel.drivers import run_direct, run_on_trio
from callboard.actors.kernel.kernel import ActorFailed, Kernel, KernelError, Stalled
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import AnyEvent, RunEnded, RunStarted
from callboard.actors.vocabulary.lifecycle import BookedJobState, MachineState
from callboard.actors.worker.slot import Slot
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation, Sink
from callboard.fairness.variants import with_cluster
from callboard.journal.checks.checker import Checker, check_events
from callboard.journal.checks.findings import Violation
from callboard.journal.reader import Journal
from callboard.journal.writer import JournalWriter
from callboard.scenarios import timeline as tl
from callboard.scenarios.scenario_file import load_scenario
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.model import MAPS, AttemptId, Millis
from trials.situations import Situations
from trials.swarm.books_probe import BooksProbe
from trials.swarm.event_oracles import Flaw, event_flaws, given_up_late
from trials.swarm.starvation_probe import StarvationProbe
from trials.worlds.drawn_worlds import DrawnWorld

MESSAGES_MAX = 10_000
"""A world that takes more is left there: what its parameters ask for is too much work."""

TOO_LONG = "too long"

QUIET_MS = 10_000
"""After so long without news every waiting actor has been told what there is to tell."""


class PlayedWorld(NamedTuple):
    """A run of a world, whole or up to its flaw."""

    events: Sequence[AnyEvent]
    digest: str
    messages: int
    now_ms: Millis
    reason: str
    flaw: Flaw | None


class _Watcher(Onlooker):
    """Ends a run that takes too long."""

    def on_progress(self, kernel: Kernel) -> None:
        if kernel.messages > MESSAGES_MAX:
            kernel.end_run(TOO_LONG)


def play_world(
    world: DrawnWorld,
    *,
    drive: Callable[[Kernel], None] = run_direct,
    situations: Situations | None = None,
    sinks: Sequence[Sink] = (),
    until_ms: Millis | None = None,
    checks: bool = True,
) -> PlayedWorld:
    """Play the world once; `checks` holds it against the rules, `situations` notes what is met."""
    spec = RunSpec.of(world.scenario, until_ms=until_ms)
    spec = msgspec.structs.replace(spec, tie_order=world.tie_order)
    checker = Checker() if checks else None
    events: list[AnyEvent] = []
    listening: list[Sink] = [events.append, *sinks]
    if situations is not None and checker is not None:
        listening.append(lambda event: situations.notice(event, checker))
    onlookers: list[Onlooker] = [_Watcher()]
    has_master = architecture_name(world.policy) == CENTRAL
    if checker is not None:
        onlookers += [checker, *([BooksProbe(), StarvationProbe()] if has_master else [])]
    run = Simulation(spec, listening, onlookers=onlookers)
    flaw = _flaw_of(run, drive)
    kernel = run.kernel
    reason = kernel.reason or "complete"
    if flaw is None and checks and not has_master:
        flaw = _idle(run)
    elif flaw is None and checks and reason in ("complete", TOO_LONG):
        flaw = _not_stopped(events, world) or _of_events(events, world)
        flaw = flaw or _idle(run) or _unfed(run, events) or _not_noted(run, events)
        if flaw is None and reason == "complete":
            flaw = _left_behind(run)
    return PlayedWorld(events, kernel.digest(), kernel.messages, kernel.now_ms, reason, flaw)


def _flaw_of(run: Simulation, drive: Callable[[Kernel], None]) -> Flaw | None:
    try:
        run.run(drive)
    except Violation as broken:
        return Flaw(broken.rule, str(broken))
    except Stalled as stuck:
        return Flaw("stuck", str(stuck))
    except ActorFailed as failed:
        cause = failed.__cause__
        rule = cause.rule if isinstance(cause, Violation) else type(cause).__name__
        return Flaw(rule, str(cause if isinstance(cause, Violation) else failed))
    except KernelError as error:
        return Flaw("endless", str(error))
    return None


# What is left when all is done.


def _books(run: Simulation) -> Ledger:
    assert isinstance(run.architecture, Central)
    return run.architecture.master.ledger


def _left_behind(run: Simulation) -> Flaw | None:
    """A job that is over is in the master's books only while attempts of it run."""
    for job in _books(run).jobs():
        if job.state is BookedJobState.ENDING and not job.attempts:
            return Flaw("left behind", f"job {job.job} is over and in the books")
    return None


def _idle(run: Simulation) -> Flaw | None:
    """An attempt on a machine that is up has something to wait for: the end of its phase, its
    input, the outputs of maps, or that it is given up.
    """
    for slot in run.kernel.actors.values():
        if isinstance(slot, Slot) and slot.state is MachineState.UP:
            attempt = slot._attempt
            if attempt is not None and attempt.copier is None and not slot.at_work():
                return Flaw("idle", f"attempt {attempt.launch.attempt} waits for nothing")
    return None


def _unfed(run: Simulation, events: Sequence[AnyEvent]) -> Flaw | None:
    """Where nothing has happened for a while, a reduce whose job's maps are all done knows where
    their outputs are.
    """
    ledger, since_ms = _books(run), run.kernel.now_ms - QUIET_MS
    late = (each for each in reversed(events) if not isinstance(each, RunEnded))
    if any(each.at_ms >= since_ms for each in islice(late, 1)):
        return None
    for slot in run.kernel.actors.values():
        attempt = slot._attempt if isinstance(slot, Slot) else None
        if attempt is None or attempt.copier is None or attempt.phase is not None:
            continue
        entry = ledger.attempt(attempt.launch.attempt)
        if entry is None or attempt.copier.awaited or not ledger.has_job(entry.job):
            continue
        job = ledger.job(entry.job)
        if job.finished(MAPS) == job.total(MAPS):
            return Flaw("unfed", f"attempt {entry.attempt} is told of no outputs")
    return None


def _not_noted(run: Simulation, events: Sequence[AnyEvent]) -> Flaw | None:
    """To end a run that goes round one has to know when something succeeded last."""
    kernel = run.kernel
    if kernel.is_progress is None:
        return None
    last_ms = max((event.at_ms for event in events if kernel.is_progress(event)), default=0)
    if kernel.progress_ms < last_ms:
        return Flaw("progress", f"there was some at {last_ms} ms, not only {kernel.progress_ms}")
    return None


def _not_stopped(events: Sequence[AnyEvent], world: DrawnWorld) -> Flaw | None:
    """What runs for a task that is done, or a job that is over, is ordered to stop at that instant,
    unless the master stood still.
    """
    if any(isinstance(entry, _OF_THE_MASTER) for entry in world.scenario.timeline):
        return None
    running: dict[AttemptId, ev.AttemptLaunched] = {}
    due: dict[AttemptId, Millis] = {}
    for event in events:
        late = next((attempt for attempt, at_ms in due.items() if at_ms < event.at_ms), None)
        if late is not None:
            return Flaw("not stopped", f"attempt {late} runs on at {event.at_ms} ms for nothing")
        match event:
            case ev.AttemptLaunched():
                running[event.attempt] = event
            case ev.KillOrdered():
                running.pop(event.attempt, None)
                due.pop(event.attempt, None)
            case ev.AttemptClosed():
                closed = running.pop(event.attempt, None)
                due.pop(event.attempt, None)
                if closed is not None and event.outcome is ev.Outcome.SUCCEEDED:
                    what = (closed.job, closed.stage, closed.task)
                    others = (e for e in running.values() if (e.job, e.stage, e.task) == what)
                    due |= {each.attempt: event.at_ms for each in others}
            case ev.JobFinished() if event.outcome is not ev.Outcome.SUCCEEDED:
                others = (each for each in running.values() if each.job == event.job)
                due |= {each.attempt: event.at_ms for each in others}
    return None


def _of_events(events: Sequence[AnyEvent], world: DrawnWorld) -> Flaw | None:
    """What the events alone must not show; time is bounded unless the master stood still."""
    found = next(event_flaws(events), None)
    if found or any(isinstance(entry, _OF_THE_MASTER) for entry in world.scenario.timeline):
        return found
    return given_up_late(events, world.scenario.cluster)


_OF_THE_MASTER = (tl.MasterPauseEntry, tl.MasterRestartEntry)


# Runs that must be equal.


def _other_driver(world: DrawnWorld, first: PlayedWorld) -> str | None:
    again = play_world(world, drive=run_on_trio, checks=False)
    return _difference(first, again, digests=True)


def _all_heartbeats_sent(world: DrawnWorld, first: PlayedWorld) -> str | None:
    heartbeats = world.scenario.cluster.heartbeat
    other = "all" if heartbeats.send == "needed" else "needed"
    other_heartbeats = msgspec.structs.replace(heartbeats, send=other)
    scenario = with_cluster(world.scenario, heartbeat=other_heartbeats)
    again = play_world(msgspec.structs.replace(world, scenario=scenario), checks=False)
    if TOO_LONG in (first.reason, again.reason):
        return None
    return _difference(first, again, digests=False)


def _file_and_journal(world: DrawnWorld, first: PlayedWorld) -> str | None:
    with TemporaryDirectory() as folder:
        file, journal = Path(folder, "world.toml"), Path(folder, "world.journal")
        file.write_text(to_toml(world.scenario), encoding="utf-8")
        read = msgspec.structs.replace(world, scenario=load_scenario(file))
        with JournalWriter(journal) as writer:
            again = play_world(read, sinks=[writer], checks=False)
        different = _difference(first, again, digests=True)
        if different is None and world.tie_order is None and first.reason == "complete":
            recorded = load_run(str(journal))
            scenario = msgspec.structs.replace(recorded.scenario, name=world.scenario.name)
            replayed = play_world(DrawnWorld(scenario), checks=False)
            different = _difference(first, replayed, digests=True)
        return different or _recorded_flaw(Journal(journal))


def _recorded_flaw(events: Journal) -> str | None:
    try:
        check_events(events)
    except Violation as broken:
        return f"its journal breaks {broken.rule}: {broken}"
    return None


def _stopped_half_way(world: DrawnWorld, first: PlayedWorld) -> str | None:
    until_ms = first.now_ms // 2
    again = play_world(world, until_ms=until_ms, checks=False)
    before = [event for event in _inner(first.events) if event.at_ms <= until_ms]
    return None if _inner(again.events) == before else f"stopped at {until_ms} ms it was another"


def _other_ties(world: DrawnWorld, _first: PlayedWorld) -> str | None:
    order = 1 + (world.tie_order or 0)
    flaw = play_world(msgspec.structs.replace(world, tie_order=order)).flaw
    return None if flaw is None else f"with ties in the order {order}: {flaw.kind}: {flaw.told}"


COMPARISONS: Mapping[str, Callable[[DrawnWorld, PlayedWorld], str | None]] = {
    "driver": _other_driver,
    "sends": _all_heartbeats_sent,
    "file": _file_and_journal,
    "half": _stopped_half_way,
    "ties": _other_ties,
}
"""What a world is compared with, by name; each says what was different, or None."""


def _difference(first: PlayedWorld, again: PlayedWorld, *, digests: bool) -> str | None:
    if again.flaw is not None:
        return f"it broke: {again.flaw.kind}: {again.flaw.told}"
    for number, (one, two) in enumerate(
        zip(_inner(first.events), _inner(again.events), strict=False)
    ):
        if one != two:
            return f"event {number} was {one!r} and is {two!r}"
    if len(first.events) != len(again.events):
        return f"there were {len(first.events)} events and are {len(again.events)}"
    if digests and first.digest != again.digest:
        return f"the digest was {first.digest} and is {again.digest}"
    return None


def _inner(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    return [event for event in events if not isinstance(event, RunStarted | RunEnded)]


def flaws(
    world: DrawnWorld, comparisons: Sequence[str], situations: Situations | None = None
) -> Iterator[PlayedWorld | Flaw]:
    """The run of the world, then every flaw that was found in it."""
    first = play_world(world, situations=situations)
    yield first
    if first.flaw is not None:
        yield first.flaw
        return
    for name in comparisons:
        try:
            different = COMPARISONS[name](world, first)
        except Exception as error:  # whatever it is, it is a flaw
            different = f"{type(error).__name__}: {error}"
        if different is not None:
            yield Flaw(name, different)
