"""Play what the papers' tables, figures and sentences are about, and set ours beside what they
print.  Without arguments: all artefacts with their last verdicts.

examples:
  callboard reproduce                       every artefact, and how it came out last
  callboard reproduce hfsp-fig-6            one of them
  callboard reproduce --quick               all of them with one seed, in some minutes
  callboard reproduce --all --report papers.html
  callboard reproduce slides --seeds 1001..1010 --json
  callboard reproduce slides-small-jobs-default --explore

Papers are hfsp, slides, report, hybrid, gp, sparrow, hawk and omega.  What was computed is kept:
the same command, or one that needs the same runs, goes on from there.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from callboard.arguments import OneFile, whole_number_type
from callboard.console import ReportConsole, print_aside
from callboard.experiments.journal_paths import file_path
from callboard.experiments.many.computing import compute_missing
from callboard.experiments.many.result_store import ResultStore, users_store_path
from callboard.experiments.many.seeds import seeds_of
from callboard.experiments.many.task_pool import SharedBoard, local_workers
from callboard.experiments.reproduction.artefact import AnyArtefact
from callboard.experiments.reproduction.catalogue_of_artefacts import ARTEFACTS, chosen_artefacts
from callboard.experiments.reproduction.catalogue_of_explorations import EXPLORATIONS
from callboard.experiments.reproduction.evidence import TRACES_VARIABLE
from callboard.experiments.reproduction.exploration import (
    Exploration,
    Explored,
    asked_per_setting,
    explored,
)
from callboard.experiments.reproduction.metered_run import calls_with_engine
from callboard.experiments.reproduction.outcome import ArtefactOutcome, tally_words
from callboard.experiments.reproduction.recorded_explorations import (
    explored_as_json,
    recorded_explorations,
)
from callboard.experiments.reproduction.recorded_outcomes import (
    outcome_as_json,
    recorded_outcomes,
)
from callboard.experiments.reproduction.reproduce import (
    Asked,
    artefact_with_seeds,
    last_outcomes,
    missing_artefact_calls,
    record_outcomes,
)
from callboard.experiments.run.simulation import stopping_on_ctrl_c
from callboard.experiments.user_errors import EXIT_INTERRUPTED, InputError
from callboard.experiments.whole_files import replacement_words, whole_file
from callboard.histories.quantiles import require_scipy
from callboard.progress_line import announce_long_work, steps_progress
from callboard.run_arguments import add_engine_argument
from callboard.scheduler.text.quantities import count
from callboard.stdio import print_json
from callboard.tables.reproduction_table import (
    artefact_table,
    catalogue_table,
    exploration_table,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", nargs="*", default=[], metavar="PAPER|ID", help="what to reproduce")
    every = "every artefact of every paper; so do the options below without a name"
    add("--all", action="store_true", help=every)
    add("--quick", action="store_true", help="one seed: some minutes for all of them")
    swept = "sweep what the paper does not print, to see where its number comes out"
    add("--explore", action="store_true", help=swept)
    seeds = "how many of the seeds that judge (101 and on), or a range"
    add("--seeds", metavar="N|LO..HI", help=seeds)
    add(
        "--cores",
        type=whole_number_type(1, 10_000),
        metavar="N",
        help="processes (default: all cores)",
    )
    add_engine_argument(add)
    traces = "where SWIM's traces are (default: the folder in CALLBOARD_TRACES)"
    add("--traces", metavar="FOLDER", help=traces)
    kept = "where results are kept (default: the user's cache folder)"
    add("--cache", type=Path, metavar="FILE", help=kept)
    add = parser.add_argument_group("what comes out").add_argument
    add("--json", action="store_true", help="print a list in JSON instead of tables")
    add("--report", action=OneFile, metavar="FILE", help="also write a page with every figure")
    add("--markdown", action=OneFile, metavar="FILE", help="also write the tables as Markdown")


def reproduce_command(options: argparse.Namespace) -> int:
    require_scipy()
    if options.traces is not None:
        _use_traces(Path(options.traces))
    artefacts = artefacts_by_options(options)
    report, markdown = _page_paths(options)
    with ResultStore(options.cache or users_store_path()) as store:
        if not artefacts:
            _list_artefacts(last_outcomes(store), as_json=options.json)
            return 0
        if options.explore:
            return _play_explorations(artefacts, store, options, report)
        wanted = _artefacts_with_seeds(artefacts, options)
        stopped = _compute_missing(wanted, store, options)
        found = list(record_outcomes(wanted, store))
        _print_outcomes(wanted, found, as_json=options.json)
        if report is not None:
            from callboard.experiments.reproduction.reproduction_report import write_papers_page

            replaces = replacement_words(report)
            write_papers_page(wanted, found, store, report)
            print_aside(f"wrote {report}{replaces}")
    if markdown is not None:
        from callboard.experiments.reproduction.reproduction_page import markdown_page

        replaces = replacement_words(markdown)
        with whole_file(markdown) as part:
            page = markdown_page(artefacts, found, recorded_explorations())
            part.write_text(page, encoding="utf-8")
        print_aside(f"wrote {markdown}{replaces}")
    return EXIT_INTERRUPTED if stopped else 0


def _use_traces(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"--traces {folder}: there is no such folder")
    os.environ[TRACES_VARIABLE] = str(folder.absolute())


def artefacts_by_options(options: argparse.Namespace) -> list[AnyArtefact]:
    """The artefacts that the arguments ask for; none for the list of all."""
    if options.all and options.names:
        raise InputError("--all is every artefact; leave out the names, or --all")
    if options.explore and options.markdown:
        raise InputError("--explore has no Markdown; --report is a page")
    plays = options.quick or options.seeds or options.explore or options.report or options.markdown
    if options.all or (plays and not options.names):
        return list(ARTEFACTS)
    return chosen_artefacts(options.names)


def _play_explorations(
    artefacts: Sequence[AnyArtefact],
    store: ResultStore,
    options: argparse.Namespace,
    report: Path | None,
) -> int:
    """Play the explorations of these artefacts, and print what they came to."""
    by_id = {each.id: each for each in artefacts}
    chosen = [each for each in EXPLORATIONS if each.artefact in by_id]
    if not chosen:
        known = ", ".join(dict.fromkeys(each.artefact for each in EXPLORATIONS))
        raise InputError(f"--explore: nothing is swept for these; it is for {known}")
    played = [_exploring_seeds(each, _asked_seeds(options)) for each in chosen]
    pairs = list(zip(chosen, played, strict=True))
    wanted = [
        one for each, seeds in pairs for one in asked_per_setting(each, by_id[each.artefact], seeds)
    ]
    stopped = _compute_missing(wanted, store, options)
    found = [explored(each, by_id[each.artefact], seeds, store) for each, seeds in pairs]
    _print_explored(list(zip(chosen, found, strict=True)), as_json=options.json)
    if report is not None and not stopped:
        from callboard.experiments.reproduction.exploration_report import write_explorations_page

        replaces = replacement_words(report)
        write_explorations_page(list(zip(chosen, found, strict=True)), report)
        print_aside(f"wrote {report}{replaces}")
    return EXIT_INTERRUPTED if stopped else 0


def _print_explored(found: Sequence[tuple[Exploration, Explored]], *, as_json: bool) -> None:
    if as_json:
        print(explored_as_json([each for _, each in found]))
        return
    console = ReportConsole()
    for exploration, each in found:
        console.print(exploration_table(exploration, each))
        console.print()


def _exploring_seeds(each: Exploration, asked_for: Sequence[int] | int | None) -> Sequence[int]:
    """The exploration's own seeds, or as many as asked for, or a range."""
    if asked_for is None:
        return each.seeds
    return range(1, asked_for + 1) if isinstance(asked_for, int) else asked_for


