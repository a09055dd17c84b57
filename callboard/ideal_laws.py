"""`callboard ideal --law`: jobs of named distributions, theory's means beside those played."""

from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import product
from pathlib import Path
from typing import TypeVar

from rich import box
from rich.table import Table

from callboard.console import PlainConsole
from callboard.experiments.ideal_study import study as studies
from callboard.experiments.ideal_study.law_option import parse_law_option
from callboard.experiments.ideal_study.law_plots import discipline_label, draw_laws
from callboard.experiments.ideal_study.law_systems import (
    BY_ESTIMATE,
    LAW_DISCIPLINES,
    LawMeans,
    LawRun,
    LawSystem,
    ServedBy,
    disciplines_with_sigmas,
    play_law,
)
from callboard.experiments.ideal_study.law_verdicts import LAW_MARGIN, LawLine, law_lines
from callboard.experiments.ideal_study.report_tables import write_csv_rows
from callboard.experiments.ideal_study.study_runs import open_study_pool
from callboard.experiments.many.task_pool import Lost, Workers, answers_by_workers
from callboard.experiments.user_errors import InputError
from callboard.experiments.whole_files import replacement_words
from callboard.histories.quantiles import require_scipy
from callboard.progress_line import steps_progress
from callboard.scheduler.ideal import ON_SERVERS
from callboard.scheduler.numba_cache import numba_is_installed
from callboard.scheduler.text.missing_extra import MissingExtraError
from callboard.scheduler.text.quantities import count, with_sign

LAW_JOBS, LAW_JOBS_PLAIN = 1_000_000, 20_000
"""Jobs a run, where the loops are compiled and where they are not."""

_RUNS = 20
_TRACES_ONLY = ("traces", "report", "dn", "against", "cache", "on")


def compare_laws(args: Namespace, say: PlainConsole) -> int:
    """The exit status: 0 also where they differ, which the table says."""
    servers = args.servers or 1
    systems = [LawSystem(law, load, servers) for law, load in asked_laws_and_loads(args)]
    served = _asked_disciplines(args)
    require_scipy()
    make_folder(args.out)
    jobs = args.jobs or (LAW_JOBS if numba_is_installed() else LAW_JOBS_PLAIN)
    runs = args.runs or _RUNS
    first = {each: range(runs) for each in systems}
    found = _play_runs(first, served, jobs, args)
    lines = _result_lines(found, served, jobs)
    more = _runs_still_needed(lines, args.most_runs or 0)
    if more:
        for each, means in _play_runs(more, served, jobs, args).items():
            found[each] += means
        lines = _result_lines(found, served, jobs)
    out = PlainConsole()
    for law in dict.fromkeys(args.law):
        out.print(_law_table(law, [line for line in lines if line.system.law == law]))
    played = sorted({len(means) for means in found.values()})
    told = f"{played[0]} to {played[-1]} runs" if len(played) > 1 else count(played[0], "run")
    out.print(_NOTE.format(runs=told, jobs=jobs, margin=LAW_MARGIN), soft_wrap=True)
    table = args.out / "laws.csv"
    replaces = replacement_words(table)
    paths = [_write_csv(lines, table)]
    if len({line.system.load for line in lines}) > 1:
        try:
            paths += _draw_charts(lines, args)
        except MissingExtraError as missing:
            say.print(f"no figures: {missing}", markup=False)
    for path in paths:
        out.print(f"wrote {path}{replaces if path == table else ''}", markup=False, soft_wrap=True)
    return 0


