"""How many verdicts flip on fresh seeds: `python -m trials.flips [PAPER|ID …]`.

Artefacts are played on the seeds that judge them and on as many fresh ones, and each verdict is set
beside the other: of the artefacts, and of their single figures.  What no seed changes is left out.
A verdict that says `may be chance` has warned; one that was sure and is another has not.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from callboard.arguments import whole_number_type
from callboard.experiments.many.computing import compute_missing
from callboard.experiments.many.result_store import ResultStore, users_store_path
from callboard.experiments.many.seeds import seeds_of
from callboard.experiments.many.task_pool import SharedBoard, local_workers
from callboard.experiments.reproduction.artefact import AnyArtefact
from callboard.experiments.reproduction.catalogue_of_artefacts import ARTEFACTS, chosen_artefacts
from callboard.experiments.reproduction.metered_run import calls_with_engine
from callboard.experiments.reproduction.outcome import (
    ArtefactOutcome,
    ReproductionVerdict,
    ours_text,
)
from callboard.experiments.reproduction.recorded_outcomes import recorded_outcomes
from callboard.experiments.reproduction.reproduce import (
    Asked,
    artefact_with_seeds,
    missing_artefact_calls,
    outcome_of,
)
from callboard.experiments.run.simulation import stopping_on_ctrl_c
from callboard.experiments.user_errors import InputError

FRESH = "1001"
"""The first of the fresh seeds, unless told."""

_UNJUDGED = (ReproductionVerdict.NOT_RUN, ReproductionVerdict.TOO_FEW_SEEDS)


class VerdictPair(NamedTuple):
    """A verdict on the seeds that judge, and on fresh ones."""

    name: str
    judged: ReproductionVerdict
    fresh: ReproductionVerdict
    told: str = ""
    """What ours was, and is."""

    @property
    def flips(self) -> bool:
        return self.judged is not self.fresh

    @property
    def is_warned(self) -> bool:
        """Whether one of the two says that it may be chance."""
        return ReproductionVerdict.MAY_BE_CHANCE in (self.judged, self.fresh)


def artefact_pair(judged: ArtefactOutcome, fresh: ArtefactOutcome) -> VerdictPair:
    """The verdicts of an artefact as a whole."""
    return VerdictPair(judged.id, judged.verdict, fresh.verdict)


def figure_pairs(
    artefact: AnyArtefact, judged: ArtefactOutcome, fresh: ArtefactOutcome
) -> Iterator[VerdictPair]:
    """The verdicts of its single figures."""
    rows = zip(artefact.quantities, judged.quantities, fresh.quantities, strict=True)
    for quantity, one, other in rows:
        told = f"{ours_text(quantity, one)} → {ours_text(quantity, other)}"
        yield VerdictPair(f"{artefact.id}: {quantity.label}", one.verdict, other.verdict, told)


def flip_lines(title: str, pairs: Sequence[VerdictPair]) -> Iterator[str]:
    """How many verdicts there are of each kind, and what has become of them."""
    flipped = [each for each in pairs if each.flips]
    unwarned = [each for each in flipped if not each.is_warned]
    shares = f"{len(flipped)} flip ({_share(flipped, pairs)})"
    yield f"{title}: {len(pairs)} verdicts, {shares}, {len(unwarned)} of them unwarned"
    counts = Counter((each.judged, each.fresh) for each in pairs)
    for verdict in ReproductionVerdict:
        mine = {other: counts[verdict, other] for other in ReproductionVerdict}
        there, same = sum(mine.values()), mine.pop(verdict)
        if there:
            others = [f"{many} {other}" for other, many in mine.items() if many]
            yield f"  {verdict:18} {there:4} {same:4} the same  {', '.join(others)}".rstrip()


def _share(some: Sequence[VerdictPair], pairs: Sequence[VerdictPair]) -> str:
    return f"{len(some) / len(pairs):.0%}" if pairs else "-"


def fresh_asked(artefact: AnyArtefact, fresh: str) -> Asked:
    """The artefact with fresh seeds: a range, or as many as it has from one seed on."""
    if not fresh.isdecimal():
        return Asked(artefact, tuple(seeds_of(fresh)))
    first = int(fresh)
    return Asked(artefact, tuple(range(first, first + artefact.seeds)))


def computed(
    wanted: Sequence[Asked], store: ResultStore, cores: int | None
) -> list[ArtefactOutcome]:
    """Their outcomes; what the store has not is played.  Ctrl-C ends it, and all is kept."""
    missing = calls_with_engine(missing_artefact_calls(wanted, store), "auto")
    shared = SharedBoard(0)
    with (
        stopping_on_ctrl_c(shared.request_stop),
        local_workers(cores, shared) as workers,
    ):
        answers = compute_missing(
            missing, store, workers, retry=True, stopped=lambda: bool(shared.stop.value)
        )
        for number, _ in enumerate(answers, 1):
            if number % 50 == 0:
                print(f"{number:,} of {len(missing):,} played", flush=True)
    return [outcome_of(each, store) for each in wanted]


class Twice(NamedTuple):
    """An artefact that was judged twice."""

    artefact: AnyArtefact
    judged: ArtefactOutcome
    fresh: ArtefactOutcome

    @property
    def is_judged(self) -> bool:
        return not {self.judged.verdict, self.fresh.verdict} & set(_UNJUDGED)


def report(played: Sequence[Twice]) -> None:
    """Print what flips."""
    rows = [each for each in played if each.is_judged]
    wholes = [artefact_pair(each.judged, each.fresh) for each in rows]
    figures = [pair for each in rows for pair in figure_pairs(*each)]
    for title, found in (("artefacts", wholes), ("single figures", figures)):
        print("\n".join(flip_lines(title, found)))
        for each in found:
            if each.flips:
                sure = "" if each.is_warned else "  unwarned"
                print(f"    {each.name}: {each.judged} → {each.fresh}{sure}  {each.told}".rstrip())
    if len(rows) < len(played):
        apart = ", ".join(each.artefact.id for each in played if not each.is_judged)
        print(f"not judged on both, for want of traces or of seeds: {apart}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m trials.flips",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="PAPER|ID", help="artefacts (default: all)")
    add("--fresh", default=FRESH, metavar="N|LO..HI", help="the first fresh seed, or all of them")
    taken = "take the verdicts of docs/reproduction.md instead of playing their seeds"
    add("--as-recorded", action="store_true", help=taken)
    add("--cores", type=whole_number_type(1), metavar="N", help="processes (default: all cores)")
    add("--cache", type=Path, default=None, metavar="FILE", help="where results are kept")
    options = parser.parse_args(arguments)
    try:
        chosen = chosen_artefacts(options.names) if options.names else list(ARTEFACTS)
        artefacts = [each for each in chosen if each.evidence.varies_with_seed]
        on_fresh = [fresh_asked(each, options.fresh) for each in artefacts]
    except InputError as error:
        parser.error(str(error))
    with ResultStore(options.cache or users_store_path()) as store:
        wanted = (
            []
            if options.as_recorded
            else [artefact_with_seeds(a, None, quick=False) for a in artefacts]
        )
        outcomes = computed([*wanted, *on_fresh], store, options.cores)
    fresh = outcomes[-len(artefacts) :]
    known = recorded_outcomes()
    judged = [known[a.id] for a in artefacts] if options.as_recorded else outcomes[: len(artefacts)]
    report([Twice(*each) for each in zip(artefacts, judged, fresh, strict=True)])


if __name__ == "__main__":
    main()
