"""What a screen asks for and what it gets: a `View` goes in, a whole `Frame` comes out.

A frame is a value, made of numbers, bytes and finished sentences.  It says everything the screen
draws for one moment of a run, so it can cross a pipe, and a screen never touches an actor.
"""

import math
from enum import IntEnum, IntFlag

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary.events import Importance, Mark, NodeFacts
from callboard.scheduler.model import JobId, Millis, NodeId, Priority


class SlotState(IntEnum):
    """What a slot really does; the last two tell what the master believes where that differs.

    It still counts a `GHOST`, an attempt that is over, and has given up an `ORPHAN`, which runs.
    """

    IDLE = 0
    MAP = 1
    SHUFFLE = 2
    REDUCE = 3
    COPY = 4
    GHOST = 5
    ORPHAN = 6


WASTED = len(SlotState)
"""In a timeline: the state of an attempt that failed or was killed."""

USUAL_AGE = 128
"""The age of an attempt in a frame that is as old as those of its job and kind usually get."""


HUES = 6
"""How many colours jobs have."""


class ColourBy(IntEnum):
    """What the colours of jobs stand for; `FITTING` is by job, but not in a crowd."""

    FITTING = 0
    JOB = 1
    POOL = 2
    USER = 3
    LOCALITY = 4
    AGE = 5
    QUEUE = 6
    SIZE = 7


class NodeStatus(IntFlag):
    """How a node really is; 0 is up and well.

    `CUT`: its link to the master is disturbed.  `DRAINED`: out of service, it gets nothing new.
    `ABSENT`: down since before the run began, so that the master has never heard of it.  `APART`:
    it cannot fetch from some other nodes.
    """

    DOWN = 1
    PAUSED = 2
    SLOW = 4
    CUT = 8
    DRAINED = 16
    ABSENT = 32
    APART = 64


_DOWN, _DOWN_OR_ABSENT = int(NodeStatus.DOWN), int(NodeStatus.DOWN | NodeStatus.ABSENT)


def nodes_down(node_status: bytes | bytearray) -> NDArray[np.bool_]:
    """Which nodes are down, except those that have not joined yet."""
    down: NDArray[np.bool_] = np.frombuffer(node_status, np.uint8) & _DOWN_OR_ABSENT == _DOWN
    return down


def is_master_unaware(node_status: int, lost: int) -> bool:
    """Whether a node is down and the master still counts on it."""
    return node_status & _DOWN_OR_ABSENT == _DOWN and not lost


class JobStatus(IntEnum):
    """The state of a job, as the master sees it.

    `WAITING`: nothing launched yet.  `STARVED`: begun, not done, and none of its tasks is running.
    """

    WAITING = 0
    RUNNING = 1
    STARVED = 2
    SUCCEEDED = 3
    FAILED = 4
    KILLED = 5


class JobSortKey(IntEnum):
    """What the jobs can be sorted by."""

    ID = 0
    NAME = 1
    POOL = 2
    STATE = 3
    DONE = 4
    RUNNING = 5
    WAITING = 6
    WAITED = 7
    TIME = 8
    FAIR_SHARE = 9
    SCORE = 10
    EXPECTED = 11
    SIZE = 12
    SLOWDOWN = 13
    PREEMPTIONS = 14


_Key = JobSortKey
COMPARISON_SORT_KEYS = (_Key.ID, _Key.NAME, _Key.DONE, _Key.RUNNING, _Key.TIME)
"""What the jobs of two runs can be sorted by; figures are those of the run in front."""


