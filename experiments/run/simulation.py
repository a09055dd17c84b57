"""Running a world: the one place where a spec becomes actors, and its events go to sinks.

`run_simulation` is what `callboard run` and `callboard.run` do with a `Simulation`: measured,
perhaps recorded and checked, and stopped in good order by Ctrl-C.
"""

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Literal

from callboard.actors.architecture import Architecture
from callboard.actors.assembly import assemble
from callboard.actors.config import node_facts
from callboard.actors.kernel import drivers
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.onlooker import Onlooker
from callboard.actors.stall_limits import progress_timeout_ms
from callboard.actors.version import __version__
from callboard.actors.vocabulary.events import AnyEvent, RunEnded, RunStarted
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.actors.world import World
from callboard.experiments.run.plugins import load_architecture
from callboard.experiments.run.run_result import LIVELOCK, RunResult
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.run_watcher import MessageLimit
from callboard.experiments.run.stopwatch import Stopwatch
from callboard.journal.figures.metrics import Metrics
from callboard.scenarios.scenario_file import to_dict
from callboard.scheduler.policy import Policy

if TYPE_CHECKING:
    from callboard.experiments.run.livelock import LivelockWatch
    from callboard.journal.checks.checker import Checker

Sink = Callable[[AnyEvent], None]

DriverName = Literal["trio", "direct"]
DRIVERS: dict[DriverName, Callable[[Kernel], None]] = {
    "trio": drivers.run_on_trio,
    "direct": drivers.run_direct,
}


class Simulation:
    """One run of a spec: its actors in a kernel, and `sinks` that get every event in order, those
    of the `onlookers` last.

    `architecture` is what the spec's policy comes to, where it has been made already.  `livelock`
    watches a run with preemption that is not to be patient.  PolicySpecError for a bad policy.
    """

    def __init__(
        self,
        spec: RunSpec,
        sinks: Sequence[Sink] = (),
        *,
        architecture: Architecture | None = None,
        onlookers: Sequence[Onlooker] = (),
    ) -> None:
        spec = self.spec = spec.with_interventions_applied()
        scenario = spec.scenario
        world = World(scenario.cluster, scenario.tasks, spec.jobs, scenario.seed, spec.script)
        self.architecture = architecture or load_architecture(spec.policy, scenario.parts)
        self.architecture.check(spec.jobs, spec.script)
        policy = self.architecture.policy
        self.livelock = _livelock_watch(spec, world, policy, lambda: self.kernel.end_run(LIVELOCK))
        listening = [*sinks, *(each.observe for each in _onlookers_with(onlookers, "observe"))]
        if self.livelock is not None:
            listening.append(self.livelock.observe)
        self._sink = fan_out(listening)
        self.kernel: Kernel[AnyEvent] = Kernel(
            sink=self._sink, until_ms=spec.until_ms, tie_order=spec.tie_order
        )
        assemble(self.kernel, world, self.architecture)
        if spec.patient:
            self.kernel.is_progress = None
        self._attach_onlookers(onlookers)

    def _attach_onlookers(self, onlookers: Sequence[Onlooker]) -> None:
        kernel = self.kernel
        for each in onlookers:
            each.begin(kernel, self.architecture)
        if settling := [
            each.after_superstep for each in _onlookers_with(onlookers, "after_superstep")
        ]:
            kernel.settled = partial(_call_all, settling)
        if watching := [each.on_progress for each in _onlookers_with(onlookers, "on_progress")]:
            kernel.watch = partial(_call_all, watching, kernel)

    def run(self, drive: Callable[[Kernel], None] = drivers.run_direct) -> None:
        """Run to the end; KernelError for a run that fails, and what sinks raise."""
        self._sink(start_of(self.spec))
        drive(self.kernel)
        self._sink(self._run_ended_event())

    def supersteps(self) -> Iterator[None]:
        """The same, stopping after each superstep for callers that look or wait in between."""
        self._sink(start_of(self.spec))
        yield from drivers.supersteps(self.kernel)
        self._sink(self._run_ended_event())

    def _run_ended_event(self) -> RunEnded:
        kernel, reason = self.kernel, self.kernel.reason or "complete"
        return RunEnded(kernel.now_ms, reason, kernel.messages, kernel.ties, kernel.digest())


def start_of(spec: RunSpec) -> RunStarted:
    """The first event of a run of the spec, in which interventions are applied."""
    scenario = spec.scenario
    nodes, plain = node_facts(scenario.cluster), to_dict(scenario)
    return RunStarted(0, __version__, scenario.name, spec.policy, scenario.seed, plain, nodes)


def _call_all(methods: Iterable[Callable[..., None]], *args: object) -> None:
    for method in methods:
        method(*args)


def _onlookers_with(onlookers: Sequence[Onlooker], method: str) -> list[Onlooker]:
    """Those that do something there."""
    plain = getattr(Onlooker, method)
    return [each for each in onlookers if getattr(type(each), method) is not plain]


