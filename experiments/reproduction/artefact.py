"""What an artefact is: a table, figure or sentence of a paper, and what of ours is held to it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec

from callboard.experiments.many.computing import Call
from callboard.experiments.reproduction.sample_figure import SampleFigure

NUMBER_MARGIN = 0.25
"""Ours is equivalent to a printed number if its interval lies within this share of it ..."""

SHARE_MARGIN = 0.1
"""... and to a printed share or percentage, of 1, if it lies within this."""

LIMIT_MARGIN = 0.5
"""Where a limit is near (1 for an improvement, 0 or 100 % for a share), no farther than this share
of the printed number's own distance from it."""

EXACT_MARGIN = 1e-6
"""What must be met exactly may be off by this share of it: clocks are whole milliseconds."""

SampleT = TypeVar("SampleT")


class Paper(StrEnum):
    """The papers, by the names that the command line has for them: the five that Callboard is
    about, and those of schedulers beside the central master.
    """

    HFSP = "hfsp"
    SLIDES = "slides"
    REPORT = "report"
    HYBRID = "hybrid"
    GP = "gp"
    SPARROW = "sparrow"
    HAWK = "hawk"
    OMEGA = "omega"


PAPER_TITLES = {
    Paper.HFSP: "Pastorelli, Barbuzzi, Carra, Dell'Amico, Michiardi: HFSP",
    Paper.SLIDES: "Zaharia et al.: Delay scheduling (slides)",
    Paper.REPORT: "Dell'Amico: A simulator for data-intensive job scheduling (RR-13-282)",
    Paper.HYBRID: "Rasooli, Down: A hybrid scheduling approach (COSHH)",
    Paper.GP: "Cheng, Zhang, Boutaba: Global preemption (CNSM 2011)",
    Paper.SPARROW: "Ousterhout, Wendell, Zaharia, Stoica: Sparrow (SOSP 2013)",
    Paper.HAWK: "Delgado, Dinu, Kermarrec, Zwaenepoel: Hawk (ATC 2015)",
    Paper.OMEGA: "Schwarzkopf, Konwinski, Abd-El-Malek, Wilkes: Omega (EuroSys 2013)",
}


class VerdictClass(StrEnum):
    """What it means that a figure of ours is the paper's: how much it could have been another."""

    WORKED = "worked"
    INPUT = "input"
    FORMULA = "formula"
    FITTED = "fitted"
    PREDICTED = "predicted"


CLASS_MEANINGS = {
    VerdictClass.WORKED: "an example with a printed solution, which must be met exactly",
    VerdictClass.INPUT: "the generator was given it, and gives it back",
    VerdictClass.FORMULA: "a printed formula, held to the simulation's interval",
    VerdictClass.FITTED: "a parameter of ours was chosen so that it comes out",
    VerdictClass.PREDICTED: "nothing of ours was chosen by it",
}


class Evidence(msgspec.Struct, Generic[SampleT], frozen=True):
    """What has to be computed, and what comes of it: one sample for each draw of the world."""

    @property
    def varies_with_seed(self) -> bool:
        """Whether another seed gives another sample; if not, one sample is all there is."""
        return True

    @property
    def cell_names(self) -> Collection[str]:
        """The names of the runs in a sample, if it is made of runs."""
        return ()

    def absent(self) -> str:
        """What is needed and not at hand, for people; empty if nothing is."""
        return ""

    def played_seeds(self, seeds: Sequence[int]) -> Sequence[int]:
        """Those of the seeds that are played."""
        return seeds if self.varies_with_seed else ()

    def calls(self, seeds: Sequence[int]) -> Sequence[Call]:  # noqa: ARG002
        """What is to be computed for these seeds."""
        return ()

    def samples(self, seeds: Sequence[int], found: Mapping[str, bytes]) -> Sequence[SampleT]:
        """The samples, in the order of seeds, from what was computed."""
        raise NotImplementedError

    def digests(self, samples: Sequence[SampleT]) -> Sequence[tuple[str, int, str]]:  # noqa: ARG002
        """What was played, with its seed and the run's digest."""
        return ()