class View(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What the screen wants to see: how wide, which rows, what is selected.

    `columns` is the width of the time bar and of the charts; `lane_columns` that of the detail's
    timeline, 0 for none, and `lane_rows` how many lanes it has room for.  `log_back` is how many
    lines the log is scrolled back; a `log_kind` shows all events of that kind and no others;
    `log_unfolded` are the first events of the groups of alike events that are shown one by one.
    `filter` leaves the jobs and log lines that contain it, with `!` before it those that do not.
    `all_jobs` also lists those that have left the system.  `slot` is one of the slots of `node`.
    `with_run` asks for the `RunInfo`, which stays the same.  `lead` is which of two compared runs
    is in front: steps go by its events.  `colour_by` is what the colours of jobs are to stand for.
    `with_cards` asks for what is in each slot, `with_names` for the names of all jobs.  `at_rest`
    says that time stands still, so that there is time for what takes long to tell.
    """

    columns: int = 80
    log_rows: int = 20
    log_back: int = 0
    log_level: Importance = Importance.HEADLINE
    log_of_selection: bool = False
    log_kind: str = ""
    log_unfolded: tuple[int, ...] = ()
    filter: str = ""
    jobs_top: int = 0
    jobs_rows: int = 20
    jobs_key: JobSortKey = JobSortKey.ID
    jobs_reverse: bool = False
    all_jobs: bool = False
    with_fair_shares: bool = True
    job: JobId | None = None
    node: NodeId | None = None
    slot: int | None = None
    lane_columns: int = 0
    lane_rows: int = 0
    with_run: bool = True
    lead: int = 0
    colour_by: ColourBy = ColourBy.FITTING
    with_cards: bool = False
    with_names: bool = False
    at_rest: bool = False


class RunInfo(msgspec.Struct, frozen=True, array_like=True):
    """What is run; `nodes` as the run began, `policies` those that the scenario names."""

    name: str
    policy: str
    seed: int
    nodes: tuple[NodeFacts, ...]
    policies: tuple[str, ...] = ()


class JobRow(msgspec.Struct, frozen=True, array_like=True):
    """One job in the table.  Tasks are counted as the master does, (maps, reduces) each.

    `waited_ms` is from submission to its first launch, `time_ms` from submission to its end, or to
    now.  `fair_share` is in slots.  `rank` is its place in the policy's queue when a task of it was
    launched last, 0 for never, and `score` the number that put it there.  `expected_ms` is its size
    as a policy can know it; its true size `size_ms` and `slowdown` no scheduler can know.
    `preempted` is how often an attempt of it was preempted, `by` the last job or pool that it was
    preempted for.
    """

    job: JobId
    name: str
    user: str
    pool: str
    state: JobStatus
    tasks: tuple[int, int]
    done: tuple[int, int]
    running: tuple[int, int]
    suspended: int
    waited_ms: Millis
    time_ms: Millis
    fair_share: float | None = None
    rank: int = 0
    score: float = 0.0
    expected_ms: float | None = None
    size_ms: float | None = None
    slowdown: float | None = None
    preempted: int = 0
    by: str = ""
    priority: Priority = Priority.NORMAL

    @property
    def waiting(self) -> int:
        """How many tasks are neither done nor running."""
        return sum(self.tasks) - sum(self.done) - sum(self.running)


class SlotCard(msgspec.Struct, frozen=True, array_like=True):
    """The attempt in a slot: the locality `level` of a map, for how long it has held the slot, and
    how long such attempts usually do, as far as is known.
    """

    job: JobId
    kind: int
    task: int
    level: int | None
    held_ms: Millis
    usual_ms: float | None


class LogLine(msgspec.Struct, frozen=True, array_like=True):
    """One event in the log: its number, its sentence, and what it is about.

    A line may stand for `folded` events, of which it tells as of the first.  If they are unfolded,
    each of them has a line of its own, and `group` is the number of the first.
    """

    index: int
    at_ms: Millis
    text: str
    level: Importance
    mark: Mark
    job: JobId | None
    node: NodeId | None
    folded: int = 1
    group: int | None = None

    @property
    def is_fold(self) -> bool:
        """Whether it stands for more events than one."""
        return self.folded > 1 and self.group is None


class Charts(msgspec.Struct, frozen=True, array_like=True):
    """Figures over the whole run so far, one a column of the time bar; NaN where there are none.
    They are means over the time of a column; `peaks` are the most of the first three at any time.

    Shares of busy map and reduce slots; jobs in the system; the share of maps launched on a node
    that holds their input; slot minutes wasted by attempts that failed or were killed, or whose
    output was lost.  `marks` has the highest `Mark` of each column.
    """

    maps: list[float]
    reduces: list[float]
    jobs: list[float]
    local: list[float]
    wasted: list[float]
    peaks: tuple[float, float, float]
    marks: bytes


class Lane(msgspec.Struct, frozen=True, array_like=True):
    """A row of the detail's timeline: for each column the owner (job + 1, 0 for none), the state (a
    `SlotState` or `WASTED`), and how full it is, from 0 to 1.  `most` is how many attempts a full
    column stands for; 0 where a lane is one slot.
    """

    label: str
    owners: list[int]
    states: bytes
    fill: list[float]
    most: int = 0


class DetailText(msgspec.Struct, frozen=True, array_like=True):
    """The selected job, node or slot: facts as (label, text), its timeline between two moments."""

    title: str
    facts: list[tuple[str, str]]
    lanes: list[Lane]
    from_ms: Millis
    to_ms: Millis


class Totals(msgspec.Struct, frozen=True, array_like=True):
    """The cluster in figures.

    `slots` of each kind and how many of them really are `busy`; jobs `submitted` so far and those
    in the system; nodes that are `down`, those that the master has given up for `lost`, and how
    many of those down it is `unaware` of.  Where several schedulers keep books, `keeper` says so.
    `local` is the share of the maps launched so far whose node holds their input, NaN without any;
    `wasted_ms` the slot time that has come to nothing.
    """

    slots: tuple[int, int]
    busy: tuple[int, int]
    submitted: int
    in_system: int
    down: int
    lost: int
    unaware: int
    master_paused: bool = False
    keeper: str = "master"
    local: float = math.nan
    wasted_ms: Millis = 0


class ResultHeadline(msgspec.Struct, frozen=True, array_like=True):
    """What came of a run that is over, or of two: the `figure` that counts, and sentences about it,
    the most important first.
    """

    figure: str
    sentences: list[str]


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """A run at one moment.

    `index` is how many events have happened; `end_ms` is how far the run is known; `complete` says
    that no more will come, `reason` how it ended (None if it was cut off or failed, which `failure`
    explains).
    `states`, `owners` (job + 1 as 32 bits, 0 for none) and `ages` (see `USUAL_AGE`) have one entry
    a slot, node by node, a node's map slots first.  `node_status`, `lost` and `suspended_by_node`
    have one a node.  `selected` is the row of the selected job, whether the table shows it or not.
    `log_top` says that the log begins with the first line there is.  `policy` is the one in force.
    `reached` says that the run has come to where it was to be played, `refusal` why an intervention
    could not be done.  `comparison` holds the other run, where two are compared.  `hues` has the
    number of each job's colour, from 0 to `HUES` - 1, `slot_hues` that of each slot where it is
    not its job's; `colour_by` is what they stand for, `legend` each of them.
    `queued_by_node` has one a node where not one master schedules: what waits there for a slot.
    `cards` has one for each slot if the view asks for them, `names` one for each job submitted so
    far.  `headline` is there once the run is over, or both are.
    """

    at_ms: Millis
    index: int
    end_ms: Millis
    complete: bool
    reason: str | None
    digest: str
    failure: str
    run: RunInfo | None
    totals: Totals
    states: bytes
    owners: bytes
    ages: bytes
    node_status: bytes
    lost: bytes
    suspended_by_node: bytes
    jobs: list[JobRow]
    jobs_top: int
    jobs_found: int
    selected: JobRow | None
    log: list[LogLine]
    log_top: bool
    charts: Charts
    detail: DetailText | None
    policy: str
    reached: bool = False
    refusal: str = ""
    comparison: "RunComparison | None" = None
    hues: bytes = b""
    colour_by: ColourBy = ColourBy.JOB
    legend: tuple[str, ...] = ()
    slot_hues: bytes = b""
    queued_by_node: bytes = b""
    cards: list[SlotCard | None] = []
    headline: ResultHeadline | None = None
    names: dict[JobId, str] | None = None

    def hues_of_slots(self) -> NDArray[np.int64]:
        """The number of each slot's colour; that of an empty one says nothing."""
        if self.slot_hues:
            return np.frombuffer(self.slot_hues, np.uint8).astype(np.int64)
        owners = np.frombuffer(self.owners, np.int32)
        given = np.array([0, *map(self.hue, range(int(owners.max(initial=0))))], np.int64)
        hues: NDArray[np.int64] = given[owners]
        return hues

    def hue(self, job: JobId) -> int:
        """The number of the job's colour."""
        return self.hues[job] if job < len(self.hues) else job % HUES

    @property
    def over(self) -> bool:
        return self.complete and self.at_ms >= self.end_ms

    @property
    def rows_top(self) -> int:
        """Where the rows begin that the table of jobs shows."""
        return self.jobs_top if self.comparison is None else self.comparison.rows_top

    def scrubbed_to_ms(self, hundredths: int) -> Millis:
        """The moment that many hundredths of the run later, or earlier below 0."""
        return max(self.at_ms + hundredths * max(self.end_ms // 100, 1), 0)


class RunFigures(msgspec.Struct, frozen=True, array_like=True):
    """A run so far in a few figures.

    `done` jobs have succeeded, after `response_ms` on average; `common_ms` is that average over the
    jobs that have succeeded in both runs.  `in_system_ms` is the mean time in the system of all
    jobs submitted so far.  `busy` are the shares of map and of reduce slot time in use, `wasted`
    that of all slot time in attempts that failed or were killed.  `run_ended_ms` is when the run
    ended, and `failure` what made it fail there.
    """

    policy: str
    done: int
    response_ms: float | None
    common_ms: float | None
    in_system_ms: float | None
    busy: tuple[float, float]
    wasted: float
    run_ended_ms: Millis | None
    failure: str = ""


class ComparedJob(msgspec.Struct, frozen=True, array_like=True):
    """A job in both runs; None where it has not been submitted.  `sooner_ms` is how much sooner it
    finished in the second run, None until it has in both.
    """

    job: JobId
    name: str
    sides: tuple[JobRow | None, JobRow | None]
    sooner_ms: Millis | None


class DivergencePoint(msgspec.Struct, frozen=True, array_like=True):
    """Where two runs first differ in what happens: when, and what each does there, in words.

    The same decision for another reason is no difference.
    """

    at_ms: Millis
    lines: tuple[str, str]


class RunComparison(msgspec.Struct, frozen=True, array_like=True):
    """Two runs at the same moment.  Pairs are in the order in which the runs were begun.

    `lead` says which run is in front, `other` is the frame of the other one.
    """

    lead: int
    other: Frame
    figures: tuple[RunFigures, RunFigures]
    rows: list[ComparedJob]
    rows_top: int
    rows_found: int
    divergence: DivergencePoint | None

    def frames(self, front: Frame) -> tuple[Frame, Frame]:
        """Both frames, of the first and of the second run; `front` is the one that holds this."""
        return (self.other, front) if self.lead else (front, self.other)
