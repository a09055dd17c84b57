"""Relations between runs: what must not change when something is changed that does not matter."""

import msgspec

from callboard.actors.config import NodeGroup
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptLaunched,
    JobFinished,
    RunEnded,
    RunStarted,
)
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.property import (
    NotApplicable,
    Property,
    PropertyViolated,
    as_seconds,
    completed,
    undisturbed,
    unpreempted,
)
from callboard.fairness.scenario_family import HOMOGENEOUS, WITH_FAULTS, WITHOUT_FAULTS
from callboard.scenarios.listed_jobs import ListedJob, ListedWorkload, placed_jobs
from callboard.scenarios.scenario_file import Scenario, make_jobs
from callboard.scenarios.timeline import CrashEntry
from callboard.scenarios.validation import node_count
from callboard.scheduler.model import Millis

LaunchRecord = tuple[int, ...]


def launches(run: ObservedRun, scale: int = 1) -> list[LaunchRecord]:
    """What was launched when and where, with times in a unit of so many ms."""
    return [
        (e.at_ms // scale, e.at_ms % scale, e.job, e.kind, e.task, e.node, e.level)
        for e in completed(run).all(AttemptLaunched)
    ]


def same_launches(one: list[LaunchRecord], other: list[LaunchRecord], otherwise: str) -> int:
    """Raise Broken at the first launch that differs."""
    for mine, its in zip(one, other, strict=False):
        if mine != its:
            raise PropertyViolated(f"{_launch_text(mine)}; {otherwise}, {_launch_text(its)}")
    if len(one) != len(other):
        raise PropertyViolated(f"{len(one)} launches; {otherwise}, {len(other)}")
    return len(one)


def _launch_text(launch: LaunchRecord) -> str:
    at, _, job, kind, task, node, _ = launch
    what = ("map", "reduce")[kind]
    return f"{what} {task} of job-{job} is launched on node-{node} at {as_seconds(at)}"


def _entries(scenario: Scenario) -> tuple[ListedJob, ...]:
    assert isinstance(scenario.workload, ListedWorkload)
    return scenario.workload.job


def _with(scenario: Scenario, entries: tuple[ListedJob, ...]) -> Scenario:
    workload = msgspec.structs.replace(scenario.workload, job=entries)
    return msgspec.structs.replace(scenario, workload=workload)


def _causality(experiment: Experiment) -> int:
    jobs = make_jobs(experiment.scenario)
    last_ms = jobs[-1].submit_ms
    earlier = [job for job in jobs if job.submit_ms < last_ms]
    if not earlier:
        raise NotApplicable("all jobs come at once")
    run, without = completed(experiment.run), completed(experiment.play(jobs=earlier))
    # Without them the run may be over sooner, and nothing happens to a world that is over.
    last_ms = min(last_ms, without.ended.at_ms)
    one, other = _until(run, last_ms), _until(without, last_ms)
    if msgspec.msgpack.encode(one) != msgspec.msgpack.encode(other):
        pairs = zip(one, other, strict=False)
        at = next((a.at_ms for a, b in pairs if a != b), last_ms)
        raise PropertyViolated(
            f"without the jobs that come at {as_seconds(last_ms)} the run is another from"
            f" {as_seconds(at)} on"
        )
    return len(one)


def _until(run: ObservedRun, end_ms: Millis) -> list[AnyEvent]:
    events = [e for e in run.events if not isinstance(e, RunStarted | RunEnded)]
    return [event for event in events if event.at_ms < end_ms]


CAUSALITY = Property(
    name="causality",
    says="what is submitted later changes nothing earlier",
    formula="events before t are those of the run without the jobs that come at t",
    assumes="nothing; sizes from an oracle are drawn job by job",
    bound="exact",
    source="M1",
    check=_causality,
    family=WITH_FAULTS,
    universal=True,
)


def _rename(experiment: Experiment) -> int:
    entries = _entries(experiment.scenario)
    renamed = tuple(
        msgspec.structs.replace(entry, name=f"renamed-{place}", user=f"z{entry.user}")
        for place, entry in enumerate(entries)
    )
    if len({entry.at_s for entry in entries}) == len(entries):
        renamed = renamed[::-1]  # the file's order breaks ties only
    return same_launches(
        launches(experiment.run),
        launches(experiment.play(_with(experiment.scenario, renamed))),
        "with other names for jobs and users",
    )


RENAME = Property(
    name="rename",
    says="names of jobs and users, and the order of the file, change nothing",
    formula="launches = launches of the renamed scenario",
    assumes="users keep their alphabetical order; the file's order decides among jobs of one time",
    bound="exact",
    source="M2",
    check=_rename,
    family=WITHOUT_FAULTS,
    universal=True,
)


def _scale(experiment: Experiment) -> int:
    scenario, by = experiment.scenario, 3
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
    one = launches(experiment.run)
    return same_launches(
        one, launches(experiment.play(slow), by), f"with all times × {by} and divided again"
    )


SCALE = Property(
    name="scale",
    says="the unit of time does not matter",
    formula="launches at c·t when all times are c-fold",
    assumes="no noise, maps alone; a policy without times of its own",
    bound="exact",
    source="M3",
    check=_scale,
    family=HOMOGENEOUS,
    misfit=undisturbed,
)


def _lone(experiment: Experiment) -> int:
    scenario = experiment.scenario
    if node_count(scenario.cluster) > 1:
        raise NotApplicable("orders differ in how many tasks they give to a node at once")
    alone = _with(scenario, _entries(scenario)[:1])
    mine = experiment.play(alone)
    fifo = experiment.play(alone, experiment.fresh_policy("fifo"))
    return same_launches(launches(mine), launches(fifo), "under `fifo`")


LONE_JOB = Property(
    name="lone-job",
    says="a job that is alone is served as under FIFO",
    formula="launches = launches under `fifo`",
    assumes="one job of maps, one node; orders differ in how much they give to a node at once",
    bound="exact",
    source="M4",
    check=_lone,
    family=msgspec.structs.replace(HOMOGENEOUS, jobs=1, nodes=1),
    misfit=undisturbed,
)


def _more_nodes(experiment: Experiment) -> int:
    scenario = experiment.scenario
    cluster = msgspec.structs.replace(scenario.cluster, nodes=scenario.cluster.nodes + 1)
    before = _ends(experiment.run)
    after = _ends(experiment.play(msgspec.structs.replace(scenario, cluster=cluster)))
    slack_ms = 2 * (experiment.run.period_ms + scenario.cluster.latency_ms)
    late = max(after.values()) - max(before.values())
    if late > slack_ms:
        raise PropertyViolated(
            f"all is done at {as_seconds(max(before.values()))}, and with a node more"
            f" {as_seconds(late)} later"
        )
    return 1


def _idle_node(experiment: Experiment) -> int:
    scenario = experiment.scenario
    last = node_count(scenario.cluster)
    cluster = msgspec.structs.replace(
        scenario.cluster,
        replication=last + 1,
        group=(*scenario.cluster.group, NodeGroup(nodes=1, map_slots=0, reduce_slots=0)),
    )
    calm = msgspec.structs.replace(scenario, cluster=cluster)
    crash = CrashEntry(at_s=5.0, nodes=f"node-{last}")
    struck = msgspec.structs.replace(calm, timeline=(crash,))
    return same_launches(
        launches(experiment.play(calm)),
        launches(experiment.play(struck)),
        "if a node without slots crashes",
    )


IDLE_NODE = Property(
    name="idle-node",
    says="a node that runs nothing and can run nothing may crash",
    formula="launches = launches when a node without slots crashes after 5 s",
    assumes="every node has all input; it is not given up for lost meanwhile (10 minutes)",
    bound="exact",
    source="M5",
    check=_idle_node,
    family=WITHOUT_FAULTS,
    universal=True,
)


def _cut_proof(experiment: Experiment) -> int:
    scenario, times = experiment.scenario, 0
    entries, whole_ends = _entries(scenario), _ends_by_entry(experiment.run)
    for place, entry in enumerate(entries):
        if entry.maps < 2:
            continue
        parts = msgspec.structs.replace(entry, name="part", maps=1, count=entry.maps)
        cut = _with(scenario, (*entries[:place], parts, *entries[place + 1 :]))
        ends = _ends_by_entry(experiment.play(cut))
        gained = whole_ends[place] - ends[place]
        times += 1
        if gained > 2 * (experiment.run.period_ms + scenario.cluster.latency_ms):
            raise PropertyViolated(
                f"{_jobs_of(scenario, place)} is done at {as_seconds(whole_ends[place])}; cut into"
                f" {entry.maps} jobs of one map each, all are at {as_seconds(ends[place])}"
            )
    return times


def _placed(scenario: Scenario) -> list[tuple[int, JobSpec]]:
    """The jobs, each with its entry's place."""
    workload = scenario.workload
    assert isinstance(workload, ListedWorkload), workload
    return placed_jobs(workload)


def _jobs_of(scenario: Scenario, place: int) -> str:
    """The jobs of an entry, quoted."""
    return " and ".join(f'"{spec.name}"' for of, spec in _placed(scenario) if of == place)


def _ends_by_entry(run: ObservedRun) -> dict[int, Millis]:
    """When each entry of the workload is done, by its place."""
    ends: dict[int, Millis] = {}
    at_ms = _ends(run)
    for place, spec in _placed(run.scenario):
        if spec.job in at_ms:
            ends[place] = max(ends.get(place, 0), at_ms[spec.job])
    return ends


CUT_PROOF = Property(
    name="cut-proof",
    says="nobody is done sooner by cutting a job into jobs of one map each",
    formula="max over the parts of C ≥ C_j",
    assumes="maps alone, equal nodes",
    bound="two beats",
    source="F7, its known failures: sharing by job; size 0 of tiny jobs (HFSP)",
    check=_cut_proof,
    family=HOMOGENEOUS,
    misfit=undisturbed,
)


def _ends(run: ObservedRun) -> dict[int, Millis]:
    return {event.job: event.at_ms for event in completed(run).all(JobFinished)}


MORE_NODES = Property(
    name="more-nodes",
    says="with a node more all is done no later",
    formula="C_max(n + 1 nodes) ≤ C_max(n)",
    assumes="nobody claims it: Graham's anomalies",
    bound="two beats, whose phases change with the cluster",
    source="F9's limit; Graham 1969",
    check=_more_nodes,
    family=msgspec.structs.replace(HOMOGENEOUS, reduces=True),
    misfit=unpreempted,
)


METAMORPHIC_PROPERTIES = (
    CAUSALITY,
    RENAME,
    SCALE,
    LONE_JOB,
    MORE_NODES,
    IDLE_NODE,
    CUT_PROOF,
)
