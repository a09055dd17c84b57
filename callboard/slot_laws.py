"""`callboard ideal --law … --cluster`: the same jobs on one slot of a cluster; what that adds."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from callboard.console import PlainConsole
from callboard.experiments.ideal_study.law_plots import discipline_label
from callboard.experiments.ideal_study.law_systems import LAW_DISCIPLINES, LawSystem, ServedBy
from callboard.experiments.ideal_study.one_slot import (
    SLOT_JOBS,
    SLOT_RUNS,
    TURN,
    SlotLine,
    SlotRun,
    slot_beside_machine,
    slot_line,
    slot_policy,
)
from callboard.experiments.ideal_study.report_tables import write_csv_rows
from callboard.experiments.many.task_pool import local_workers
from callboard.experiments.user_errors import InputError
from callboard.histories.quantiles import require_scipy
from callboard.ideal_laws import (
    asked_laws_and_loads,
    check_disciplines,
    make_folder,
    play_by_workers,
    table_by_load,
)

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
    pool = local_workers(args.cores)
    found = play_by_workers(pool, slot_beside_machine, tasks, lambda task: task.law)
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
    disciplines = dict.fromkeys(args.disciplines or LAW_DISCIPLINES)
    check_disciplines(disciplines, LAW_DISCIPLINES)
    asked = asked_laws_and_loads(args)
    for law, load in asked:
        _check_heartbeats(law, load, heartbeat_s)
    return [(law, load, name) for law, load in asked for name in disciplines]


def _check_heartbeats(law: str, load: float, heartbeat_s: float) -> None:
    try:
        LawSystem(law, load).single_server.fcfs_by_heartbeats(heartbeat_s)
    except ValueError as error:
        mean = LawSystem(law, load).single_server.moment(1)
        raise InputError(
            f"--law {law}: {error}; its sizes are seconds here, {mean:g} on average"
        ) from None


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
        rows.append((*where, *means, line.added.mean, line.added.half, line.added.runs))
    write_csv_rows(path, _COLUMNS, rows)
    return path


_COLUMNS = (
    *("law", "load", "discipline", "policy", "heartbeat_s"),
    *("exact", "by_heartbeats", "machine", "cluster", "added", "half", "runs"),
)