def make_folder(folder: Path) -> None:
    """The folder of `--out`, made where it is not; InputError where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {folder}: {error.strerror}") from None


def check_law_arguments(args: Namespace) -> None:
    """InputError for what has a meaning with traces only."""
    for name in _TRACES_ONLY:
        if getattr(args, name):
            raise InputError(
                f"{'a trace' if name == 'traces' else f'--{name}'} and --law: not both"
            )


def asked_laws_and_loads(args: Namespace) -> list[tuple[str, float]]:
    """Each law at each load, once; raises `InputError`."""
    for law in args.law:
        parse_law_option(law)
    loads = dict.fromkeys(args.load or [studies.LOAD])
    over = next((load for load in loads if load >= 1), None)
    if over is not None:
        raise InputError(f"--load {over:g}: with --law it has to be below 1, or queues never end")
    return list(product(dict.fromkeys(args.law), loads))


def check_disciplines(names: Iterable[str], known: Collection[str], option: str = "--law") -> None:
    """InputError for one that cannot be played with that option."""
    if wrong := next((name for name in names if name not in known), ""):
        raise InputError(f"--disciplines {wrong}: with {option} there are {', '.join(known)}")


def _asked_disciplines(args: Namespace) -> tuple[ServedBy, ...]:
    if (args.servers or 1) > 1:
        return _asked_multiserver_disciplines(args)
    check_disciplines(args.disciplines or (), LAW_DISCIPLINES)
    wrong = [sigma for sigma in args.sigma or () if sigma]
    if wrong and not set(args.disciplines or BY_ESTIMATE) & set(BY_ESTIMATE):
        raise InputError(f"--sigma is for {' and '.join(BY_ESTIMATE)}, which are not played")
    return disciplines_with_sigmas(args.disciplines or list(LAW_DISCIPLINES), args.sigma or [0.0])


def _asked_multiserver_disciplines(args: Namespace) -> tuple[ServedBy, ...]:
    names = dict.fromkeys(args.disciplines or ["fifo"])
    check_disciplines(names, ON_SERVERS, "--servers")
    if any(args.sigma or ()):
        raise InputError("--sigma and --servers: not both")
    return tuple(map(ServedBy, names))


def _play_runs(
    wanted: Mapping[LawSystem, range],
    served: tuple[ServedBy, ...],
    jobs: int,
    args: Namespace,
) -> dict[LawSystem, list[LawMeans]]:
    """These runs of each system, in their order."""
    tasks = [
        LawRun(system, served, jobs, args.seed, run)
        for system, runs in wanted.items()
        for run in runs
    ]
    found = play_by_workers(
        open_study_pool(args.cores), play_law, tasks, lambda task: task.system.law
    )
    return {each: [found[task] for task in tasks if task.system == each] for each in wanted}


_Task = TypeVar("_Task")
_Means = TypeVar("_Means")


def play_by_workers(
    pool: AbstractContextManager[Workers],
    play: Callable[[_Task], _Means],
    tasks: Sequence[_Task],
    law_of: Callable[[_Task], str],
) -> dict[_Task, _Means]:
    """What each run has come to; InputError, with its law, for one that could not be played."""
    found: dict[_Task, _Means] = {}
    with pool as workers, steps_progress("runs", len(tasks), left=True) as move:
        for task, answer in answers_by_workers(workers, play, tasks):
            if isinstance(answer, Lost):
                raise InputError(f"{law_of(task)}: a run could not be played: {answer.why}")
            found[task] = answer
            move("", 1)
    return found


def _result_lines(
    found: Mapping[LawSystem, Sequence[LawMeans]], served: Sequence[ServedBy], jobs: int
) -> list[LawLine]:
    return [
        line
        for system, runs in found.items()
        for line in law_lines(system, served, runs, jobs * len(runs))
    ]


def _runs_still_needed(lines: Sequence[LawLine], most: int) -> dict[LawSystem, range]:
    """The runs after the first ones by which systems have means that that many would tell: once, so
    that not looking often makes them told (two stages, Stein 1945).
    """
    goals: dict[LawSystem, range] = {}
    for line in lines:
        wanted, have = line.runs_to_decide, line.played.runs
        if wanted is not None and wanted <= most:
            before = goals.get(line.system, range(have, have))
            goals[line.system] = range(have, max(wanted, before.stop))
    return goals


_NOTE = """\
{runs} of {jobs:,} jobs each; ± is a 95 % interval, the narrower for what is known of the jobs
drawn.  equal: all of it is within {margin:.0%} of the formula.  not told: that many runs would tell
(--most-runs).  too rare: the mean hangs on jobs so large that these runs hardly had any."""


def _law_table(law: str, lines: Sequence[LawLine]) -> Table:
    servers = lines[0].system.servers
    where = f" on {servers} servers" if servers > 1 else ""
    title = f"{law}{where}: mean response by formula, and played"
    heads = ("discipline", "formula", "played", "off", "")
    return table_by_load(title, heads, [(line.system.load, _line_cells(line)) for line in lines])


def table_by_load(
    title: str, heads: Sequence[str], rows: Sequence[tuple[float, Sequence[str]]]
) -> Table:
    """A section for each load, which stands before the other cells of its rows."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("load", *heads):
        left = name in ("discipline", "")
        table.add_column(name, justify="left" if left else "right", no_wrap=name != "")
    for load in dict.fromkeys(load for load, _ in rows):
        for cells in (each for at, each in rows if at == load):
            table.add_row(f"{load:g}", *cells)
        table.add_section()
    return table


def _line_cells(line: LawLine) -> list[str]:
    half = "" if line.relative_half_width is None else f" ± {line.relative_half_width:.2%}"
    exact = "" if line.exact is None else f"{line.exact:.4f}"
    off = "" if line.relative_error is None else with_sign(line.relative_error, ".2%")
    runs = "" if line.runs_to_decide is None else f": {line.runs_to_decide:,}"
    label, played = discipline_label(line.served), f"{line.played.mean:.4f}"
    return [label, exact, played, f"{off}{half}".strip(), f"{line.verdict}{runs}"]


def _write_csv(lines: Sequence[LawLine], path: Path) -> Path:
    rows = []
    for line in lines:
        interval = (line.played.mean, line.played.half, line.played.runs)
        told = (line.verdict, line.runs_to_decide)
        rows.append((*line.system, *line.served, line.exact, *interval, *told))
    write_csv_rows(path, _COLUMNS, rows)
    return path


_COLUMNS = (
    *("law", "load", "servers", "discipline", "sigma"),
    *("exact", "played", "half", "runs", "verdict", "runs_that_tell"),
)


def _draw_charts(lines: Sequence[LawLine], args: Namespace) -> list[Path]:
    paths = [args.out / f"response-vs-load.{ending}" for ending in args.format]
    for path in paths:
        draw_laws(lines, path)
    return paths
