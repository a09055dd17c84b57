"""Playing a scenario: one run for each policy, on the same jobs and the same draws.

This is what `callboard run` does and what `callboard.run` gives to Python programs.
"""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Literal, Protocol

import msgspec

from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.drivers import run_direct, run_on_trio
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.master.master import Master
from callboard.actors.vocabulary.events import AnyEvent, RunEnded, RunStarted
from callboard.experiments.plugins import load_policy
from callboard.experiments.stopwatch import SchedulingCost, TimedPolicy
from callboard.journal.checks.checker import Checker
from callboard.journal.checks.master_rules import InstrumentedMaster
from callboard.journal.checks.rule import RuleReport
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.slowdown import SlowdownStatistics
from callboard.journal.figures.summary import Summary
from callboard.journal.writer import JournalWriter
from callboard.scenarios.build import assemble, node_facts
from callboard.scenarios.scenario_file import Scenario, make_script, to_dict
from callboard.scheduler.model import Millis
from callboard.scheduler.policy import Policy
from callboard.version import __version__

Sink = Callable[[AnyEvent], None]
DriverName = Literal["trio", "direct"]

DRIVERS: dict[DriverName, Callable[[Kernel], None]] = {"trio": run_on_trio, "direct": run_direct}


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to run, apart from what to run: none of it but `until_ms` and `tie_order` can change
    what happens.  With `check` the run is held against every rule (`journal.checks`) as it goes.
    """

    until_ms: Millis | None = None
    tie_order: int | None = None
    host: DriverName = "trio"
    journal: Path | None = None
    check: bool = False


class RunWatcher(Protocol):
    """Somebody who looks on and changes nothing."""

    def observe(self, event: AnyEvent) -> None:
        """Take note of an event."""

    def on_progress(self, kernel: Kernel) -> None:
        """Called every thousand or so supersteps."""


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one run came to.  `slowdown` and `checks` are there when they were asked for."""

    summary: Summary
    wall_seconds: float
    scheduling: SchedulingCost
    slowdown: SlowdownStatistics | None = None
    checks: tuple[RuleReport, ...] = ()
    metrics: Metrics

    def as_json(self) -> dict[str, object]:
        """The run as one JSON object."""
        out = self.summary.as_json(self.wall_seconds)
        out["scheduling"] = msgspec.to_builtins(self.scheduling)
        if self.slowdown is not None:
            out["slowdown"] = msgspec.to_builtins(self.slowdown)
        if self.checks:
            out["checks"] = {check.rule: check.times for check in self.checks}
        return out

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run."""
        return self.summary.reason == "interrupted"


def run_simulation(
    scenario: Scenario,
    jobs: Sequence[JobSpec],
    policy: str,
    options: RunOptions | None = None,
    watcher: RunWatcher | None = None,
    script: Sequence[ScheduledFault] | None = None,
) -> RunResult:
    """Run the scenario under one policy.

    `jobs` and `script` are the scenario's (`scenarios.scenario_file.make_jobs`, `make_script`);
    without a script it is made here, but for failure traces, whose files only the caller
    knows.  Ctrl-C ends the run between two supersteps, with everything recorded so far kept; a
    second one is an ordinary KeyboardInterrupt.  Raises `PolicySpecError` for an unknown policy,
    `KernelError` for a run that got stuck or failed, OSError where the journal cannot be written,
    and with `check` `Violation` at the first event that breaks a rule.
    """
    options = options or RunOptions()
    metrics, timed = Metrics(), TimedPolicy(load_policy(policy, scenario.parts))
    checker = Checker(timed, metrics) if options.check else None
    with contextlib.ExitStack() as stack:
        sinks: list[Sink] = [metrics.observe]
        if options.journal is not None:
            sinks.append(stack.enter_context(JournalWriter(options.journal)))
        if watcher is not None:
            sinks.append(watcher.observe)
        if checker is not None:
            sinks.append(checker.observe)
        sink = fan_out(sinks)
        master = Master if checker is None else InstrumentedMaster
        kernel = make_kernel(scenario, jobs, timed, options, sink, script=script, master=master)
        if watcher is not None:
            kernel.watch = lambda: watcher.on_progress(kernel)
        sink(run_started(scenario, policy))
        if checker is not None:
            checker.attach(kernel)
        began = time.perf_counter()
        with _stopping_on_ctrl_c(kernel):
            DRIVERS[options.host](kernel)
        wall_seconds = time.perf_counter() - began
        sink(run_ended(kernel))
    return RunResult(
        summary=metrics.summary(),
        wall_seconds=wall_seconds,
        scheduling=timed.scheduling,
        checks=() if checker is None else tuple(checker.report()),
        metrics=metrics,
    )


def make_kernel(
    scenario: Scenario,
    jobs: Sequence[JobSpec],
    policy: Policy,
    options: RunOptions,
    sink: Sink,
    *,
    script: Sequence[ScheduledFault] | None = None,
    master: type[Master] = Master,
) -> Kernel:
    """The run's world, ready for a host; `script` as in `play`."""
    kernel = Kernel(sink=sink, until_ms=options.until_ms, tie_order=options.tie_order)
    assemble(
        kernel,
        cluster=scenario.cluster,
        tasks=scenario.tasks,
        jobs=jobs,
        policy=policy,
        seed=scenario.seed,
        master=master,
        script=make_script(scenario, jobs) if script is None else script,
        make_policy=partial(load_policy, settings=scenario.parts),
    )
    return kernel


def run_started(scenario: Scenario, policy: str) -> RunStarted:
    """The journal's header."""
    nodes = node_facts(scenario.cluster)
    plain = to_dict(scenario)
    return RunStarted(0, __version__, scenario.name, policy, scenario.seed, plain, nodes)


def run_ended(kernel: Kernel) -> RunEnded:
    """The journal's last event."""
    reason = kernel.reason or "complete"
    return RunEnded(kernel.now_ms, reason, kernel.messages, kernel.ties, kernel.digest())


def fan_out(sinks: list[Sink]) -> Sink:
    """One sink that feeds all."""
    if len(sinks) == 1:
        return sinks[0]

    def feed(event: AnyEvent) -> None:
        for sink in sinks:
            sink(event)

    return feed


@contextlib.contextmanager
def _stopping_on_ctrl_c(kernel: Kernel) -> Iterator[None]:
    """Let Ctrl-C end the run in good order, where signals can be had (the main thread)."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        kernel.stop("interrupted")
        # What the second one does is for whoever was in charge before.
        signal.signal(signal.SIGINT, before if callable(before) else signal.default_int_handler)

    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
