"""Job sizes that are dealt like cards: each job of a published list exactly once, in random order,
then again in another.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from callboard.actors.kernel.streams import Stream
from callboard.scenarios import fields, published
from callboard.scenarios.sizes import JobSize, reduces_for, shuffled_numbers

_DECK = "workload/deck"

Shape = tuple[int, float]
"""How many maps a job has, and the seconds of one."""


class GpMix(fields.TableOfKind, frozen=True, kw_only=True, tag="gp-mix"):
    """Global preemption's Table III: its 130 jobs once each, in random order, then again in
    another.
    """

    JOBS: ClassVar[int] = 130

    variant: Literal["io", "mixed"] = "io"
    """The paper's two workloads.  `io` is 130 instances of Grep; in `mixed` 34 (10,608 maps) are
    Aggregate and 15 are Join: three equal jobs on end, 160 jobs in all.  Which they are is ours;
    the four printed sums hold.
    """
    production_share: fields.Share = 0.0
    """The share of each 130 that goes to `production_pool` (the paper: 0.30, that is 39); never the
    long job, since what production does to it is the experiment.
    """
    production_pool: str = "production"
    """The pool of production."""
    other_pool: str = ""
    """The pool of the others."""
    long_place: Annotated[int, Meta(ge=1, le=130)] | None = None
    """The long job's place in the first 130 (the paper: 1, 66, 92); it does not come again then."""
    maps_per_reduce: fields.ReduceCount = 0
    """The table has maps only; above 0 adds reduces, in `mixed` to Aggregate and Join alone."""
    shuffle_s: fields.Seconds = 10.0
    """Of these reduces.  Ours."""
    reduce_s: fields.Seconds = 20.0
    """Of these reduces, after their shuffle.  Ours."""

    def sizes(self, seed: int, jobs: int) -> list[JobSize]:
        deck = list(self._unshuffled_deck())
        shortest = len(deck) - (self.long_place is not None)
        decks = (self._dealt_deck(seed, n, deck) for n in range(fields.ceil_div(jobs, shortest)))
        return [size for dealt in decks for size in dealt][:jobs]

    def _dealt_deck(self, seed: int, number: int, deck: list[JobSize]) -> list[JobSize]:
        order = shuffled_numbers(Stream(seed, _DECK), number, len(deck))
        long = max(range(len(deck)), key=lambda i: deck[i].map_ms)
        if self.long_place is not None:
            order.remove(long)
            if number == 0:
                order.insert(self.long_place - 1, long)
        luck = shuffled_numbers(Stream(seed, "workload/production"), number, len(deck))
        luck.remove(long)
        chosen = set(luck[: round(self.production_share * len(deck))])
        pools = [self.production_pool if i in chosen else self.other_pool for i in order]
        return [
            msgspec.structs.replace(deck[i], pool=pool)
            for i, pool in zip(order, pools, strict=True)
        ]

    def _unshuffled_deck(self) -> Iterator[JobSize]:
        if self.variant == "io":
            yield from (self._job_size("gp", *shape) for shape in jobs_of_table_three())
            return
        left = {kind: list(shapes) for kind, shapes in published.GP_MIXED.items()}
        for shape in jobs_of_table_three():
            kind = next((kind for kind, shapes in left.items() if shape in shapes), "grep")
            if kind != "grep":
                left[kind].remove(shape)
            yield self._job_size(kind, *shape)

    def _job_size(self, kind: str, maps: int, seconds: float) -> JobSize:
        reduces = 0 if kind == "grep" else reduces_for(maps, self.maps_per_reduce)
        return JobSize(
            label=f"{kind}{maps}",
            maps=maps,
            map_ms=fields.task_ms(seconds),
            reduces=reduces,
            shuffle_ms=fields.to_ms(self.shuffle_s) if reduces else 0,
            reduce_ms=fields.to_ms(self.reduce_s) if reduces else 0,
            stages=published.GP_JOIN_JOBS if kind == "join" else 1,
        )


def jobs_of_table_three() -> list[Shape]:
    """The 130 jobs of Table III in the order of print: maps, and seconds of a map."""
    return [
        (maps, seconds)
        for maps, lengths in published.GP_MIX
        for seconds, count in lengths
        for _ in range(count)
    ]


class FacebookBins(fields.TableOfKind, frozen=True, kw_only=True, tag="facebook-bins"):
    """Delay scheduling's macrobenchmark: 100 jobs in nine bins by their number of maps, each
    exactly once, in random order, then again in another: 38 of 1 map, 16 of 2, 14 of 10, 8 of 50, 6
    of 100, 6 of 200, 4 of 400, 4 of 800, 4 of 4,800.  How long a map takes is not printed.
    """

    JOBS: ClassVar[int] = 100

    load: Literal["io", "cpu", "mixed"] = "io"
    """Whether all jobs only read (`io`), all compute (`cpu`), or every second job of a bin
    computes.
    """
    io_s: fields.PositiveSeconds = 6.0
    """Of a map that only reads: global preemption, whose workload is adapted from this one, says
    “less than 6 s” for a block of 128 MB.
    """
    cpu_s: fields.PositiveSeconds = 20.0
    """Of a map that computes.  Ours."""

    def sizes(self, seed: int, jobs: int) -> list[JobSize]:
        decks = (self._dealt_deck(seed, n) for n in range(fields.ceil_div(jobs, self.JOBS)))
        return [size for dealt in decks for size in dealt][:jobs]

    def _dealt_deck(self, seed: int, number: int) -> list[JobSize]:
        deck = [
            (bin_, maps, nth)
            for bin_, (maps, count) in enumerate(published.FACEBOOK_BINS, 1)
            for nth in range(count)
        ]
        order = shuffled_numbers(Stream(seed, _DECK), number, len(deck))
        return [self._job_size(*deck[i]) for i in order]

    def _job_size(self, bin_: int, maps: int, nth: int) -> JobSize:
        """The `nth` of its bin; where loads are mixed, every second one computes."""
        computes = self.load == "cpu" or (self.load == "mixed" and nth % 2 == 1)
        return JobSize(
            label=f"{'cpu' if computes else 'io'}-bin{bin_}",
            maps=maps,
            map_ms=fields.task_ms(self.cpu_s if computes else self.io_s),
        )
