"""What an artefact is: a table, figure or sentence of a paper, and what of ours is held to it."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec

NUMBER_TOLERANCE = 0.25
"""Ours reproduces a printed number if it is no farther from it than this share of it ..."""

SHARE_TOLERANCE = 0.1
"""... and a printed share or percentage, of 1, if it is no farther than this."""

SIDE_TOLERANCE = 0.5
"""Where the paper puts it on one side of a limit, such as 1 for an improvement: and no farther than
this share of the printed number's own distance from the limit."""

SampleT = TypeVar("SampleT")
_SampleT_co = TypeVar("_SampleT_co", covariant=True)


class Paper(StrEnum):
    """The five papers, by the names that the command line has for them."""

    HFSP = "hfsp"
    SLIDES = "slides"
    REPORT = "report"
    HYBRID = "hybrid"
    GP = "gp"


PAPER_TITLES = {
    Paper.HFSP: "Pastorelli, Barbuzzi, Carra, Dell'Amico, Michiardi: HFSP",
    Paper.SLIDES: "Zaharia et al.: Delay scheduling (slides)",
    Paper.REPORT: "Dell'Amico: A simulator for data-intensive job scheduling (RR-13-282)",
    Paper.HYBRID: "Rasooli, Down: A hybrid scheduling approach (COSHH)",
    Paper.GP: "Cheng, Zhang, Boutaba: Global preemption (CNSM 2011)",
}


class Call(NamedTuple):
    """A function with what it is given: what a worker does, and what its answer is kept under.  A
    `small` one takes less time than a worker needs to start.
    """

    key: str
    function: Callable[..., bytes]
    arguments: tuple[Any, ...]
    small: bool = False


class Evidence(Protocol[_SampleT_co]):
    """What has to be computed, and what comes of it: one sample for each draw of the world."""

    def absent(self) -> str:
        """What is needed and not at hand, for people; empty if nothing is."""

    def used(self, seeds: Sequence[int]) -> Sequence[int]:
        """Those of the seeds that change anything."""

    def calls(self, seeds: Sequence[int]) -> Sequence[Call]:
        """What is to be computed for these seeds."""

    def samples(self, seeds: Sequence[int], found: Mapping[str, bytes]) -> Sequence[_SampleT_co]:
        """The samples, in the order of seeds, from what was computed."""

    def digests(self, samples: Sequence[Any]) -> Sequence[tuple[str, int, str]]:
        """What was played, with its seed and the run's digest."""


class Quantity(msgspec.Struct, Generic[SampleT], frozen=True, kw_only=True):
    """A figure of ours, and what the paper says of it.

    `value` takes it from a sample; None where the sample has none.  `printed` is the paper's
    number, None where only a curve is printed.  `below` and `above` are the side on which a
    sentence of the paper puts it: a ratio that is said to be an improvement is below 1.  A
    `share` is of 1, and written in per cent.  `pooled` takes it from all samples at once instead,
    for figures of all runs together; it has no interval.
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

    @property
    def allowed(self) -> float:
        """How far from the printed number ours may be to reproduce it."""
        if self.printed is None or self.exact:
            return 1e-9 if self.printed is None else 0.005 * abs(self.printed)
        whole = SHARE_TOLERANCE if self.share else NUMBER_TOLERANCE * abs(self.printed)
        sides = [abs(self.printed - end) for end in (self.below, self.above) if end is not None]
        return min([whole, *(SIDE_TOLERANCE * side for side in sides)])

    @property
    def has_side(self) -> bool:
        return self.below is not None or self.above is not None

    def on_its_side(self, ours: float) -> bool:
        """Whether ours is where the paper's sentence puts it."""
        below = self.below is None or ours < self.below
        return below and (self.above is None or ours > self.above)


class Artefact(msgspec.Struct, Generic[SampleT], frozen=True, kw_only=True):
    """A table, figure or sentence.

    `says` is the paper's claim in our words.  `why` explains a verdict other than reproduced; if
    it is empty that is unexplained.  `draw` makes a matplotlib figure of the samples.  `seeds` and
    `quick` are how many are played unless told.
    """

    id: str
    paper: Paper
    place: str
    says: str
    evidence: Evidence[SampleT]
    quantities: tuple[Quantity[SampleT], ...]
    why: str = ""
    draw: Callable[[Sequence[SampleT]], Any] | None = None
    seeds: int = 10
    quick: int = 1


AnyArtefact = Artefact[Any]
