"""Play SWIM traces on one perfectly divisible machine under several disciplines, with errors in the
estimates of sizes, as in Dell'Amico's simulator report (RR-13-282); or, by `--law`, jobs of a named
distribution, with queueing theory's exact mean beside what was played.  Prints tables, writes CSV
files and figures; of traces what was computed once is kept.

examples:
  callboard ideal trace.tsv --sigma 0 0.5 1
  callboard ideal --law exponential 'weibull(shape=0.5)' --load 0.5 0.7 0.9
  callboard ideal --law 'bounded-pareto(alpha=1.5, ratio=1000)' --sigma 1 --disciplines psjf srpt
  callboard ideal --law exponential --servers 4
  callboard ideal --law 'weibull(shape=0.5)' --disciplines las gittins --most-runs 400
  callboard ideal --law 'exponential(mean=60)' --cluster --load 0.5 --heartbeat 3
"""

import os
from argparse import ArgumentParser, Namespace
from math import inf
from pathlib import Path

from callboard.arguments import number_type, whole_number_type
from callboard.console import PlainConsole
from callboard.experiments.ideal_study import study as studies
from callboard.experiments.ideal_study.law_systems import GITTINS
from callboard.experiments.ideal_study.one_slot import SLOT_JOBS, SLOT_RUNS
from callboard.experiments.ideal_study.plots import draw_figures
from callboard.experiments.ideal_study.report_tables import study_tables, write_study_csv
from callboard.experiments.ideal_study.results import Results
from callboard.experiments.ideal_study.study import Study
from callboard.experiments.ideal_study.study_runs import (
    compute_study,
    count_known_runs,
    open_study_pool,
    study_runs,
)
from callboard.experiments.ideal_study.swim import REPORT_FILES, Trace, load_trace
from callboard.experiments.many.result_store import ResultStore, users_store_path
from callboard.experiments.many.task_pool import dask_workers
from callboard.experiments.user_errors import EXIT_INTERRUPTED, InputError
from callboard.histories.quantiles import require_scipy
from callboard.ideal_laws import (
    LAW_JOBS,
    LAW_JOBS_PLAIN,
    check_law_arguments,
    compare_laws,
    make_folder,
)
from callboard.progress_line import steps_progress
from callboard.scheduler.ideal import DISCIPLINES
from callboard.scheduler.ideal.report_workload import SIZE_MODELS
from callboard.scheduler.text.missing_extra import MissingExtraError
from callboard.slot_laws import HEARTBEAT_S, compare_slot

_AT_LEAST_0 = number_type("a finite number of 0 or more", lambda value: 0 <= value < inf)
_HEARTBEAT = number_type("0.01 to 3600", lambda value: 0.01 <= value <= 3600)
_ABOVE_0 = number_type("a finite number above 0", lambda value: 0 < value < inf)


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("traces", nargs="*", type=Path, metavar="TRACE", help="SWIM files, or folders with them")
    law = "jobs of these distributions instead, as in 'weibull(shape=0.5)'; a wrong one lists all"
    add("--law", nargs="+", metavar="LAW", help=law)
    jobs = f"with --law: a run (default: {LAW_JOBS:,}; without numba {LAW_JOBS_PLAIN:,}; with"
    jobs += f" --cluster {SLOT_JOBS:,})"
    add("--jobs", type=whole_number_type(100, 10_000_000), metavar="N", help=jobs)
    servers = "with --law: servers, each of speed 1, under fifo or srpt (default: 1)"
    add("--servers", type=whole_number_type(1, 10_000), metavar="K", help=servers)
    add("--report", action="store_true", help="all of the report's figures, 100 runs each")
    sigma = "errors (default: 0 0.5 1; with --law 0)"
    add("--sigma", nargs="+", type=_AT_LEAST_0, metavar="S", help=sigma)
    add("--load", nargs="+", type=_ABOVE_0, metavar="L", help="loads (default: 0.9)")
    add("--dn", nargs="+", type=_ABOVE_0, metavar="R", help="ratios disk/network (default: 4)")
    runs = f"runs a point (default: 20; --report: 100; --cluster: {SLOT_RUNS})"
    add("--runs", type=whole_number_type(1), metavar="N", help=runs)
    cluster = "with --law: the jobs, sizes in seconds, on one slot of a cluster too; what that adds"
    add("--cluster", action="store_true", help=cluster)
    heartbeat = f"with --cluster: seconds between two heartbeats (default: {HEARTBEAT_S:g})"
    add("--heartbeat", type=_HEARTBEAT, metavar="S", help=heartbeat)
    most = "with --law: play on where a mean is not told, if that many runs would tell it"
    add("--most-runs", type=whole_number_type(1), metavar="N", help=most)
    played = f"{', '.join(DISCIPLINES)}; with --law also {GITTINS}"
    choices = (*DISCIPLINES, GITTINS)
    add("--disciplines", nargs="+", choices=choices, metavar="D", help=played)
    add("--against", choices=DISCIPLINES, metavar="D", help="what differences are taken to")
    add("--size-model", choices=SIZE_MODELS, default="report", help="how bytes become seconds")
    add("--seed", type=whole_number_type(0), default=0, help="of the errors (default: 0)")
    add("--out", type=Path, default=Path("ideal-results"), help="folder for CSV and figures")
    add("--format", nargs="+", choices=("svg", "png"), default=["svg", "png"], help="of figures")
    add("--cache", type=Path, default=None, metavar="FILE", help="where outcomes are kept")
    add("--cores", type=whole_number_type(1), help="how many cores to use (default: all)")
    add("--on", metavar="dask://HOST:PORT", help="compute on a Dask cluster")


