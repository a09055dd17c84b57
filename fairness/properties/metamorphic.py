"""Relations between runs: what must not change when something is changed that does not matter."""

import msgspec

from callboard.actors.config import NodeGroup
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary import events as ev
from callboard.fairness.applicability import why_order_overruled, why_preempts_or_speculates
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.figures import as_seconds, job_ends_ms, require_completed
from callboard.fairness.property import NotApplicable, PropertyViolated, Statement
from callboard.fairness.scenario_family import HOMOGENEOUS, WITH_FAULTS
from callboard.fairness.variants import (
    entries_of,
    repeat_changes,
    with_cluster,
    with_entries,
    with_entry,
)
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import Scenario, make_jobs
from callboard.scenarios.timeline import CrashEntry
from callboard.scheduler.model import Millis

LaunchRecord = tuple[int, ...]


def check_same_launches(
    one: ObservedRun, other: ObservedRun, otherwise: str, scale: int = 1
) -> int:
    """Raise PropertyViolated at the first launch that differs, the other's times over `scale`."""
    mine, its = _launch_records(one), _launch_records(other, scale)
    for a, b in zip(mine, its, strict=False):
        if a != b:
            raise PropertyViolated(f"{_launch_text(a)}; {otherwise}, {_launch_text(b)}")
    if len(mine) != len(its):
        raise PropertyViolated(f"{len(mine)} launches; {otherwise}, {len(its)}")
    return len(mine)


