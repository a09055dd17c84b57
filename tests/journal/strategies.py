"""Hypothesis strategies: any events at all, and event streams as a real run could give."""

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

from callboard.actors.network import LinkConditions
from callboard.actors.vocabulary.events import (
    EVENT_TYPES,
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStalled,
    AttemptStarted,
    AttemptSuspended,
    ContactLost,
    ContactRegained,
    FaultStruck,
    JobBlacklistedNode,
    JobChanged,
    JobFinished,
    JobInitialised,
    JobResubmitted,
    JobSubmitted,
    KillOrdered,
    LaunchExpired,
    MapOutputsLost,
    NodeBlacklisted,
    NodeFacts,
    NodeLost,
    NodeReturned,
    NodesProbed,
    NodeUnblacklisted,
    OrderSwitched,
    Outcome,
    ProbesAnswered,
    ReservationsSent,
    ReservationsStolen,
    ResumeOrdered,
    RunEnded,
    RunStarted,
    SchedulingAttempted,
    ShuffleEnded,
    SizeEstimated,
    Stall,
    StallEnded,
    SuspendOrdered,
    ThoughtBegun,
)
from callboard.actors.vocabulary.faults import (
    Crash,
    CrashScheduler,
    Disturb,
    Drain,
    Drift,
    Flaky,
    Hang,
    KillJob,
    Partition,
    PauseMaster,
    PauseNode,
    Restart,
    RestartMaster,
    RestartScheduler,
    ResumeMaster,
    ResumeNode,
    SetPool,
    SetPriority,
    Slow,
    StickLaunches,
    SwitchPolicy,
)
from callboard.scheduler.model import MAPS, REDUCES, Locality, Priority, SlotKind
from callboard.scheduler.reasons import (
    AttemptPace,
    BehindAverage,
    Claimant,
    ClassPlace,
    DelayByCount,
    DelayByTime,
    JobClaimant,
    Note,
    PoolClaimant,
    PoolPlace,
    Reason,
    ShareKind,
    Shortage,
    Skip,
    Starving,
    UserClaimant,
    Why,
)

_whole = st.integers(0, 2**40)
_small = st.integers(0, 300)
_text = st.text(max_size=12)
_policy = _text.filter(str.strip)
_real = st.floats(allow_nan=False, width=64)
_share = st.floats(0, 1)
_outcome = st.sampled_from(Outcome)
_kind = st.sampled_from(SlotKind)
_level = st.sampled_from(Locality)
_note = st.builds(Note, _text)
_refusal = st.one_of(
    st.builds(DelayByCount, _level, _small, _small),
    st.builds(DelayByTime, _level, _level, _small, _small, _small),
    _note,
)
_claimant: st.SearchStrategy[Claimant] = st.one_of(
    st.builds(JobClaimant, _small), st.builds(PoolClaimant, _text), st.builds(UserClaimant, _text)
)
_shortage = st.builds(Shortage, _claimant, _small, st.sampled_from(ShareKind))
_detail = st.one_of(
    _note,
    st.builds(PoolPlace, _text, _text),
    st.builds(ClassPlace, _small, _text, _real, _text, _small, _small),
    st.builds(Starving, st.lists(_shortage, max_size=3).map(tuple), _small),
    st.builds(BehindAverage, _share, _whole, st.integers(1, 300)),
    st.builds(AttemptPace, _whole, _share, st.none() | _whole),
)
_why = st.builds(
    Why,
    st.sampled_from(Reason),
    _text,
    _small,
    _real,
    st.none() | _claimant,
    st.none() | _detail,
    _text,
    st.lists(st.builds(Skip, _small, _refusal), max_size=3).map(tuple),
    _small,
    _whole,
)
_node = st.builds(NodeFacts, _small, _small, _small, _small, _real, _text)
_plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | _real | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_way = st.builds(LinkConditions, st.booleans(), _real, _real, _small, _real)
_fault = st.one_of(
    *(st.builds(kind, _small) for kind in (Crash, Restart, PauseNode, ResumeNode)),
    st.builds(Slow, _small, _real),
    st.builds(Flaky, _small, _real),
    st.builds(StickLaunches, _small, _real),
    st.builds(Drift, _small, _real),
    st.builds(Hang, _small, _real, st.none() | _real),
    st.builds(KillJob, _small),
    *(st.builds(kind, _small) for kind in (CrashScheduler, RestartScheduler)),
    st.builds(SetPool, _small, _text),
    st.builds(SetPriority, _small, st.sampled_from(Priority)),
    st.builds(Drain, _small, st.booleans()),
    st.builds(SwitchPolicy, _text),
    st.builds(PauseMaster),
    st.builds(ResumeMaster),
    st.builds(RestartMaster, st.booleans()),
    st.builds(Partition, _small, st.lists(_small, max_size=3).map(tuple)),
    st.builds(Disturb, _small, _way, _way),
)
_scenario = st.dictionaries(_text, _plain, max_size=3)
_nodes = st.lists(_node, max_size=3, unique_by=lambda facts: facts.node).map(tuple)
_priority = st.sampled_from(Priority)

