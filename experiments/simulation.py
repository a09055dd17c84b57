"""Running a world: the one place where a spec becomes actors, and its events go to sinks.

`run_simulation` is what `callboard run` and `callboard.run` do with a `Simulation`: measured,
perhaps recorded and checked, and stopped in good order by Ctrl-C.
"""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Literal, Protocol

from callboard.actors.kernel import drivers
from callboard.actors.kernel.address import MASTER
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.master.master import Master
from callboard.actors.vocabulary.events import AnyEvent, RunEnded, RunStarted
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.experiments.livelock import LIVELOCK, LivelockWatch
from callboard.experiments.plugins import load_policy
from callboard.experiments.run_result import RunResult
from callboard.experiments.run_spec import RunSpec
from callboard.experiments.stopwatch import TimedPolicy
from callboard.journal.checks.checker import Checker
from callboard.journal.checks.master_rules import InstrumentedMaster, MasterProbe
from callboard.journal.figures.metrics import Metrics
from callboard.journal.writer import JournalWriter
from callboard.scenarios.build import assemble, node_facts, progress_timeout_ms
from callboard.scenarios.scenario_file import to_dict
from callboard.scheduler.policy import Policy
from callboard.scheduler.registry.parts import PartSettings
from callboard.version import __version__

Sink = Callable[[AnyEvent], None]
MakePolicy = Callable[[str, PartSettings], Policy]
"""Makes a policy from its spelling and from a scenario's settings of parts."""

DriverName = Literal["trio", "direct"]
DRIVERS: dict[DriverName, Callable[[Kernel], None]] = {
    "trio": drivers.run_on_trio,
    "direct": drivers.run_direct,
}


class RunWatcher(Protocol):
    """An observer of a run, which changes nothing in it."""

    def observe(self, event: AnyEvent) -> None:
        """Take note of an event."""

    def on_progress(self, kernel: Kernel) -> None:
        """Called every thousand or so supersteps."""


class Simulation:
    """One run of a spec: its actors in a kernel, and `sinks` that get every event in order.

    `policy` is the spec's where it has been made already; `make_policy` makes it otherwise, and
    those that are put in force later.  A `checker` hears each event after all sinks; it and
    `probes` look at the master before and after each message.  `livelock` watches a run with
    preemption that is not to be patient.  PolicySpecError for a bad policy.
    """

    def __init__(
        self,
        spec: RunSpec,
        sinks: Sequence[Sink] = (),
        *,
        policy: Policy | None = None,
        make_policy: MakePolicy = load_policy,
        checker: Checker | None = None,
        probes: Sequence[MasterProbe] = (),
        watcher: RunWatcher | None = None,
    ) -> None:
        spec = self.spec = spec.resolved()
        scenario, parts = spec.scenario, spec.scenario.parts
        listening = [*sinks]
        if watcher is not None:
            listening.append(watcher.observe)
        if checker is not None:
            listening.append(checker.observe)
        policy = make_policy(spec.policy, parts) if policy is None else policy
        self.livelock = _livelock_watch(spec, policy, lambda: self.kernel.stop(LIVELOCK))
        if self.livelock is not None:
            listening.append(self.livelock.observe)
        self._sink = _fan_out(listening)
        self.kernel = Kernel(sink=self._sink, until_ms=spec.until_ms, tie_order=spec.tie_order)
        assemble(
            self.kernel,
            cluster=scenario.cluster,
            tasks=scenario.tasks,
            jobs=spec.jobs,
            policy=policy,
            seed=scenario.seed,
            master=partial(InstrumentedMaster, probes=probes) if checker or probes else Master,
            script=spec.script,
            make_policy=lambda text: make_policy(text, parts),
        )
        if spec.patient:
            self.kernel.is_progress = None
        if checker is not None:
            checker.attach(self.kernel)
        if watcher is not None:
            self.kernel.watch = lambda: watcher.on_progress(self.kernel)

    @property
    def master(self) -> Master:
        master = self.kernel.actors[MASTER]
        assert isinstance(master, Master)
        return master

    def run(self, drive: Callable[[Kernel], None] = drivers.run_direct) -> None:
        """Run to the end; KernelError for a run that fails, and what sinks raise."""
        self._sink(self._started())
        drive(self.kernel)
        self._sink(self._ended())

    def supersteps(self) -> Iterator[None]:
        """The same, stopping after each superstep for callers that look or wait in between."""
        self._sink(self._started())
        yield from drivers.supersteps(self.kernel)
        self._sink(self._ended())

    def _started(self) -> RunStarted:
        scenario, policy = self.spec.scenario, self.spec.policy
        nodes, plain = node_facts(scenario.cluster), to_dict(scenario)
        return RunStarted(0, __version__, scenario.name, policy, scenario.seed, plain, nodes)

    def _ended(self) -> RunEnded:
        kernel, reason = self.kernel, self.kernel.reason or "complete"
        return RunEnded(kernel.now_ms, reason, kernel.messages, kernel.ties, kernel.digest())