def _page_paths(options: argparse.Namespace) -> tuple[Path | None, Path | None]:
    """Where the pages go; InputError, or MissingExtraError, before any work is done."""
    report = markdown = None
    if options.report:
        from callboard.experiments.pages.report.write_report import check_report

        report = file_path("--report", options.report)
        if report.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"--report {options.report}: it is a page; end its name in .html")
        check_report()
    if options.markdown:
        markdown = file_path("--markdown", options.markdown)
    return report, markdown


def _artefacts_with_seeds(
    artefacts: Sequence[AnyArtefact], options: argparse.Namespace
) -> list[Asked]:
    seeds = _asked_seeds(options)
    return [artefact_with_seeds(artefact, seeds, quick=options.quick) for artefact in artefacts]


def _asked_seeds(options: argparse.Namespace) -> Sequence[int] | int | None:
    """These very seeds, or how many; None unless told."""
    if options.seeds is None:
        return None
    if not options.seeds.isdecimal():
        return seeds_of(options.seeds)
    if not int(options.seeds):
        raise InputError("--seeds 0: at least one")
    return int(options.seeds)


def _compute_missing(
    wanted: Sequence[Asked], store: ResultStore, options: argparse.Namespace
) -> bool:
    """Compute what is missing; whether Ctrl-C came."""
    missing = calls_with_engine(missing_artefact_calls(wanted, store), options.engine)
    long = sum(call.weight > 0 for call in missing)
    if long and options.explore:
        print_aside(f"{count(long, 'run')} to play")
    elif long:
        told = f"{count(long, 'run')} to play; all that was asked for takes"
        announce_long_work(told, _recorded_seconds(wanted))
    shared = SharedBoard(0)
    with (
        stopping_on_ctrl_c(shared.request_stop),
        local_workers(options.cores, shared) as workers,
        steps_progress("runs", long, left=True) as move,
    ):
        for answered in compute_missing(
            missing, store, workers, retry=True, stopped=lambda: bool(shared.stop.value)
        ):
            move("", int(answered.call.weight > 0))
        stopped = bool(shared.stop.value)
    if stopped:
        print_aside("stopped: what was computed is kept, and the same command goes on from there")
    return stopped