def _livelock_watch(
    spec: RunSpec, world: World, policy: Policy | None, stop: Callable[[], None]
) -> "LivelockWatch | None":
    """What ends the run if its preemption goes round; None for a patient run, or without any."""
    happening = [each.fault for each in spec.script]
    switches = any(isinstance(fault, SwitchPolicy) for fault in happening)
    if spec.patient or policy is None or not (switches or policy.interval_ms is not None):
        return None
    from callboard.experiments.run.livelock import LivelockWatch

    timeout_ms = progress_timeout_ms(world)
    calm_ms = max((each.at_ms for each in spec.script), default=0)
    return LivelockWatch(policy, stop, timeout_ms * 3 // 4, calm_ms)


def fan_out(sinks: Sequence[Sink]) -> Sink:
    """One sink that hands every event to all of these, in this order."""
    if len(sinks) == 1:
        return sinks[0]
    if len(sinks) == 2:  # the figures, and somebody who looks on
        first, second = sinks

        def feed_both(event: AnyEvent) -> None:
            first(event)
            second(event)

        return feed_both

    def feed(event: AnyEvent) -> None:
        for sink in sinks:
            sink(event)

    return feed


def run_simulation(
    spec: RunSpec,
    *,
    driver: DriverName = "trio",
    journal: Path | None = None,
    sink: Sink | None = None,
    check: bool = False,
    watcher: Onlooker | None = None,
    messages_most: int | None = None,
) -> RunResult:
    """Run a spec for people; nothing but the spec can change what happens.

    `journal` is where the run is recorded, and `sink` gets every event; with `check` every rule
    (`journal.checks`) is checked, and `Violation` raised at the first event that breaks one.  With
    more messages than `messages_most`, by a thousand or so, it is given up (`GIVEN_UP`).
    Ctrl-C ends the run between two supersteps, with everything recorded so far kept; a second one
    is an ordinary KeyboardInterrupt.  Raises otherwise what `Simulation` does, and OSError for the
    journal.
    """
    stopwatch, checker = Stopwatch(), _checker() if check else None
    metrics = Metrics() if checker is None else checker.metrics
    limit = None if messages_most is None else MessageLimit(messages_most)
    onlookers = [each for each in (stopwatch, watcher, checker, limit) if each is not None]
    with contextlib.ExitStack() as stack:
        sinks: list[Sink] = [metrics.observe] if checker is None else []
        if sink is not None:
            sinks.append(sink)
        if journal is not None:
            from callboard.journal.writer import JournalWriter

            sinks.append(stack.enter_context(JournalWriter(journal)))
        run = Simulation(spec, sinks, onlookers=onlookers)
        began, began_processor = time.perf_counter(), time.process_time()
        stop = partial(run.kernel.end_run, "interrupted")
        with stopping_on_ctrl_c(stop) as is_asked, _errors_naming_run(spec):
            run.run(DRIVERS[driver])
        wall_seconds = time.perf_counter() - began
        processor_seconds = time.process_time() - began_processor
    summary = metrics.summary()
    if is_asked() and summary.reason != "interrupted":
        raise KeyboardInterrupt  # it came when the run was over, and is for what comes after
    return RunResult(
        summary=summary,
        jobs=metrics.jobs(),
        scheduling=stopwatch.scheduling,
        wall_seconds=wall_seconds,
        processor_seconds=processor_seconds,
        checks=() if checker is None else tuple(checker.report()),
        livelock="" if run.livelock is None else run.livelock.story,
        phase_sizes=metrics.phase_sizes(),
        map_locality=metrics.map_locality(),
        thoughts=metrics.thoughts(),
    )


@contextlib.contextmanager
def _errors_naming_run(spec: RunSpec) -> Iterator[None]:
    """What goes wrong says in which run: there may be several."""
    try:
        yield
    except Exception as error:
        error.add_note(f"under {spec.policy}, seed {spec.scenario.seed}")
        raise


def _checker() -> "Checker":
    from callboard.journal.checks.checker import Checker

    return Checker()


@contextlib.contextmanager
def stopping_on_ctrl_c(request_stop: Callable[[], object]) -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C end in good order what goes on, where signals can be had (the main thread) and it
    is not ignored, as by what a shell starts in the background; whether it came can be asked.
    """
    asked = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        request_stop()
        if sys.stderr.isatty():  # a policy's own endless loop is not ended by being asked
            with contextlib.suppress(RuntimeError):  # it has come into the middle of a line
                print("\nending; Ctrl-C once more ends it at once", file=sys.stderr)
        # What the second one does is up to the handler from before.
        signal.signal(signal.SIGINT, before if callable(before) else signal.default_int_handler)

    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield lambda: asked
        return
    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not the main thread
        yield lambda: asked
        return
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