def _launch_records(run: ObservedRun, scale: int = 1) -> list[LaunchRecord]:
    """What was launched when and where, with times in a unit of `scale` ms."""
    return [
        (e.at_ms // scale, e.at_ms % scale, e.job, e.kind, e.task, e.node, e.level)
        for e in require_completed(run).events_of_type(ev.AttemptLaunched)
    ]


def _launch_text(launch: LaunchRecord) -> str:
    at, _, job, kind, task, node, _ = launch
    what = ("map", "reduce")[kind]
    return f"{what} {task} of job-{job} is launched on node-{node} at {as_seconds(at)}"


@Statement(
    says="what is submitted later changes nothing earlier",
    formula="events before t are those of the run without the jobs that come at t",
    assumes="nothing; sizes from an oracle are drawn job by job",
    source="M1",
    family=WITH_FAULTS,
    universal=True,
    architectures=None,
)
def causality(experiment: Experiment) -> int:
    jobs = make_jobs(experiment.scenario)
    last_ms = jobs[-1].submit_ms
    earlier = [job for job in jobs if job.submit_ms < last_ms]
    if not earlier:
        raise NotApplicable("all jobs come at once")
    run, without = (
        require_completed(experiment.run),
        require_completed(experiment.play(jobs=earlier)),
    )
    # Without them the run may be over sooner, and nothing happens to a world that is over.
    last_ms = min(last_ms, without.end_event.at_ms)
    one, other = _events_before(run, last_ms), _events_before(without, last_ms)
    if msgspec.msgpack.encode(one) != msgspec.msgpack.encode(other):
        pairs = zip(one, other, strict=False)
        at = next((a.at_ms for a, b in pairs if a != b), last_ms)
        raise PropertyViolated(
            f"without the jobs that come at {as_seconds(last_ms)} the run is another from"
            f" {as_seconds(at)} on"
        )
    return len(one)


def _events_before(run: ObservedRun, end_ms: Millis) -> list[ev.AnyEvent]:
    events = [e for e in run.events if not isinstance(e, ev.RunStarted | ev.RunEnded)]
    return [event for event in events if event.at_ms < end_ms]


@Statement(
    says="names of jobs and users, and the order of the file, change nothing",
    formula="launches = launches of the renamed scenario",
    assumes="users keep their alphabetical order, and their names where the policy's parameters use"
    " them; the file's order decides among jobs of one time",
    source="M2",
    universal=True,
    architectures=None,
)
def rename(experiment: Experiment) -> int:
    entries = entries_of(experiment.scenario)
    named = _pools_and_users_with_parameters(experiment) & {entry.user for entry in entries}
    before = "" if named else "z"
    renamed = tuple(
        msgspec.structs.replace(entry, name=f"renamed-{place}", user=f"{before}{entry.user}")
        for place, entry in enumerate(entries)
    )
    came = {(place, spec.submit_ms) for place, spec in _jobs_with_entry_places(experiment.scenario)}
    if len({submit_ms for _, submit_ms in came}) == len(came):
        renamed = renamed[::-1]  # the file's order breaks ties only
    other = experiment.play(with_entries(experiment.scenario, renamed))
    return check_same_launches(experiment.run, other, "with other names for jobs and users")


def _pools_and_users_with_parameters(experiment: Experiment) -> set[str]:
    if experiment.stands_alone:
        params = getattr(experiment.fresh_architecture(), "params", None)
    else:
        params = getattr(experiment.fresh_policy().order, "params", None)
    values = msgspec.structs.asdict(params).values() if params is not None else ()
    return {name for value in values if isinstance(value, dict) for name in value}


@Statement(
    says="the unit of time does not matter",
    formula="launches at c·t when all times are c-fold",
    assumes="no noise, maps alone; a policy without times of its own",
    source="M3",
    family=HOMOGENEOUS,
    misfit=why_order_overruled,
)
def scale(experiment: Experiment) -> int:
    scenario, by = experiment.scenario, 3
    cluster, heartbeat = scenario.cluster, scenario.cluster.heartbeat
    slower = msgspec.structs.replace(
        heartbeat,
        interval_ms=by * cluster.period_ms(),
        phase_grid_ms=by * heartbeat.phase_grid_ms,
        phases_ms=tuple(ms if ms < 0 else by * ms for ms in heartbeat.phases_ms),
        thinking_ms=by * heartbeat.thinking_ms,
        expiry_ms=by * heartbeat.expiry_ms,
    )
    entries = tuple(
        msgspec.structs.replace(
            entry, at_s=by * entry.at_s, map_s=by * entry.map_s, every_s=by * entry.every_s
        )
        for entry in entries_of(scenario)
    )
    slow = with_cluster(scenario, latency_ms=by * cluster.latency_ms, heartbeat=slower)
    other = experiment.play(with_entries(slow, entries))
    otherwise = f"with all times × {by} and divided again"
    return check_same_launches(experiment.run, other, otherwise, scale=by)


@Statement(
    says="a job that is alone is served as under FIFO",
    formula="launches = launches under `fifo`",
    assumes="one job of maps, one node; orders differ in how much they give to a node at once",
    source="M4",
    family=msgspec.structs.replace(HOMOGENEOUS, jobs=1, nodes=1),
    misfit=why_order_overruled,
)
def lone_job(experiment: Experiment) -> int:
    scenario = experiment.scenario
    if scenario.cluster.node_count() > 1:
        raise NotApplicable("orders differ in how many tasks they give to a node at once")
    first = msgspec.structs.replace(entries_of(scenario)[0], **repeat_changes(1))
    alone = with_entries(scenario, (first,))
    fifo = experiment.play(alone, experiment.fresh_policy("fifo"))
    return check_same_launches(experiment.play(alone), fifo, "under `fifo`")


@Statement(
    says="with a node more all is done no later",
    formula="C_max(n + 1 nodes) ≤ C_max(n)",
    assumes="no policy guarantees it: Graham's anomalies",
    bound="two heartbeats, whose phases change with the cluster",
    source="F9's limit; Graham 1969",
    family=msgspec.structs.replace(HOMOGENEOUS, reduces=True),
    misfit=why_preempts_or_speculates,
    architectures=None,
)
def more_nodes(experiment: Experiment) -> int:
    scenario = experiment.scenario
    larger = with_cluster(scenario, nodes=scenario.cluster.nodes + 1)
    before, after = (
        max(job_ends_ms(run).values()) for run in (experiment.run, experiment.play(larger))
    )
    if after - before > 2 * experiment.run.launch_gap_ms:
        raise PropertyViolated(
            f"all is done at {as_seconds(before)}, and with a node more"
            f" {as_seconds(after - before)} later"
        )
    return 1


@Statement(
    says="a node that runs nothing and can run nothing may crash",
    formula="launches = launches when a node without slots crashes after 5 s",
    assumes="every node has all input; it is not given up for lost meanwhile (10 minutes)",
    source="M5",
    universal=True,
    architectures=None,
)
def idle_node(experiment: Experiment) -> int:
    cluster = experiment.scenario.cluster
    last = cluster.node_count()
    group = (*cluster.group, NodeGroup(nodes=1, map_slots=0, reduce_slots=0))
    calm = with_cluster(experiment.scenario, replication=last + 1, group=group)
    crash = CrashEntry(at_s=5.0, nodes=f"node-{last}")
    crashing = msgspec.structs.replace(calm, timeline=(crash,))
    otherwise = "if a node without slots crashes"
    return check_same_launches(experiment.play(calm), experiment.play(crashing), otherwise)


@Statement(
    says="no user is done sooner by cutting a job into jobs of one map each",
    formula="max over the parts of C ≥ C_j",
    assumes="maps alone, equal nodes",
    bound="two heartbeats",
    source="F7, its known failures: sharing by job; size 0 of tiny jobs (HFSP)",
    family=HOMOGENEOUS,
    misfit=why_order_overruled,
    architectures=None,
)
def cut_proof(experiment: Experiment) -> int:
    scenario, times = experiment.scenario, 0
    whole_ends = _job_ends_by_place(experiment.run)
    for place, entry in enumerate(entries_of(scenario)):
        if entry.maps < 2 or entry.count > 1:
            continue  # equal jobs, of which each would have to be cut by itself
        times += 1
        parts = msgspec.structs.replace(entry, name="part", maps=1, count=entry.maps)
        whole_ms = whole_ends[place]
        cut_run = experiment.play(with_entry(scenario, place, parts))
        cut_ms = _job_ends_by_place(cut_run)[place]
        if whole_ms - cut_ms > 2 * experiment.run.launch_gap_ms:
            raise PropertyViolated(
                f'"{_name_of_job_at(scenario, place)}" is done at {as_seconds(whole_ms)}; cut'
                f" into {entry.maps} jobs of one map each, all are at {as_seconds(cut_ms)}"
            )
    return times


def _name_of_job_at(scenario: Scenario, place: int) -> str:
    """The name of an entry's only job."""
    return next(spec.name for of, spec in _jobs_with_entry_places(scenario) if of == place)


def _jobs_with_entry_places(scenario: Scenario) -> list[tuple[int, JobSpec]]:
    workload = scenario.workload
    assert isinstance(workload, ListedWorkload), workload
    return workload.placed_jobs()


def _job_ends_by_place(run: ObservedRun) -> dict[int, Millis]:
    ends: dict[int, Millis] = {}
    ended_ms = job_ends_ms(run)
    for place, spec in _jobs_with_entry_places(run.scenario):
        if spec.job in ended_ms:
            ends[place] = max(ends.get(place, 0), ended_ms[spec.job])
    return ends
