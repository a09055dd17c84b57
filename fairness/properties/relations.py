"""Relations between runs: what must not change when something is changed that does not matter."""

import msgspec

from callboard.actors.config import NodeGroup
from callboard.actors.events import AnyEvent, AttemptLaunched, JobFinished, RunEnded, RunStarted
from callboard.fairness.property import (
    Broken,
    Property,
    SaysNothing,
    moment,
    undisturbed,
    unpreempted,
    whole,
)
from callboard.fairness.trial import Run, Trial
from callboard.fairness.worlds import ANY, PLAIN, TROUBLED
from callboard.scenarios.checks import node_count
from callboard.scenarios.joblist import JobEntry, JobsWorkload, specs_of
from callboard.scenarios.spec import Scenario, make_jobs
from callboard.scenarios.timeline import CrashEntry
from callboard.scheduler.model import Millis

Launch = tuple[int, ...]


def launches(run: Run, scale: int = 1) -> list[Launch]:
    """What was launched when and where, with times in a unit of so many ms."""
    return [
        (e.at_ms // scale, e.at_ms % scale, e.job, e.kind, e.task, e.node, e.level)
        for e in whole(run).all(AttemptLaunched)
    ]


def same(one: list[Launch], other: list[Launch], otherwise: str) -> int:
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
    return f"{what} {task} of job-{job} is launched on node-{node} at {moment(at)}"


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
            f"without the jobs that come at {moment(last_ms)} the run is another from"
            f" {moment(at)} on"
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
    return same(
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
    return same(one, launches(trial.play(slow), by), f"with all times × {by} and divided again")


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
    return same(launches(mine), launches(fifo), "under `fifo`")


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


def _more_nodes(trial: Trial) -> int:
    scenario = trial.scenario
    cluster = msgspec.structs.replace(scenario.cluster, nodes=scenario.cluster.nodes + 1)
    before = _ends(trial.run)
    after = _ends(trial.play(msgspec.structs.replace(scenario, cluster=cluster)))
    slack_ms = 2 * (trial.run.period_ms + scenario.cluster.latency_ms)
    late = max(after.values()) - max(before.values())
    if late > slack_ms:
        raise Broken(
            f"all is done at {moment(max(before.values()))}, and with a node more"
            f" {moment(late)} later"
        )
    return 1


def _idle_node(trial: Trial) -> int:
    scenario = trial.scenario
    last = node_count(scenario.cluster)
    cluster = msgspec.structs.replace(
        scenario.cluster,
        replication=last + 1,
        group=(*scenario.cluster.group, NodeGroup(nodes=1, map_slots=0, reduce_slots=0)),
    )
    calm = msgspec.structs.replace(scenario, cluster=cluster)
    crash = CrashEntry(at_s=5.0, nodes=f"node-{last}")
    struck = msgspec.structs.replace(calm, timeline=(crash,))
    return same(
        launches(trial.play(calm)), launches(trial.play(struck)), "if a node without slots crashes"
    )


IDLE_NODE = Property(
    name="idle-node",
    says="a node that runs nothing and can run nothing may crash",
    formula="launches = launches when a node without slots crashes after 5 s",
    assumes="every node has all input; it is not given up for lost meanwhile (10 minutes)",
    bound="exact",
    source="semantics §3.5",
    check=_idle_node,
    worlds=ANY,
    universal=True,
)


def _cut_proof(trial: Trial) -> int:
    scenario, times = trial.scenario, 0
    entries, whole_ends = _entries(scenario), _ends_by_name(trial.run)
    for place, entry in enumerate(entries):
        if entry.maps < 2:
            continue
        parts = msgspec.structs.replace(entry, name="part", maps=1, count=entry.maps)
        cut = _with(scenario, (*entries[:place], parts, *entries[place + 1 :]))
        ends = _ends_by_name(trial.play(cut))
        gained = whole_ends[place] - ends[place]
        times += 1
        if gained > 2 * (trial.run.period_ms + scenario.cluster.latency_ms):
            raise Broken(
                f'"job-{place + 1}" is done at {moment(whole_ends[place])}; cut into'
                f" {entry.maps} jobs of one map each, all are at {moment(ends[place])}"
            )
    return times


def _ends_by_name(run: Run) -> dict[int, Millis]:
    """When each entry of the workload is done, by its place."""
    ends: dict[int, Millis] = {}
    places = {}
    for place, entry in enumerate(_entries(run.scenario)):
        for spec in specs_of(entry, place):
            places[spec.name] = place
    for job, at_ms in _ends(run).items():
        place = places[run.jobs[job].name]
        ends[place] = max(ends.get(place, 0), at_ms)
    return ends


CUT_PROOF = Property(
    name="cut-proof",
    says="nobody is done sooner by cutting a job into jobs of one map each",
    formula="max over the parts of C ≥ C_j",
    assumes="maps alone, equal nodes",
    bound="two beats",
    source="F7, its known failures: sharing by job; size 0 of tiny jobs (HFSP)",
    check=_cut_proof,
    worlds=PLAIN,
    misfit=undisturbed,
)


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
    SCALE,
    LONE_JOB,
    MORE_NODES,
    IDLE_NODE,
    CUT_PROOF,
)
