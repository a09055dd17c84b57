"""What a paper does not print is swept on seeds of its own, and told in ranges."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from callboard.experiments.many.result_store import ResultStore
from callboard.experiments.reproduction.artefact import Artefact, Evidence, Paper, Quantity
from callboard.experiments.reproduction.catalogue_of_artefacts import ARTEFACTS
from callboard.experiments.reproduction.catalogue_of_explorations import EXPLORATIONS
from callboard.experiments.reproduction.exploration import (
    Exploration,
    Explored,
    explored,
    region_words,
)
from callboard.experiments.reproduction.outcome import QuantityOutcome, ReproductionVerdict
from callboard.experiments.reproduction.recorded_explorations import recorded_explorations
from callboard.experiments.reproduction.region_chart import exploration_chart
from callboard.experiments.reproduction.reproduce import JUDGING_SEEDS

DOCS = Path(__file__).parents[3] / "docs"
V = ReproductionVerdict

NAMES = ("1", "2", "3", "4", "5")


class Fixed(Evidence[float], frozen=True):
    """Evidence whose samples are one number, whatever the seed."""

    value: float

    def samples(self, seeds: Sequence[int], found: Mapping[str, bytes]) -> list[float]:  # noqa: ARG002
        return [self.value for _ in seeds]


@pytest.mark.parametrize(
    ("sure", "perhaps", "words"),
    [
        (["1", "2", "3"], [], "comes out at 1 to 3"),
        (["1", "3", "4"], ["5"], "comes out at 1, 3 to 4; may at 5"),
        ([], ["2"], "may at 2"),
        ([], [], "none of the 5 settings gives it"),
    ],
)
def test_a_region_is_told_in_ranges(sure: list[str], perhaps: list[str], words: str) -> None:
    assert region_words(NAMES, sure, perhaps) == words


def test_an_exploration_says_where_the_printed_numbers_come_out(tmp_path: Path) -> None:
    """Each number alone, and all of them together."""
    four: Quantity[float] = Quantity(label="x", value=lambda sample: sample, printed=4.0)
    more: Quantity[float] = Quantity(label="y", value=lambda sample: sample, above=4.5)
    fig = Artefact[float](
        id="fig",
        paper=Paper.HFSP,
        place="Figure 0",
        says="A sentence.",
        evidence=Fixed(9.0),
        quantities=(four,),
    )
    sweep = Exploration(
        artefact="fig",
        assumption="how much it is",
        plausible="one to five",
        settings={name: Fixed(float(name)) for name in NAMES},
        quantities=(four, more),
    )
    with ResultStore(tmp_path / "kept.sqlite") as store:
        found = explored(sweep, fig, sweep.seeds, store)
    assert [row[0].ours for row in found.rows] == [1, 2, 3, 4, 5]
    assert found.findings == (
        "x, 4: comes out at 3 to 5",
        "y, above 4.50: comes out at 5",
        "all together: comes out at 5",
    )


@pytest.mark.parametrize("each", EXPLORATIONS, ids=lambda each: each.assumption[:30])
def test_every_exploration_is_of_an_artefact_and_can_be_judged(each: Exploration) -> None:
    assert each.artefact in {one.id for one in ARTEFACTS}
    assert len(each.settings) > 1
    assert max(each.seeds) < JUDGING_SEEDS  # nothing is looked for on the seeds that judge
    for quantity in each.quantities:
        assert quantity.printed is not None or quantity.has_side


def test_what_is_drawn_is_in_the_docs() -> None:
    """`python -m trials.papers` draws it, and the page shows it."""
    pictures = [each.picture for each in EXPLORATIONS if each.picture]
    assert len(set(pictures)) == len(pictures)
    page = (DOCS / "reproduction.md").read_text("utf-8")
    for picture in pictures:
        assert (DOCS / "figures" / picture).is_file()
        assert f"](figures/{picture})" in page


def test_a_region_of_many_settings_is_a_table_dark_where_the_number_comes_out() -> None:
    pytest.importorskip("matplotlib")
    names = tuple(str(n) for n in range(1, 11))
    four: Quantity[float] = Quantity(label="x", value=lambda sample: sample, printed=4.0)
    sweep = Exploration(
        artefact="fig",
        assumption="how much it is",
        plausible="one to ten",
        settings={name: Fixed(float(name)) for name in names},
        quantities=(four,),
    )
    verdicts = [V.REPRODUCED if name in ("3", "4", "5") else V.DIFFERS for name in names]
    verdicts[5] = V.MAY_BE_CHANCE
    found = Explored(
        artefact="fig",
        assumption="",
        plausible="",
        seeds=(1,),
        settings=names,
        rows=tuple(
            (QuantityOutcome(label="x", ours=float(name), low=None, high=None, verdict=verdict),)
            for name, verdict in zip(names, verdicts, strict=True)
        ),
        findings=(),
    )
    (axes,) = exploration_chart(sweep, found).axes
    shades = [box.get_alpha() for box in axes.patches]
    dark, light, none = max(shades), sorted(set(shades))[1], 0
    assert shades == [none, none, dark, dark, dark, light, none, none, none, none]
    assert [text.get_text() for text in axes.texts] == [*names]


def test_what_is_recorded_is_what_the_catalogue_explores() -> None:
    """`callboard reproduce --all --explore --json` gives it."""
    found = [(each.artefact, each.assumption, each.settings) for each in recorded_explorations()]
    assert found == [(e.artefact, e.assumption, tuple(e.settings)) for e in EXPLORATIONS]
    for exploration, each in zip(EXPLORATIONS, recorded_explorations(), strict=True):
        labels = [quantity.label for quantity in exploration.quantities]
        assert [[one.label for one in row] for row in each.rows] == [labels] * len(each.settings)
