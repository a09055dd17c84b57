"""The table of artefacts: nothing is absent, everything can be judged, and examples come out."""

import msgspec
import pytest

from callboard.experiments.reproduction.artefact import AnyArtefact, Paper, Quantity, VerdictClass
from callboard.experiments.reproduction.catalogue_of_artefacts import ARTEFACTS, chosen_artefacts
from callboard.experiments.reproduction.evidence import Runs
from callboard.experiments.reproduction.outcome import ReproductionVerdict, judge, whole_verdict
from callboard.experiments.reproduction.reproduce import artefact_with_seeds
from callboard.experiments.reproduction.run_figures import mean_of_responses_s
from callboard.experiments.reproduction.sample_figure import figure_of
from callboard.experiments.reproduction.worked_examples import Worked
from callboard.experiments.user_errors import InputError

PRINTED = {
    Paper.HFSP: ["fig-1", "fig-2", "fig-3", "fig-5", "alg-1", "table-I"]
    + [f"fig-{n}" for n in range(6, 18)]
    + ["fig-10-arrivals", "fig-10-bursts", "load", "training", "fifo", "dominance"],
    Paper.SLIDES: ["small-jobs", "small-jobs-default", "sticky-slots", "waits"]
    + [f"macro-{load}" for load in ("io", "cpu", "mixed")]
    + [f"formula-{name}" for name in ("skips", "wait", "locality", "gain", "blocked")]
    + ["macro-io-2", "locality-by-size", "sensitivity", "overhead", "hierarchy"],
    Paper.REPORT: [f"3.{n}" for n in range(1, 8)],
    Paper.HYBRID: ["fig-1", "class-sets", "tables-I-IV", "fifo-rise", "transition"]
    + [f"fig-{n}-{panel}" for n in (2, 4) for panel in ("i", "ii", "iii", "iv", "v", "vi")]
    + ["fig-4-switches", "fig-4-resources"],
    Paper.GP: [
        "table-I",
        "table-I-b",
        "table-I-c",
        "fig-1",
        "table-II",
        "gaps",
        "largest-jobs",
        "table-III",
        "table-III-lengths",
        "long-slots",
        "killed-long",
        "fig-3-busy",
        "fig-3-mixed",
        "fig-3-idle",
        "story",
    ],
}
"""What the papers print."""

EXAMPLES = [
    each
    for each in ARTEFACTS
    if isinstance(each.evidence, Worked) and not each.evidence.varies_with_seed
]


def test_no_artefact_is_absent_and_none_stands_twice() -> None:
    ids = [each.id for each in ARTEFACTS]
    assert len(set(ids)) == len(ids)
    wanted = {f"{paper.value}-{name}" for paper, names in PRINTED.items() for name in names}
    assert not wanted - set(ids)


@pytest.mark.parametrize("artefact", ARTEFACTS, ids=lambda each: each.id)
def test_every_artefact_can_be_judged(artefact: AnyArtefact) -> None:
    """Each quantity has a number or a side, and a name of its own."""
    labels = [each.label for each in artefact.quantities]
    assert labels
    assert len(set(labels)) == len(labels)
    for each in artefact.quantities:
        assert (each.value is None) != (each.pooled is None)
        assert each.printed is not None or each.has_side
        if each.printed is not None:
            assert each.on_its_side(each.printed)  # the paper's own number is on the paper's side


def test_a_misspelt_cell_is_refused_when_the_artefact_is_made() -> None:
    figure = chosen_artefacts(["hfsp-fig-16"])[0]
    misspelt = Quantity[Runs](label="mean", value=figure_of("kil", mean_of_responses_s), above=1)
    with pytest.raises(ValueError, match="hfsp-fig-16, mean: no cell kil; there are wait, kill"):
        msgspec.structs.replace(figure, quantities=(misspelt,))


@pytest.mark.parametrize("artefact", ARTEFACTS, ids=lambda each: each.id)
def test_what_is_fitted_says_on_what(artefact: AnyArtefact) -> None:
    classes = {artefact.class_of(each) for each in artefact.quantities}
    assert (VerdictClass.FITTED in classes) == bool(artefact.fitted_on)


@pytest.mark.parametrize("artefact", ARTEFACTS, ids=lambda each: each.id)
def test_worked_examples_are_exact_and_formulas_are_drawn(artefact: AnyArtefact) -> None:
    for each in artefact.quantities:
        which = artefact.class_of(each)
        if which is VerdictClass.WORKED:
            assert not artefact.evidence.varies_with_seed
            assert each.exact or each.has_side
        assert which is not VerdictClass.FORMULA or artefact.evidence.varies_with_seed


@pytest.mark.parametrize("artefact", EXAMPLES, ids=lambda each: each.id)
def test_the_worked_examples_are_met(artefact: AnyArtefact) -> None:
    """Those with a printed solution exactly (HFSP's Figures 2, 3 and 5)."""
    calls = artefact.evidence.calls(())
    found = {call.key: call.function(*call.arguments) for call in calls}
    quantities = judge(artefact, artefact.evidence.samples((), found))
    good = (ReproductionVerdict.REPRODUCED, ReproductionVerdict.NO_NUMBER)
    assert whole_verdict(artefact, quantities) in good


def test_names_are_papers_or_ids_and_each_is_once() -> None:
    hfsp = chosen_artefacts(["hfsp-fig-6", "hfsp"])
    assert {each.paper for each in hfsp} == {Paper.HFSP}
    assert len({each.id for each in hfsp}) == len(hfsp)
    with pytest.raises(InputError, match="did you mean hfsp-fig-6"):
        chosen_artefacts(["hfsp-fig6"])


def test_seeds_that_judge_come_after_those_that_were_looked_at() -> None:
    figure = chosen_artefacts(["hfsp-fig-8"])[0]
    assert artefact_with_seeds(figure, None, quick=False).seeds == tuple(range(101, 121))
    assert artefact_with_seeds(figure, 3, quick=False).seeds == (101, 102, 103)
    assert artefact_with_seeds(figure, range(1001, 1003), quick=True).seeds == (1001, 1002)
