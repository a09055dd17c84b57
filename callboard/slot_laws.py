"""`callboard ideal --law … --cluster`: the same jobs on one slot of a cluster; what that adds."""

from argparse import Namespace
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from rich.table import Table

from callboard.console import PlainConsole
from callboard.experiments.ideal_study import study as studies
from callboard.experiments.ideal_study.law_plots import discipline_label
from callboard.experiments.ideal_study.law_spelling import parse_law_option
from callboard.experiments.ideal_study.law_systems import LAW_DISCIPLINES, LawSystem, ServedBy
from callboard.experiments.ideal_study.one_slot import (
    SLOT_JOBS,
    SLOT_RUNS,
    TURN,
    SlotLine,
    SlotMeans,
    SlotRun,
    slot_beside_machine,
    slot_line,
    slot_policy,
)
from callboard.experiments.ideal_study.report_tables import write_csv_rows
from callboard.experiments.many.statistics import Interval
from callboard.experiments.many.task_pool import Lost, answers_by_workers, local_workers
from callboard.experiments.user_errors import InputError
from callboard.histories.quantiles import require_scipy
from callboard.ideal_laws import make_folder, table_by_load
from callboard.progress_line import steps_progress

HEARTBEAT_S = 3.0

_NOT_HERE = ("servers", "sigma", "most_runs")


def compare_slot(args: Namespace) -> int:
    """The exit status: 0; raises `InputError`."""
    heartbeat_s = args.heartbeat or HEARTBEAT_S
    cells = _asked_combinations(args, heartbeat_s)
    require_scipy()
    make_folder(args.out)
    jobs, runs = args.jobs or SLOT_JOBS, args.runs or SLOT_RUNS
    tasks = [
        SlotRun(law, load, discipline, heartbeat_s, jobs, args.seed, run)
        for law, load, discipline in cells
        for run in range(runs)
    ]
    found = _play_runs(tasks, args.cores)
    firsts = [task for task in tasks if not task.run]
    lines = [
        slot_line(each, [found[each._replace(run=run)] for run in range(runs)]) for each in firsts
    ]
    out = PlainConsole()
    for law in dict.fromkeys(args.law):
        out.print(_law_table(law, [line for line in lines if line.law == law]))
    out.print(_NOTE.format(runs=runs, jobs=jobs, heartbeat=heartbeat_s, turn=TURN), soft_wrap=True)
    for discipline in dict.fromkeys(line.discipline for line in lines):
        policy = slot_policy(discipline, args.law[0], heartbeat_s)
        out.print(f"{_discipline_label(discipline)}: {policy}", markup=False, soft_wrap=True)
    path = _write_csv(lines, args.out / "slot.csv", heartbeat_s)
    out.print(f"wrote {path}", markup=False, soft_wrap=True)
    return 0


def _asked_combinations(args: Namespace, heartbeat_s: float) -> list[tuple[str, float, str]]:
    """Each law at each load under each discipline; raises `InputError`."""
    for name in _NOT_HERE:
        if getattr(args, name):
            raise InputError(f"--{name.replace('_', '-')} and --cluster: not both")
    disciplines = list(dict.fromkeys(args.disciplines or LAW_DISCIPLINES))
    wrong = next((name for name in disciplines if name not in LAW_DISCIPLINES), None)
    if wrong is not None:
        raise InputError(
            f"--disciplines {wrong}: with --law there are {', '.join(LAW_DISCIPLINES)}"
        )
    loads = list(dict.fromkeys(args.load or [studies.LOAD]))
    for law, load in product(args.law, loads):
        parse_law_option(law)
        if load >= 1:
            raise InputError(f"--load {load:g}: with --law it has to be below 1")
        _check_heartbeats(law, load, heartbeat_s)
    return [
        (law, load, name)
        for law in dict.fromkeys(args.law)
        for load in loads
        for name in disciplines
    ]


def _check_heartbeats(law: str, load: float, heartbeat_s: float) -> None:
    try:
        LawSystem(law, load).single_server.fcfs_by_heartbeats(heartbeat_s)
    except ValueError as error:
        mean = LawSystem(law, load).single_server.moment(1)
        raise InputError(
            f"--law {law}: {error}; its sizes are seconds here, {mean:g} on average"
        ) from None


def _play_runs(tasks: Sequence[SlotRun], cores: int | None) -> dict[SlotRun, SlotMeans]:
    found: dict[SlotRun, SlotMeans] = {}
    with local_workers(cores) as do, steps_progress("runs", len(tasks), left=True) as watch:
        for task, answer in answers_by_workers(do, slot_beside_machine, tasks):
            if isinstance(answer, Lost):
                raise InputError(f"{task.law}: a run could not be played: {answer.why}")
            found[task] = answer
            watch("", 1)
    return found


_NOTE = """\
Seconds; {runs} runs of {jobs:,} jobs each, the same under all; a heartbeat every {heartbeat:g} s.
added: the cluster's mean less the ideal machine's, run by run, with a 95 % interval; beside it what
the formula of a slot by heartbeats says, where there is one.  Where jobs take turns, each goes on
for {turn} heartbeats."""


def _law_table(law: str, lines: Sequence[SlotLine]) -> Table:
    title = f"{law}: mean response on one slot of a cluster"
    heads = ("discipline", "formula", "machine", "cluster", "added", "by formula")
    return table_by_load(title, heads, [(line.load, _row_cells(line)) for line in lines])


def _row_cells(line: SlotLine) -> list[str]:
    added = f"{line.added.mean:+.1f}" + (
        "" if line.added.half is None else f" ± {line.added.half:.1f}"
    )
    known = "" if line.by_heartbeats is None else f"{line.by_heartbeats - line.exact:+.1f}"
    means = [f"{mean:.1f}" for mean in (line.exact, line.machine.mean, line.cluster.mean)]
    return [_discipline_label(line.discipline), *means, added, known]


def _discipline_label(discipline: str) -> str:
    return discipline_label(ServedBy(discipline))


def _write_csv(lines: Sequence[SlotLine], path: Path, heartbeat_s: float) -> Path:
    rows = []
    for line in lines:
        policy = slot_policy(line.discipline, line.law, heartbeat_s)
        where = (line.law, line.load, line.discipline, policy, heartbeat_s)
        means = (line.exact, line.by_heartbeats, line.machine.mean, line.cluster.mean)
        rows.append((*where, *means, *_interval_values(line.added)))
    write_csv_rows(path, _COLUMNS, rows)
    return path


def _interval_values(added: Interval) -> tuple[float, float | None, int]:
    return added.mean, added.half, added.runs


_COLUMNS = (
    *("law", "load", "discipline", "policy", "heartbeat_s"),
    *("exact", "by_heartbeats", "machine", "cluster", "added", "half", "runs"),
)
