"""Relations between runs: what must not change when something is changed that does not matter."""

import msgspec

from actors.events import AnyEvent, AttemptLaunched, JobFinished, RunEnded, RunStarted
from fairness.property import Broken, Property, SaysNothing, undisturbed, unpreempted, whole
from fairness.trial import Run, Trial
from fairness.worlds import ANY, PLAIN, TROUBLED
from scenarios.checks import node_count
from scenarios.joblist import JobEntry, JobsWorkload
from scenarios.spec import Scenario, make_jobs
from scheduler.claims import Claims
from scheduler.locality import Delay, DelayParams
from scheduler.model import Millis
from scheduler.orders.fair import Fair
from scheduler.orders.pools import PoolParams
from scheduler.orders.virtual import FspPs, Psbs
from scheduler.policy import Anywhere, Policy, Wait
from scheduler.preemption.kill import Kill

Launch = tuple[int, ...]

NOBODY = "nobody-here"
"""A pool that no job names."""


def launches(run: Run, scale: int = 1) -> list[Launch]:
    """What was launched when and where, with times in a unit of so many ms."""
    return [
        (e.at_ms // scale, e.at_ms % scale, e.job, e.kind, e.task, e.node, e.level)
        for e in whole(run).all(AttemptLaunched)
    ]


def _same(one: list[Launch], other: list[Launch], otherwise: str) -> int:
    """Raise Broken at the first launch that differs."""
    for mine, its in zip(one, other, strict=False):
        if mine != its:
            raise Broken(f"{_told(mine)}; {otherwise}, {_told(its)}")
    if len(one) != len(other):
        raise Broken(f"{len(one)} launches; {otherwise}, {len(other)}")
    return len(one)


def _told(launch: Launch) -> str:
    at, _, job, kind, task, node, _ = launch
    what = ("map", "reduce")[kind]
    return f"{what} {task} of job-{job} is launched on node-{node} at {at / 1000:,.3f} s"


def _entries(scenario: Scenario) -> tuple[JobEntry, ...]:
    assert isinstance(scenario.workload, JobsWorkload)
    return scenario.workload.job


def _with(scenario: Scenario, entries: tuple[JobEntry, ...]) -> Scenario:
    workload = msgspec.structs.replace(scenario.workload, job=entries)
    return msgspec.structs.replace(scenario, workload=workload)


def _causality(trial: Trial) -> int:
    jobs = make_jobs(trial.scenario)
    last_ms = jobs[-1].submit_ms
    earlier = [job for job in jobs if job.submit_ms < last_ms]
    if not earlier:
        raise SaysNothing("all jobs come at once")
    run, without = whole(trial.run), whole(trial.play(jobs=earlier))
    # Without them the run may be over sooner, and nothing happens to a world that is over.
    last_ms = min(last_ms, without.ended.at_ms)
    one, other = _until(run, last_ms), _until(without, last_ms)
    if msgspec.msgpack.encode(one) != msgspec.msgpack.encode(other):
        pairs = zip(one, other, strict=False)
        at = next((a.at_ms for a, b in pairs if a != b), last_ms)
        raise Broken(
            f"without the jobs that come at {last_ms / 1000:,.3f} s the run is another from"
            f" {at / 1000:,.3f} s on"
        )
    return len(one)


def _until(run: Run, end_ms: Millis) -> list[AnyEvent]:
    events = [e for e in run.events if not isinstance(e, RunStarted | RunEnded)]
    return [event for event in events if event.at_ms < end_ms]


CAUSALITY = Property(
    name="causality",
    says="what is submitted later changes nothing earlier",
    formula="events before t are those of the run without the jobs that come at t",
    assumes="nothing; sizes from an oracle are drawn job by job",
    bound="exact",
    source="semantics §3.5",
    check=_causality,
    worlds=TROUBLED,
    universal=True,
)


def _rename(trial: Trial) -> int:
    entries = _entries(trial.scenario)
    renamed = tuple(
        msgspec.structs.replace(entry, name=f"renamed-{place}", user=f"z{entry.user}")
        for place, entry in enumerate(entries)
    )
    if len({entry.at_s for entry in entries}) == len(entries):
        renamed = renamed[::-1]  # the file's order breaks ties only
    return _same(
        launches(trial.run),
        launches(trial.play(_with(trial.scenario, renamed))),
        "with other names for jobs and users",
    )


RENAME = Property(
    name="rename",
    says="names of jobs and users, and the order of the file, change nothing",
    formula="launches = launches of the renamed scenario",
    assumes="users keep their alphabetical order; the file's order decides among jobs of one time",
    bound="exact",
    source="semantics §3.5",
    check=_rename,
    worlds=ANY,
    universal=True,
)


def _scale(trial: Trial) -> int:
    scenario, by = trial.scenario, 3
    cluster, beats = scenario.cluster, scenario.cluster.heartbeat
    slower = msgspec.structs.replace(
        beats,
        interval_ms=by * beats.period_ms(node_count(cluster)),
        phase_grid_ms=by * beats.phase_grid_ms,
        expiry_ms=by * beats.expiry_ms,
    )
    entries = tuple(
        msgspec.structs.replace(
            entry, at_s=by * entry.at_s, map_s=by * entry.map_s, every_s=by * entry.every_s
        )
        for entry in _entries(scenario)
    )
    cluster = msgspec.structs.replace(cluster, latency_ms=by * cluster.latency_ms, heartbeat=slower)
    slow = msgspec.structs.replace(_with(scenario, entries), cluster=cluster)
    one = launches(trial.run)
    return _same(one, launches(trial.play(slow), by), f"with all times × {by} and divided again")


SCALE = Property(
    name="scale",
    says="the unit of time does not matter",
    formula="launches at c·t when all times are c-fold",
    assumes="no noise, maps alone; a policy without times of its own",
    bound="exact",
    source="semantics §3.5",
    check=_scale,
    worlds=PLAIN,
    misfit=undisturbed,
)


def _lone(trial: Trial) -> int:
    scenario = trial.scenario
    if node_count(scenario.cluster) > 1:
        raise SaysNothing("orders differ in how many tasks they give to a node at once")
    alone = _with(scenario, _entries(scenario)[:1])
    mine = trial.play(alone)
    fifo = trial.play(alone, trial.make("fifo"))
    return _same(launches(mine), launches(fifo), "under `fifo`")


LONE_JOB = Property(
    name="lone-job",
    says="a job that is alone is served as under FIFO",
    formula="launches = launches under `fifo`",
    assumes="one job of maps, one node; orders differ in how much they give to a node at once",
    bound="exact",
    source="semantics §3.5",
    check=_lone,
    worlds=msgspec.structs.replace(PLAIN, jobs=1, nodes=1),
    misfit=undisturbed,
)


def _no_delay(trial: Trial) -> int:
    def play(waits: bool) -> Run:
        parts = trial.make()
        rule = Delay(DelayParams(node=0.0, rack=0.0)) if waits else Anywhere()
        return trial.play(policy=Policy(parts.order, rule, parts.preemption, parts.speculation))

    return _same(launches(play(False)), launches(play(True)), "with `delay(node=0,rack=0)`")


NO_DELAY = Property(
    name="no-delay",
    says="delay scheduling with no wait is none",
    formula="launches = launches with `delay(node=0,rack=0)`",
    assumes="nothing",
    bound="exact",
    source="semantics §3.5",
    check=_no_delay,
    worlds=ANY,
    universal=True,
)


def _no_timeout(trial: Trial) -> int:
    def play(watches: bool) -> Run:
        parts = trial.make()
        never = Kill.Params(min_share_timeout_s=float("inf"), fair_share_timeout_s=float("inf"))
        rule = Kill(never) if watches else Wait()
        return trial.play(policy=Policy(parts.order, parts.locality, rule, parts.speculation))

    return _same(launches(play(False)), launches(play(True)), "with timeouts that never end")


def _claimless(policy: Policy) -> str | None:
    if isinstance(policy.order, Claims):
        return None
    return f"`{policy.order.name}` does not say what anybody is due, so nobody can be preempted"


NO_TIMEOUT = Property(
    name="no-timeout",
    says="preemption with infinite timeouts is none",
    formula="launches = launches with `kill` whose timeouts are inf",
    assumes="nothing",
    bound="exact",
    source="semantics §3.5",
    check=_no_timeout,
    worlds=ANY,
    misfit=_claimless,
    universal=True,
)


def _empty_pool(trial: Trial) -> int:
    order = trial.make().order
    assert isinstance(order, Fair)
    params = order.params
    by = params.pool_by or ("pool" if params.pools else "none")
    if by == "none":
        by = "pool"

    def play(pools: dict[str, PoolParams]) -> Run:
        fair = Fair(msgspec.structs.replace(params, pool_by=by, pools=pools))
        parts = trial.make()
        return trial.play(policy=Policy(fair, parts.locality, speculation=parts.speculation))

    more = {**params.pools, NOBODY: PoolParams(weight=3.0, min_maps=2, min_reduces=1)}
    return _same(launches(play(params.pools)), launches(play(more)), "with a pool nobody is in")


def _pool_less(policy: Policy) -> str | None:
    return None if isinstance(policy.order, Fair) else "there are no pools"


EMPTY_POOL = Property(
    name="empty-pool",
    says="a pool without demand changes nothing",
    formula="launches = launches with one more pool, of weight 3 and with min shares",
    assumes="an order with pools",
    bound="exact",
    source="semantics §3.5",
    check=_empty_pool,
    worlds=msgspec.structs.replace(ANY, pools=("a", "b")),
    misfit=_pool_less,
    universal=True,
)


def _psbs_is_fsp(trial: Trial) -> int:
    parts = trial.make()
    assert isinstance(parts.order, Psbs)
    other = Policy(FspPs(parts.order.params), parts.locality)
    return _same(
        launches(trial.play(policy=Policy(parts.order, trial.make().locality))),
        launches(trial.play(policy=other)),
        "under `fsp+ps`",
    )


def _no_psbs(policy: Policy) -> str | None:
    return None if isinstance(policy.order, Psbs) else "it is not PSBS"


PSBS_IS_FSP = Property(
    name="psbs-is-fsp",
    says="PSBS with equal weights is FSP+PS",
    formula="launches = launches under `fsp+ps`",
    assumes="all jobs of normal priority",
    bound="exact",
    source="semantics §3.5",
    check=_psbs_is_fsp,
    worlds=msgspec.structs.replace(ANY, priorities=False),
    misfit=_no_psbs,
    universal=True,
)


def _more_nodes(trial: Trial) -> int:
    scenario = trial.scenario
    cluster = msgspec.structs.replace(scenario.cluster, nodes=scenario.cluster.nodes + 1)
    before = _ends(trial.run)
    after = _ends(trial.play(msgspec.structs.replace(scenario, cluster=cluster)))
    slack_ms = 2 * (trial.run.period_ms + scenario.cluster.latency_ms)
    late = max(after.values()) - max(before.values())
    if late > slack_ms:
        raise Broken(
            f"all is done at {max(before.values()) / 1000:,.3f} s, and with a node more"
            f" {late / 1000:,.3f} s later"
        )
    return 1


def _ends(run: Run) -> dict[int, Millis]:
    return {event.job: event.at_ms for event in whole(run).all(JobFinished)}


MORE_NODES = Property(
    name="more-nodes",
    says="with a node more all is done no later",
    formula="C_max(n + 1 nodes) ≤ C_max(n)",
    assumes="nobody claims it: Graham's anomalies",
    bound="two beats, whose phases change with the cluster",
    source="F9's limit; Graham 1969",
    check=_more_nodes,
    worlds=msgspec.structs.replace(PLAIN, reduces=True),
    misfit=unpreempted,
)


PROPERTIES = (
    CAUSALITY,
    RENAME,
    NO_DELAY,
    NO_TIMEOUT,
    EMPTY_POOL,
    PSBS_IS_FSP,
    SCALE,
    LONE_JOB,
    MORE_NODES,
)