_loss = st.sampled_from((Outcome.FAILED, Outcome.KILLED))

_FIELDS: dict[type[AnyEvent], tuple[st.SearchStrategy[object], ...]] = {
    RunStarted: (_text, _text, _policy, _whole, _scenario, _nodes),
    JobSubmitted: (_small, _text, _text, _text, _priority, _small, _small),
    JobInitialised: (_small,),
    AttemptLaunched: (_whole, _small, _kind, _small, _small, _small, _level, _why),
    AttemptStarted: (_whole, _small, _small),
    ShuffleEnded: (_whole,),
    AttemptStalled: (_whole, _real, st.sampled_from(Stall)),
    StallEnded: (_whole,),
    LaunchExpired: (_whole,),
    AttemptSuspended: (_whole,),
    AttemptResumed: (_whole, _small, _small),
    AttemptEnded: (_whole, _outcome, _whole, _whole),
    AttemptClosed: (_whole, _outcome),
    KillOrdered: (_whole, _why),
    SuspendOrdered: (_whole, _why),
    ResumeOrdered: (_whole, _why),
    OrderSwitched: (_text, _text, _kind, _small, _small, _small),
    FaultStruck: (_fault,),
    NodeLost: (_small, _small, st.booleans()),
    ContactLost: (_small, _small, _small, st.booleans()),
    ContactRegained: (_small, _small),
    MapOutputsLost: (_small, _small, st.lists(_whole, max_size=3).map(tuple), _loss),
    NodeReturned: (_small,),
    JobChanged: (_small, _text, _priority),
    JobResubmitted: (_small,),
    SizeEstimated: (_small, _kind, _whole, _whole),
    SchedulingAttempted: (
        *(_small, _small, st.sampled_from((MAPS, REDUCES)), _whole, _whole, _small),
        *(st.lists(_small, max_size=3).map(tuple),) * 3,
    ),
    ThoughtBegun: (*(_small,) * 2, st.sampled_from((MAPS, REDUCES)), _whole, _whole, _small),
    NodesProbed: (
        *(_small,) * 3,
        *(st.sampled_from((MAPS, REDUCES)), _small, st.lists(_small, max_size=3).map(tuple)),
    ),
    ProbesAnswered: (
        *(_small,) * 3,
        *(st.sampled_from((MAPS, REDUCES)), _whole, _small),
        *(st.lists(_small, min_size=2, max_size=2).map(tuple),) * 2,
    ),
    ReservationsSent: (
        *(_small, _small, st.sampled_from((MAPS, REDUCES))),
        *(st.lists(_small, max_size=3).map(tuple),) * 2,
        st.booleans(),
    ),
    ReservationsStolen: (_small, st.sampled_from((MAPS, REDUCES)), _small, _small, _small),
    JobBlacklistedNode: (_small, _small, st.booleans()),
    NodeBlacklisted: (_small, _small, st.booleans()),
    NodeUnblacklisted: (_small,),
    JobFinished: (_small, _outcome, _whole),
    RunEnded: (_text, _whole, _whole, _text),
}

# Every type of event is looked up, so that a new one without its fields here fails the tests.
any_event: st.SearchStrategy[AnyEvent] = st.one_of(
    *(st.builds(kind, _whole, *_FIELDS[kind]) for kind in EVENT_TYPES)
)