def ideal_command(args: Namespace) -> int:
    say = PlainConsole(stderr=True)
    if args.heartbeat and not args.cluster:
        raise InputError("--heartbeat says nothing without --cluster")
    if args.law:
        check_law_arguments(args)
        return compare_slot(args) if args.cluster else compare_laws(args, say)
    for name in ("jobs", "servers", "most_runs", "cluster"):
        if getattr(args, name):
            raise InputError(f"--{name.replace('_', '-')} says nothing without --law")
    if GITTINS in (args.disciplines or ()):
        raise InputError(f"--disciplines {GITTINS} goes by the law of sizes: name it by --law")
    try:
        return _run_experiment(args, say)
    except KeyboardInterrupt:
        say.print("stopped; what was finished is kept, the same command goes on from there")
        return EXIT_INTERRUPTED


def _run_experiment(args: Namespace, say: PlainConsole) -> int:
    study = _asked_study(args, say)
    against = _reference_discipline(args, study)
    require_scipy()
    make_folder(args.out)
    with ResultStore(args.cache or users_store_path()) as store:
        results = _computed_results(args, study, store, say)
    out = PlainConsole()
    points = study.figures[0].points if args.report else study.points
    for table in study_tables(results, against, points):
        out.print(table)
    for path in write_study_csv(results, against, args.out):
        out.print(f"wrote {path}", markup=False, soft_wrap=True)
    try:
        for path in draw_figures(results, args.out, args.format):
            out.print(f"wrote {path}", markup=False, soft_wrap=True)
    except MissingExtraError as missing:
        say.print(f"no figures: {missing}", markup=False)
    return 0


def _asked_study(args: Namespace, say: PlainConsole) -> Study:
    """The study that the arguments ask for; raises `InputError`."""
    for name in ("sigma", "load", "dn"):
        if args.report and getattr(args, name):
            raise InputError(f"--report has its own points, so --{name} says nothing with it")
    traces = _asked_traces(args, say)
    names = [trace.name for trace in traces]
    if len(set(names)) < len(names):
        raise InputError(f"two traces of one name among {', '.join(names)}")
    sigmas, loads = args.sigma or [0.0, 0.5, 1.0], args.load or [studies.LOAD]
    axes = [list(dict.fromkeys(each)) for each in (sigmas, loads, args.dn or [studies.DN])]
    points, figures = (
        studies.report_points_and_figures(names)
        if args.report
        else studies.grid_points_and_figures(names, *axes)
    )
    default = studies.REPORT_DISCIPLINES if args.report else studies.DEFAULT_DISCIPLINES
    runs = args.runs or (studies.REPORT_RUNS if args.report else 20)
    disciplines = tuple(dict.fromkeys(args.disciplines or default))
    return Study(tuple(traces), args.size_model, disciplines, points, figures, runs, args.seed)


def _asked_traces(args: Namespace, say: PlainConsole) -> list[Trace]:
    """The traces given; with `--report` only the report's, and a line for each that is absent."""
    paths = [file for path in args.traces for file in _trace_files(path)]
    if not paths and args.report and os.environ.get("CALLBOARD_TRACES"):
        paths = _trace_files(Path(os.environ["CALLBOARD_TRACES"]))
    if not paths:
        raise InputError(
            "no trace given: name SWIM files, or a folder that holds them; or a law, as in"
            " --law 'exponential(mean=60)'"
        )
    if not args.report:
        return [load_trace(path) for path in paths]
    at_hand = {path.name: path for path in paths if path.is_file()}
    for name, file in REPORT_FILES.items():
        if file not in at_hand:
            say.print(f"{name} is absent: no {file} among the traces given", markup=False)
    traces = [load_trace(at_hand[file]) for file in REPORT_FILES.values() if file in at_hand]
    if not traces:
        raise InputError("none of the report's three traces is there")
    return traces


def _trace_files(path: Path) -> list[Path]:
    return sorted(path.glob("*.tsv")) if path.is_dir() else [path]


def _reference_discipline(args: Namespace, study: Study) -> str:
    against: str | None = args.against
    if against is None:
        return "fsp+ps" if "fsp+ps" in study.disciplines else study.disciplines[0]
    if against not in study.disciplines:
        raise InputError(f"--against {against}: not among the disciplines played")
    return against


def _computed_results(
    args: Namespace, study: Study, store: ResultStore, say: PlainConsole
) -> Results:
    """The outcomes that are in the store, and the others computed."""
    wanted, have = len(study_runs(study)), count_known_runs(study, store)
    if have:
        say.print(f"{have} of {wanted} runs were done before")
    elsewhere = args.on and have < wanted
    pool = dask_workers(args.on) if elsewhere else open_study_pool(args.cores)
    with pool as workers, steps_progress("runs", wanted, done=have, left=True) as move:
        found = compute_study(study, store, workers, lambda more: move("", more))
    return Results(study, found)
