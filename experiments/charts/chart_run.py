"""What charts are drawn from: one run as plain data, read from its journal in one pass."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.faults import NodeFault
from callboard.actors.vocabulary.lifecycle import IllegalTransition
from callboard.experiments.charts.chart_style import unused_name
from callboard.journal.export.attempt_table import AttemptCollector, AttemptColumns
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.slot_time import slots_of
from callboard.journal.figures.steps import Steps
from callboard.journal.figures.summary import Summary
from callboard.journal.figures.tables import JobColumns
from callboard.journal.replay.pool_shares import PoolShares, ShareSampler
from callboard.journal.run_state import RunState
from callboard.scheduler.model import JobId, Millis, NodeId, TaskKind
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.spelling import split_spelling

_PARAMS_SHOWN = 28
"""In a label, longer parameters of a part are not written out."""


class NothingToDraw(ValueError):
    """The runs have none of what a chart shows; the message says what is missing."""


@dataclass(frozen=True)
class DownTime:
    """A node was down from `began_ms` to `ended_ms`."""

    node: NodeId
    began_ms: Millis
    ended_ms: Millis


@dataclass(frozen=True, eq=False, kw_only=True)
class ChartRun:
    """One run.  `label` is what legends call it, usually its policy.

    `horizon_ms` is the end of the run, or of what is known of it.  `solo_ms` is how long each job
    takes alone (`experiments.solo_runs`); None where nobody has computed that.  `shares` are None
    where they were not asked for.
    """

    label: str
    started: ev.RunStarted
    summary: Summary
    jobs: JobColumns
    attempts: AttemptColumns
    horizon_ms: Millis
    in_system: Steps
    down: tuple[DownTime, ...] = ()
    shares: PoolShares | None = None
    solo_ms: Mapping[JobId, Millis] | None = None

    @property
    def policy(self) -> str:
        return self.started.policy

    def slots(self, kind: TaskKind) -> int:
        """How many slots of a kind the cluster has."""
        return sum(slots_of(facts, kind) for facts in self.started.nodes)

    def busy_slots(self, kind: TaskKind) -> Steps:
        """How many of them were held, over time."""
        return self.attempts.busy_slots(kind, self.horizon_ms)


class _Reading:
    """Everything of a run that charts ask for, kept while its events go by."""

    def __init__(self, *, with_shares: bool) -> None:
        self.state = RunState()
        self.metrics = Metrics(self.state)
        self.attempts = AttemptCollector(self.state)
        self.shares = ShareSampler(self.state) if with_shares else None
        self.down: list[DownTime] = []
        self._down_since: dict[NodeId, Millis] = {}

    def observe(self, event: ev.AnyEvent) -> None:
        if self.shares is not None and self.state.started is not None:
            self.shares.before(event)
        attempt = self.state.observe(event)
        self.metrics.look(event, attempt)
        self.attempts.look(event, attempt)
        if self.shares is not None:
            self.shares.after(event, attempt)
        if isinstance(event, ev.FaultStruck) and isinstance(event.fault, NodeFault):
            self._look_at(event.fault.node, event.at_ms)

    def _look_at(self, node: NodeId, at_ms: Millis) -> None:
        """Note when a node goes down and when it is up again."""
        if self.state.nodes[node].is_down:
            self._down_since.setdefault(node, at_ms)
        elif node in self._down_since:
            self.down.append(DownTime(node, self._down_since.pop(node), at_ms))

    def down_times(self) -> tuple[DownTime, ...]:
        end_ms = self.state.now_ms
        still = [DownTime(node, since_ms, end_ms) for node, since_ms in self._down_since.items()]
        return tuple(sorted([*self.down, *still], key=lambda each: (each.began_ms, each.node)))


def chart_run(events: Iterable[ev.AnyEvent], *, with_shares: bool = True) -> ChartRun:
    """The run that the events tell of, as far as they go, labelled by its policy.

    Raises ValueError where they do not begin with a run's start, or contradict each other; what
    reading a journal raises.
    """
    reading = _Reading(with_shares=with_shares)
    try:
        for event in events:
            reading.observe(event)
    except IllegalTransition as error:
        raise ValueError(f"inconsistent events: {error}") from None
    state, metrics = reading.state, reading.metrics
    if state.started is None:
        raise ValueError("no run has been recorded in it yet")
    jobs = metrics.jobs()
    return ChartRun(
        label=short_policy(state.started.policy),
        started=state.started,
        summary=metrics.summary(),
        jobs=jobs,
        attempts=reading.attempts.table(),
        horizon_ms=metrics.horizon_ms,
        in_system=metrics.jobs_in_system(jobs),
        down=reading.down_times(),
        shares=None if reading.shares is None else reading.shares.table(),
    )


def labelled_runs(runs: Sequence[ChartRun]) -> list[ChartRun]:
    """The runs with labels that tell them apart: the policy, and scenario and seed where those
    differ; a number where nothing does.
    """
    scenarios = len({run.started.name for run in runs}) > 1
    seeds = len({run.started.seed for run in runs}) > 1
    labels: list[str] = []
    for run in runs:
        parts = [short_policy(run.policy)]
        parts += [run.started.name] if scenarios else []
        parts += [f"seed {run.started.seed}"] if seeds else []
        labels.append(unused_name(", ".join(parts), labels))
    return [replace(run, label=label) for run, label in zip(runs, labels, strict=True)]


def short_policy(policy: str) -> str:
    """The policy as a label: `fair(…)+kill` where a part has many parameters."""
    try:
        pieces = split_spelling(policy, ())
    except PolicySpecError:  # a name that only an installed package can explain
        return policy
    shown = [(p.name, p.params if len(p.params) <= _PARAMS_SHOWN else "…") for p in pieces]
    return "+".join(f"{name}({params})" if params else name for name, params in shown)


def runs_title(runs: Sequence[ChartRun]) -> str:
    """What the runs have in common: the scenario and the seed; empty where they differ."""
    names, seeds = {run.started.name for run in runs}, {run.started.seed for run in runs}
    parts = list(names) if len(names) == 1 else []
    parts += [f"seed {seed}" for seed in seeds] if len(seeds) == 1 else []
    return ", ".join(parts)


def latest_end_ms(runs: Sequence[ChartRun]) -> Millis:
    """When the last of the runs ends; NothingToDraw if none has any length."""
    end_ms = max(run.horizon_ms for run in runs)
    if not end_ms:
        raise NothingToDraw("the run has no length")
    return end_ms
