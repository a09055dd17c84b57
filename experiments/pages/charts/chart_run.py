"""What charts are drawn from: one run as plain data, read from its journal in one pass."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.faults import NodeFault, SwitchPolicy
from callboard.experiments.pages.charts.cell_table import PARAMS_MAX
from callboard.experiments.pages.charts.chart_style import chart_text
from callboard.journal.consistency import feed_consistent_events
from callboard.journal.export.attempt_table import AttemptCollector, AttemptColumns
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.run_account import jobs_over_time
from callboard.journal.figures.slot_time import slots_of
from callboard.journal.figures.steps import Steps
from callboard.journal.figures.summary import Summary
from callboard.journal.figures.tables import Ints, JobColumns
from callboard.journal.replay.pool_shares import PoolShares, ShareSampler
from callboard.journal.run_state import RunState
from callboard.scheduler.model import Millis, NodeId, SlotKind
from callboard.scheduler.registry.spelling import short_policy


class NothingToDraw(ValueError):
    """The runs have none of what a chart shows; the message says what is missing."""


@dataclass(frozen=True)
class DownTime:
    """A node was down from `began_ms` to `ended_ms`."""

    node: NodeId
    began_ms: Millis
    ended_ms: Millis


@dataclass(frozen=True, eq=False, kw_only=True)
class SlotHistory:
    """What the slots of a run's nodes did, which only its journal tells.

    `shares` are None where they were not asked for; `switches` says when another policy came into
    force, and which.
    """

    started: ev.RunStarted
    attempts: AttemptColumns
    down: tuple[DownTime, ...] = ()
    switches: tuple[tuple[Millis, str], ...] = ()
    shares: PoolShares | None = None

    @property
    def nodes(self) -> tuple[ev.NodeFacts, ...]:
        return self.started.nodes

    def slots(self, kind: SlotKind) -> int:
        """How many slots of a kind the cluster has."""
        return sum(slots_of(facts, kind) for facts in self.nodes)


@dataclass(frozen=True, eq=False, kw_only=True)
class ChartRun:
    """One run.  `label` is what legends call it, usually its policy.

    `solo_ms` is how long each job takes alone (`experiments.solo_runs`), in the order of `jobs`;
    None where nobody has computed that.  `history` is None for a run of which only its figures
    were kept.  `seeds` is how many runs there are in it, whose jobs are drawn together.
    """

    label: str
    summary: Summary
    jobs: JobColumns
    solo_ms: Ints | None = None
    history: SlotHistory | None = None
    seeds: int = 1

    @property
    def policy(self) -> str:
        return self.summary.policy

    @property
    def seed_words(self) -> str:
        """`seed 3`, or of several runs `5 seeds`."""
        return f"seed {self.summary.seed}" if self.seeds == 1 else f"{self.seeds} seeds"

    @property
    def horizon_ms(self) -> Millis:
        """The end of the run, or of what is known of it."""
        return round(1000 * self.summary.virtual_seconds)

    @property
    def in_system(self) -> Steps:
        """How many jobs were submitted and not yet finished, over time."""
        return jobs_over_time(self.jobs, self.horizon_ms)

    @property
    def slot_history(self) -> SlotHistory:
        """What the slots did; ValueError where that is not known."""
        if self.history is None:
            raise ValueError(f"{self.label}: of this run only its jobs are known, not its slots")
        return self.history


class _ChartRunReader:
    """Everything of a run that charts ask for, kept while its events go by."""

    def __init__(self, *, with_shares: bool) -> None:
        self.state = RunState()
        self.metrics = Metrics(self.state)
        self.attempts = AttemptCollector(self.state)
        self.shares = ShareSampler(self.state) if with_shares else None
        self.down: list[DownTime] = []
        self.switches: list[tuple[Millis, str]] = []
        self._down_since: dict[NodeId, Millis] = {}

    def observe(self, event: ev.AnyEvent) -> None:
        if self.shares is not None and self.state.started is not None:
            self.shares.take_due_samples(event)
        attempt = self.state.observe(event)
        self.metrics.note_event(event, attempt)
        self.attempts.note_event(event, attempt)
        if self.shares is not None:
            self.shares.count_held_slots(event, attempt)
        if isinstance(event, ev.FaultStruck):
            if isinstance(event.fault, NodeFault):
                self._note_down_time(event.fault.node, event.at_ms)
            elif isinstance(event.fault, SwitchPolicy):
                self.switches.append((event.at_ms, event.fault.policy))

    def _note_down_time(self, node: NodeId, at_ms: Millis) -> None:
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

    Raises ValueError, with the event's number, if no run can have had them, or if they do not begin
    with a run's start; what reading a journal raises.
    """
    reading = _ChartRunReader(with_shares=with_shares)
    feed_consistent_events(events, reading.state, reading.observe)
    state, metrics = reading.state, reading.metrics
    assert state.started is not None
    return ChartRun(
        label=chart_text(short_policy(state.started.policy, PARAMS_MAX)),
        summary=metrics.summary(),
        jobs=metrics.jobs(),
        history=SlotHistory(
            started=state.started,
            attempts=reading.attempts.table(),
            down=reading.down_times(),
            switches=tuple(reading.switches),
            shares=None if reading.shares is None else reading.shares.table(),
        ),
    )


def runs_title(runs: Sequence[ChartRun]) -> str:
    """What the runs have in common: the scenario and the seed; empty where they differ."""
    names, seeds = {run.summary.scenario for run in runs}, {run.seed_words for run in runs}
    parts = [chart_text(name) for name in names] if len(names) == 1 else []
    return ", ".join([*parts, *(seeds if len(seeds) == 1 else ())])


def latest_end_ms(runs: Sequence[ChartRun]) -> Millis:
    """When the last of the runs ends; NothingToDraw if none has any length."""
    end_ms = max(run.horizon_ms for run in runs)
    if not end_ms:
        raise NothingToDraw("the run has no length")
    return end_ms