class Quantity(msgspec.Struct, Generic[SampleT], frozen=True, kw_only=True):
    """A figure of ours, and what the paper says of it.

    `value` takes it from a sample; None where the sample has none.  `printed` is the paper's
    number, None where only a curve is printed.  `below` and `above` are the side on which a
    sentence of the paper puts it: a ratio that is said to be an improvement is below 1.  A
    `share` is of 1, and written in per cent.  With `mean` ours is the mean over the samples, with
    Student's interval, instead of their median.  `pooled` takes it from all samples at once, for
    figures of all runs together.  `verdict_class` is the artefact's unless it is said.
    """

    label: str
    value: Callable[[SampleT], float | None] | None = None
    pooled: Callable[[Sequence[SampleT]], float | None] | None = None
    unit: str = ""
    printed: float | None = None
    below: float | None = None
    above: float | None = None
    share: bool = False
    exact: bool = False
    mean: bool = False
    verdict_class: VerdictClass | None = None

    @property
    def margin(self) -> float:
        """How far from the printed number our interval may reach to be equivalent to it."""
        if self.printed is None:
            return 0.0
        if self.exact:
            return EXACT_MARGIN * abs(self.printed)
        limits = [end for end in (self.below, self.above) if end is not None]
        limits += [0.0, 1.0] if self.share else []
        near = [LIMIT_MARGIN * abs(self.printed - limit) for limit in limits]
        return min([SHARE_MARGIN if self.share else NUMBER_MARGIN * abs(self.printed), *near])

    @property
    def has_side(self) -> bool:
        return self.below is not None or self.above is not None

    def on_its_side(self, ours: float) -> bool:
        """Whether ours is where the paper's sentence puts it."""
        below = self.below is None or ours < self.below
        return below and (self.above is None or ours > self.above)


def refuse_unknown_cells(
    artefact: str, evidence: Evidence[Any], quantities: Sequence[Quantity[Any]]
) -> None:
    """ValueError if a quantity is a figure of cells that the evidence does not have."""
    for each in quantities:
        if not isinstance(each.value, SampleFigure):
            continue
        unknown = [cell for cell in each.value.cells if cell not in evidence.cell_names]
        if unknown:
            there = ", ".join(evidence.cell_names)
            told = f"{artefact}, {each.label}: no cell {', '.join(unknown)}; there are {there}"
            raise ValueError(told)


SEEDS = 20

MORE_SEEDS = 60
"""Where the verdict of `SEEDS` would be another if intervals were half as wide again: so near a
border every other set of seeds says otherwise; also where fresh seeds did.
"""

MANY_SEEDS = 200
"""Where `MORE_SEEDS` lie near their border as well."""


class Artefact(msgspec.Struct, Generic[SampleT], frozen=True, kw_only=True):
    """A table, figure or sentence.

    `says` is the paper's claim in our words.  `why` explains a verdict other than reproduced; if
    it is empty that is unexplained.  `fitted_on` says which parameter of ours was chosen by which
    of the paper's numbers.  `draw` makes a matplotlib figure of the samples.  `seeds` and `quick`
    are how many are played unless told: `SEEDS`, or fewer where a seed takes long, or more near a
    border (`MORE_SEEDS`, `MANY_SEEDS`).
    """

    id: str
    paper: Paper
    place: str
    says: str
    evidence: Evidence[SampleT]
    quantities: tuple[Quantity[SampleT], ...]
    verdict_class: VerdictClass = VerdictClass.PREDICTED
    fitted_on: str = ""
    why: str = ""
    draw: Callable[[Sequence[SampleT]], Any] | None = None
    seeds: int = SEEDS
    quick: int = 1

    def __post_init__(self) -> None:
        refuse_unknown_cells(self.id, self.evidence, self.quantities)

    def class_of(self, quantity: Quantity[SampleT]) -> VerdictClass:
        """The class of one of its quantities."""
        return quantity.verdict_class or self.verdict_class

    @property
    def classes(self) -> list[VerdictClass]:
        """The classes of its quantities, each once."""
        found = {self.class_of(each) for each in self.quantities}
        return [each for each in VerdictClass if each in found]


AnyArtefact = Artefact[Any]