@dataclass(frozen=True)
class Lived:
    """One attempt of a generated run: its whole life, though the run may be cut off within it."""

    attempt: int
    job: int
    kind: SlotKind
    node: int
    slot: int
    level: Locality
    launched: int
    started: int
    shuffled: int | None
    ended: int
    outcome: Outcome
    closed: int
    booked: Outcome


@dataclass(frozen=True)
class World:
    """A generated run, as the plain facts from which its events were made."""

    nodes: tuple[NodeFacts, ...]
    jobs: tuple[tuple[int, int | None, Outcome], ...]
    """Submitted, finished, outcome of each job."""
    attempts: tuple[Lived, ...]
    horizon: int

    def events(self) -> list[AnyEvent]:
        """What its journal holds: the facts in order of time, up to the horizon."""
        start = RunStarted(0, "1", "drawn", "none", 1, {}, self.nodes)
        facts = [fact for fact in self._facts() if fact.at_ms <= self.horizon]
        facts.sort(key=lambda fact: fact.at_ms)
        return [start, *facts, RunEnded(self.horizon, "until", 5, 1, "d")]

    def _facts(self) -> Iterator[AnyEvent]:
        for job, (submitted, _, _) in enumerate(self.jobs):
            maps, reduces = (
                sum(one.job == job and one.kind is kind for one in self.attempts)
                for kind in SlotKind
            )
            yield JobSubmitted(submitted, job, "j", "u", "", Priority.NORMAL, maps, reduces)
        for one in self.attempts:
            where = (one.node, one.level, Why(Reason.OWN, "drawn"))
            yield AttemptLaunched(
                one.launched, one.attempt, one.job, one.kind, one.attempt, 0, *where
            )
            yield AttemptStarted(one.started, one.attempt, one.node, one.slot)
            if one.shuffled is not None:
                yield ShuffleEnded(one.shuffled, one.attempt)
            yield AttemptEnded(one.ended, one.attempt, one.outcome, one.started)
            yield AttemptClosed(one.closed, one.attempt, one.booked)
        for job, (submitted, finished, outcome) in enumerate(self.jobs):
            if finished is not None:
                yield JobFinished(finished, job, outcome, submitted)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A small cluster on which jobs run with every delay drawn, many of them 0, many alike."""
    some = st.integers(0, 6)
    nodes = tuple(
        NodeFacts(n, n % 2, draw(st.integers(0, 2)), draw(st.integers(0, 2)), 1.0)
        for n in range(draw(st.integers(1, 3)))
    )
    count = draw(st.integers(1, 4))
    submitted = [draw(st.integers(0, 20)) for _ in range(count)]
    attempts: list[Lived] = []
    for node in nodes:
        for kind, slots in ((SlotKind.MAP, node.map_slots), (SlotKind.REDUCE, node.reduce_slots)):
            for slot in range(slots):
                free = 0
                for _ in range(draw(st.integers(0, 3))):
                    job = draw(st.integers(0, count - 1))
                    launched = max(free, submitted[job]) + draw(some)
                    started = launched + draw(some)
                    shuffled = started + draw(some)
                    ended = shuffled + draw(some)
                    ending = draw(st.sampled_from(Outcome))
                    booked = draw(st.sampled_from((ending, ending, Outcome.KILLED)))
                    attempts.append(
                        Lived(
                            attempt=len(attempts) + 1,
                            job=job,
                            kind=kind,
                            node=node.node,
                            slot=slot,
                            level=draw(st.sampled_from(Locality)),
                            launched=launched,
                            started=started,
                            shuffled=shuffled if kind is SlotKind.REDUCE else None,
                            ended=ended,
                            outcome=ending,
                            closed=ended + draw(some),
                            booked=booked,
                        )
                    )
                    free = ended
    jobs = []
    for job in range(count):
        last = max([one.closed for one in attempts if one.job == job], default=submitted[job])
        stays = draw(st.booleans())
        outcome = draw(st.sampled_from(Outcome))
        jobs.append((submitted[job], None if stays else last + draw(some), outcome))
    # The run may be cut anywhere, also before or after everything.
    return World(nodes, tuple(jobs), tuple(attempts), draw(st.integers(0, 60)))
