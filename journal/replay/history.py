"""The data of a run's charts: running sums, sampled at even steps of virtual time.

However long the run, there are at most `_SAMPLES_MAX` samples: when there are more, every other one
goes and the step doubles.  Sums are exact at their samples, so only resolution is lost.
"""

from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary.events import Mark
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import Charts
from callboard.scheduler.model import Millis

_Floats = NDArray[np.float64]

_SAMPLES_MAX = 4096
_FIRST_STEP_MS = 500
_MINUTE_MS = 60_000


class RunHistory:
    """Sums over the run so far; `next_sample_ms` is when the next sample is due."""

    def __init__(self) -> None:
        self.next_sample_ms: Millis = 0
        self._step_ms: Millis = _FIRST_STEP_MS
        self._sums = [array("q") for _ in range(6)]
        self._mark_times = array("q")
        self._mark_kinds = bytearray()

    def sample(self, at_ms: Millis, cluster: ClusterState) -> None:
        """Take the samples due up to `at_ms`; nothing has happened since `cluster` was so."""
        while self.next_sample_ms <= at_ms:
            for column, total in zip(
                self._sums, _running_sums(cluster, self.next_sample_ms), strict=True
            ):
                column.append(total)
            self.next_sample_ms += self._step_ms
            if len(self._sums[0]) > _SAMPLES_MAX:
                self._sums = [column[::2] for column in self._sums]
                self._step_ms *= 2
                self.next_sample_ms = len(self._sums[0]) * self._step_ms

    def mark(self, at_ms: Millis, kind: Mark) -> None:
        self._mark_times.append(at_ms)
        self._mark_kinds.append(kind)

    def marks(self) -> Iterator[tuple[Millis, Mark]]:
        """All marks, in the order of time."""
        for at_ms, kind in zip(self._mark_times, self._mark_kinds, strict=True):
            yield at_ms, Mark(kind)

    def next_mark(
        self,
        at_ms: Millis,
        kind: Mark | None = None,
        *,
        back: bool = False,
        or_here: bool = False,
    ) -> Millis | None:
        """The next moment with a mark, or with one of that kind; or the one before.  With `or_here`
        it is this moment if it has one.
        """
        times = np.frombuffer(self._mark_times, np.int64)
        if kind is not None:
            times = times[np.frombuffer(self._mark_kinds, np.uint8) == kind]
        after = np.searchsorted(times, at_ms, "left" if or_here else "right")
        place = np.searchsorted(times, at_ms, "left") - 1 if back else after
        return int(times[place]) if 0 <= place < len(times) else None

    def charts(
        self, columns: int, end_ms: Millis, last_state: ClusterState, until_ms: Millis
    ) -> Charts:
        """The run from its start to `until_ms`; `last_state` is its state at `end_ms`, after which
        nothing is known.
        """
        held = np.arange(len(self._sums[0]), dtype=np.float64) * self._step_ms
        now = _running_sums(last_state, end_ms)
        held = np.append(held[held < end_ms], end_ms)
        edges = np.linspace(0, max(until_ms, 1), columns + 1)
        spans = np.minimum(edges[1:], max(end_ms, 1)) - edges[:-1]
        spans[spans <= 0] = np.nan
        maps, reduces, jobs, launched, local, wasted = (
            np.diff(np.interp(edges, held, _samples_with_present(column, len(held) - 1, total)))
            for column, total in zip(self._sums, now, strict=True)
        )
        slots = [max(each, 1) for each in last_state.slots]
        with np.errstate(divide="ignore", invalid="ignore"):
            return Charts(
                maps=(maps / spans / slots[0]).tolist(),
                reduces=(reduces / spans / slots[1]).tolist(),
                jobs=(jobs / spans).tolist(),
                local=np.where(launched > 1e-6, local / launched, np.nan).tolist(),
                wasted=(wasted / _MINUTE_MS).tolist(),
                peaks=(
                    last_state.peaks[0] / slots[0],
                    last_state.peaks[1] / slots[1],
                    last_state.peaks[2],
                ),
                marks=self._marks_by_column(columns, until_ms),
            )

    def _marks_by_column(self, columns: int, end_ms: Millis) -> bytes:
        row = np.zeros(columns, np.uint8)
        times = np.frombuffer(self._mark_times, np.int64)
        if len(times):
            places = np.minimum(times * columns // max(end_ms, 1), columns - 1)
            np.maximum.at(row, places, np.frombuffer(self._mark_kinds, np.uint8))
        return row.tobytes()


def _running_sums(cluster: ClusterState, at_ms: Millis) -> tuple[int, ...]:
    """The sums at `at_ms`; nothing has happened since `cluster` was so."""
    maps = sum(cluster.run.levels), cluster.run.levels[0]
    return (*cluster.busy_and_jobs_ms(at_ms), *maps, cluster.wasted_ms)


def _samples_with_present(sums: "array[int]", known: int, total: int) -> _Floats:
    """The first samples of a sum, then its present value."""
    return np.append(np.frombuffer(sums, np.int64)[:known], total).astype(np.float64)
