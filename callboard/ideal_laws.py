"""`callboard ideal --law`: jobs of named distributions, theory's means beside those played."""

import csv
from argparse import Namespace
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from rich import box
from rich.table import Table

from callboard.console import PlainConsole
from callboard.experiments.ideal_study import study as studies
from callboard.experiments.ideal_study.law_plots import draw_laws, served_label
from callboard.experiments.ideal_study.law_spelling import law_spelled
from callboard.experiments.ideal_study.law_systems import (
    BY_ESTIMATE,
    LAW_DISCIPLINES,
    LawMeans,
    LawRun,
    LawSystem,
    ServedBy,
    asked_services,
    play_law,
)
from callboard.experiments.ideal_study.law_verdicts import LAW_MARGIN, LawLine, law_lines
from callboard.experiments.ideal_study.study_runs import study_workers
from callboard.experiments.many.statistics import check_intervals
from callboard.experiments.many.task_pool import Lost, answers
from callboard.experiments.user_errors import InputError
from callboard.journal.missing_extra import MissingExtraError
from callboard.journal.tell.names import with_sign
from callboard.progress_line import steps_progress
from callboard.scheduler.ideal import compiled_is_available

LAW_JOBS, LAW_JOBS_PLAIN = 1_000_000, 20_000
"""Jobs a run, where the loops are compiled and where they are not."""

_RUNS = 20
_TRACES_ONLY = ("traces", "report", "dn", "against", "cache", "on")


def compare_laws(args: Namespace, say: PlainConsole) -> int:
    """The exit status: 0 also where they differ, which the table says."""
    systems, served = _systems(args), _served(args)
    check_intervals()
    make_folder(args.out)
    jobs = args.jobs or (LAW_JOBS if compiled_is_available() else LAW_JOBS_PLAIN)
    runs = args.runs or _RUNS
    found = _played(systems, served, jobs, runs, args)
    lines = [line for each in systems for line in law_lines(each, served, found[each], jobs * runs)]
    out = PlainConsole()
    for law in args.law:
        out.print(_table(law, [line for line in lines if line.system.law == law]))
    out.print(_NOTE.format(runs=runs, jobs=jobs, margin=LAW_MARGIN), soft_wrap=True)
    paths = [_write_csv(lines, args.out / "laws.csv")]
    if len({line.system.load for line in lines}) > 1:
        try:
            paths += _drawn(lines, args)
        except MissingExtraError as missing:
            say.print(f"no figures: {missing}", markup=False)
    for path in paths:
        out.print(f"wrote {path}", markup=False, soft_wrap=True)
    return 0


def make_folder(folder: Path) -> None:
    """The folder of `--out`, made where it is not; InputError where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {folder}: {error.strerror}") from None


def _systems(args: Namespace) -> list[LawSystem]:
    """Each law at each load; raises `InputError`."""
    for name in _TRACES_ONLY:
        if getattr(args, name):
            raise InputError(
                f"{'a trace' if name == 'traces' else f'--{name}'} and --law: not both"
            )
    for law in args.law:
        law_spelled(law)
    servers = args.servers or 1
    if servers > 1 and any(not law.startswith("exponential") for law in args.law):
        raise InputError("--servers: theory knows the mean for --law exponential only")
    loads = dict.fromkeys(args.load or [studies.LOAD])
    over = next((load for load in loads if load >= 1), None)
    if over is not None:
        raise InputError(f"--load {over:g}: with --law it has to be below 1, or queues never end")
    return [LawSystem(law, load, servers) for law, load in product(dict.fromkeys(args.law), loads)]


def _served(args: Namespace) -> tuple[ServedBy, ...]:
    if (args.servers or 1) > 1:
        if set(args.disciplines or ["fifo"]) != {"fifo"}:
            raise InputError("--servers: theory knows the mean of fifo only")
        return (ServedBy("fifo"),)
    for name in args.disciplines or ():
        if name not in LAW_DISCIPLINES:
            known = ", ".join(LAW_DISCIPLINES)
            raise InputError(f"--disciplines {name}: with --law there are {known}")
    wrong = [sigma for sigma in args.sigma or () if sigma]
    if wrong and not set(args.disciplines or BY_ESTIMATE) & set(BY_ESTIMATE):
        raise InputError(f"--sigma is for {' and '.join(BY_ESTIMATE)}, which are not played")
    return asked_services(args.disciplines or list(LAW_DISCIPLINES), args.sigma or [0.0])


def _played(
    systems: Sequence[LawSystem],
    served: tuple[ServedBy, ...],
    jobs: int,
    runs: int,
    args: Namespace,
) -> dict[LawSystem, list[LawMeans]]:
    """All runs of each system, in their order."""
    tasks = [
        LawRun(system, served, jobs, args.seed, run) for system in systems for run in range(runs)
    ]
    found: dict[LawRun, LawMeans] = {}
    with study_workers(args.cores) as do, steps_progress("runs", len(tasks), left=True) as watch:
        for task, answer in answers(do, play_law, tasks):
            if isinstance(answer, Lost):
                raise InputError(f"{task.system.law}: a run could not be played: {answer.why}")
            found[task] = answer
            watch("", 1)
    return {each: [found[task] for task in tasks if task.system == each] for each in systems}


_NOTE = """\
{runs} runs of {jobs:,} jobs each; ± is a 95 % interval, the narrower for what is known of the jobs
drawn.  equal: all of it is within {margin:.0%} of the formula.  not told: more runs would tell.
too rare: the mean hangs on jobs so large that these runs hardly had any."""


def _table(law: str, lines: Sequence[LawLine]) -> Table:
    servers = lines[0].system.servers
    where = f" on {servers} servers" if servers > 1 else ""
    table = Table(
        title=f"{law}{where}: mean response by formula, and played",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for name in ("load", "discipline", "formula", "played", "off"):
        table.add_column(name, justify="left" if name == "discipline" else "right", no_wrap=True)
    table.add_column("")
    for load in dict.fromkeys(line.system.load for line in lines):
        for line in (each for each in lines if each.system.load == load):
            table.add_row(f"{load:g}", *_cells(line))
        table.add_section()
    return table


def _cells(line: LawLine) -> list[str]:
    half = "" if line.off_half is None else f" ± {line.off_half:.2%}"
    exact, played = f"{line.exact:.4f}", f"{line.played.mean:.4f}"
    return [
        served_label(line.served),
        exact,
        played,
        f"{with_sign(line.off, '.2%')}{half}",
        line.verdict,
    ]


def _write_csv(lines: Sequence[LawLine], path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(_COLUMNS)
        for line in lines:
            interval = (line.played.mean, line.played.half, line.played.runs)
            rows.writerow((*line.system, *line.served, line.exact, *interval, line.verdict))
    return path


_COLUMNS = (
    *("law", "load", "servers", "discipline", "sigma"),
    *("exact", "played", "half", "runs", "verdict"),
)


def _drawn(lines: Sequence[LawLine], args: Namespace) -> list[Path]:
    paths = [args.out / f"response-vs-load.{ending}" for ending in args.format]
    for path in paths:
        draw_laws(lines, path)
    return paths