def _livelock_watch(
    spec: RunSpec, policy: Policy, stop: Callable[[], None]
) -> LivelockWatch | None:
    """What ends the run if its preemption goes round; None for a patient run, or without any."""
    happening = [each.fault for each in spec.script]
    switches = any(isinstance(fault, SwitchPolicy) for fault in happening)
    if spec.patient or not (switches or policy.interval_ms is not None):
        return None
    cluster, tasks = spec.scenario.cluster, spec.scenario.tasks
    timeout_ms = progress_timeout_ms(cluster, tasks, spec.jobs, node_facts(cluster), spec.script)
    calm_ms = max((each.at_ms for each in spec.script), default=0)
    return LivelockWatch(policy, stop, timeout_ms * 3 // 4, calm_ms)


def _fan_out(sinks: Sequence[Sink]) -> Sink:
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
    policy: Policy | None = None,
    driver: DriverName = "trio",
    journal: Path | None = None,
    check: bool = False,
    watcher: RunWatcher | None = None,
) -> RunResult:
    """Run a spec for people; nothing but the spec can change what happens.

    `journal` is where the run is recorded; with `check` every rule (`journal.checks`) is checked,
    and `Violation` raised at the first event that breaks one.  Ctrl-C ends the run between two
    supersteps, with everything recorded so far kept; a second one is an ordinary KeyboardInterrupt.
    Raises otherwise what `Simulation` does, and OSError for the journal.
    """
    made = load_policy(spec.policy, spec.scenario.parts) if policy is None else policy
    timed = TimedPolicy(made)
    checker = Checker(timed) if check else None
    metrics = Metrics() if checker is None else checker.metrics
    with contextlib.ExitStack() as stack:
        sinks: list[Sink] = [metrics.observe] if checker is None else []
        if journal is not None:
            sinks.append(stack.enter_context(JournalWriter(journal)))
        run = Simulation(spec, sinks, policy=timed, checker=checker, watcher=watcher)
        began, began_processor = time.perf_counter(), time.process_time()
        with stopping_on_ctrl_c(partial(run.kernel.stop, "interrupted")):
            run.run(DRIVERS[driver])
        wall_seconds = time.perf_counter() - began
        processor_seconds = time.process_time() - began_processor
    return RunResult(
        summary=metrics.summary(),
        jobs=metrics.jobs(),
        scheduling=timed.scheduling,
        wall_seconds=wall_seconds,
        processor_seconds=processor_seconds,
        checks=() if checker is None else tuple(checker.report()),
        livelock="" if run.livelock is None else run.livelock.story,
        phase_sizes=metrics.phase_sizes(),
        map_locality=metrics.map_locality(),
    )


@contextlib.contextmanager
def stopping_on_ctrl_c(request_stop: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl-C end in good order what goes on, where signals can be had (the main thread) and it
    is not ignored, as by what a shell starts in the background.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        request_stop()
        # What the second one does is up to the handler from before.
        signal.signal(signal.SIGINT, before if callable(before) else signal.default_int_handler)

    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