def _recorded_seconds(wanted: Sequence[Asked]) -> float:
    """The processor time that these took where docs/reproduction.md was made, by the seeds that are
    asked for now; what several of them need counts for each.
    """
    known, seconds = recorded_outcomes(), 0.0
    for artefact, seeds in wanted:
        if artefact.id in known:
            last = known[artefact.id]
            seconds += last.seconds * (len(seeds) / len(last.seeds) if last.seeds else 1)
    return seconds


def _list_artefacts(last: dict[str, ArtefactOutcome], *, as_json: bool) -> None:
    """All artefacts with their last verdicts: those computed here, else those brought along."""
    known = {**recorded_outcomes(), **last}
    if as_json:
        there = [each for each in ARTEFACTS if each.id in known]
        print_json([outcome_as_json(each, known[each.id]) for each in there])
        return
    console = ReportConsole()
    console.print(catalogue_table(ARTEFACTS, known))
    console.print_line(tally_words([known[a.id] for a in ARTEFACTS if a.id in known]))
    here = count(sum(each.id in last for each in ARTEFACTS), "verdict")
    told = f"{here} computed here, the others as recorded in docs/reproduction.md"
    console.print_line(told)


def _print_outcomes(
    wanted: Sequence[Asked], found: Sequence[ArtefactOutcome], *, as_json: bool
) -> None:
    pairs = list(zip((each.artefact for each in wanted), found, strict=True))
    if as_json:
        print_json([outcome_as_json(*pair) for pair in pairs])
        return
    console = ReportConsole()
    for artefact, outcome in pairs:
        console.print(artefact_table(artefact, outcome))
        console.print()
    if len(pairs) > 1:
        console.print_line(tally_words(found))
