"""Job sizes that are dealt like cards: each job of a published list exactly once, in random order,
then again in another.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from callboard.actors.kernel.streams import Stream
from callboard.scenarios import fields, published
from callboard.scenarios.sizes import JobSize, reduces_for, shuffled

_DECK = "workload/deck"

Shape = tuple[int, float]
"""How many maps a job has, and the seconds of one."""


class GpMix(fields.TableOfKind, frozen=True, kw_only=True, tag="gp-mix"):
    """Global preemption's Table III: its 130 jobs once each, in random order, then again in
    another.

    The table has maps only; `maps_per_reduce` above 0 adds reduces.  The `variant` `io` is 130
    instances of Grep.  In `mixed` 34 of the 130 are Aggregate and 15 are Join, each of which is
    three jobs on end; there only these have reduces, and Grep none.

    `production_share` of each 130 (the paper's experiments: 0.30) go to the pool `production_pool`,
    the others to `other_pool`; the long job is never production, since what production does to it
    is the experiment.  With `long_place` it comes so late in the first 130 (the paper: at place 1,
    66 or 92) and never again.
    """

    JOBS: ClassVar[int] = 130

    variant: Literal["io", "mixed"] = "io"
    production_share: fields.Share = 0.0
    production_pool: str = "production"
    other_pool: str = ""
    long_place: Annotated[int, Meta(ge=1, le=130)] | None = None
    maps_per_reduce: fields.ReduceCount = 0
    shuffle_s: fields.Seconds = 10.0
    reduce_s: fields.Seconds = 20.0

    def sizes(self, seed: int, jobs: int) -> list[JobSize]:
        deck = list(self._deck())
        shortest = len(deck) - (self.long_place is not None)
        decks = (self._deal(seed, n, deck) for n in range(fields.ceil_div(jobs, shortest)))
        return [size for dealt in decks for size in dealt][:jobs]

    def _deal(self, seed: int, number: int, deck: list[JobSize]) -> list[JobSize]:
        order = shuffled(Stream(seed, _DECK), number, len(deck))
        long = max(range(len(deck)), key=lambda i: deck[i].map_ms)
        if self.long_place is not None:
            order.remove(long)
            if number == 0:
                order.insert(self.long_place - 1, long)
        luck = shuffled(Stream(seed, "workload/production"), number, len(deck))
        luck.remove(long)
        chosen = set(luck[: round(self.production_share * len(deck))])
        pools = [self.production_pool if i in chosen else self.other_pool for i in order]
        return [
            msgspec.structs.replace(deck[i], pool=pool)
            for i, pool in zip(order, pools, strict=True)
        ]

    def _deck(self) -> Iterator[JobSize]:
        if self.variant == "io":
            yield from (self._size("gp", *shape) for shape in table_three())
            return
        left = {kind: list(shapes) for kind, shapes in published.GP_MIXED.items()}
        for shape in table_three():
            kind = next((kind for kind, shapes in left.items() if shape in shapes), "grep")
            if kind != "grep":
                left[kind].remove(shape)
            yield self._size(kind, *shape)

    def _size(self, kind: str, maps: int, seconds: float) -> JobSize:
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


def table_three() -> list[Shape]:
    """The 130 jobs of Table III in the order of print: maps, and seconds of a map."""
    return [
        (maps, seconds)
        for maps, lengths in published.GP_MIX
        for seconds, count in lengths
        for _ in range(count)
    ]


class FacebookBins(fields.TableOfKind, frozen=True, kw_only=True, tag="facebook-bins"):
    """Delay scheduling's macrobenchmark: 100 jobs in nine bins by their number of maps, in random
    order, then again in another.

    How long a map takes is not printed.  One that only reads takes `io_s`: global preemption, whose
    workload is adapted from this one, says “less than 6 s” for a block of 128 MB.  One that
    computes takes `cpu_s`, ours.  `load` `io` has the former, `cpu` the latter; in `mixed` every
    second job of a bin computes.
    """

    JOBS: ClassVar[int] = 100

    load: Literal["io", "cpu", "mixed"] = "io"
    io_s: fields.PositiveSeconds = 6.0
    cpu_s: fields.PositiveSeconds = 20.0

    def sizes(self, seed: int, jobs: int) -> list[JobSize]:
        decks = (self._deal(seed, n) for n in range(fields.ceil_div(jobs, self.JOBS)))
        return [size for dealt in decks for size in dealt][:jobs]

    def _deal(self, seed: int, number: int) -> list[JobSize]:
        deck = [
            (bin_, maps, nth)
            for bin_, (maps, count) in enumerate(published.FACEBOOK_BINS, 1)
            for nth in range(count)
        ]
        order = shuffled(Stream(seed, _DECK), number, len(deck))
        return [self._size(*deck[i]) for i in order]

    def _size(self, bin_: int, maps: int, nth: int) -> JobSize:
        """The `nth` of its bin, every second of which computes where loads are mixed."""
        computes = self.load == "cpu" or (self.load == "mixed" and nth % 2 == 1)
        return JobSize(
            label=f"{'cpu' if computes else 'io'}-bin{bin_}",
            maps=maps,
            map_ms=fields.task_ms(self.cpu_s if computes else self.io_s),
        )
