"""Two runs at the same virtual time."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from callboard.journal.replay.colouring import chosen_colour_by
from callboard.journal.replay.comparison import DivergenceSearch, compare_figures, compare_jobs
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.frame import ColourBy, DivergencePoint, Frame, RunComparison, View
from callboard.journal.replay.projector import project
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.result_headline import compared_headline
from callboard.journal.replay.source import GoTo, Halt, Move, Play, Stay, Step, StepKind
from callboard.scheduler.model import Millis

_STRIDE_MS = 5_000
"""How far both go on at a time in search of their divergence."""


class ComparedRun(Protocol):
    """One of two runs."""

    recording: Recording
    cursor: Cursor

    def carry_out_move(self, move: Move) -> Move | None:
        """Move there, or as near as can be; what is left of the move, if it was interrupted."""


class Lockstep:
    """Two runs; `carry_out_move` moves both.

    A run that is over stays at its end while the other goes on.  Moves by events (the next end of
    a job, a fault) go by those of the run in front, or of the other when that is over.
    """

    def __init__(
        self, first: ComparedRun, second: ComparedRun, has_request: Callable[[], bool]
    ) -> None:
        self._sides = first, second
        self._has_request = has_request
        self._divergences = DivergenceSearch(self._both_recordings())

    def _both_recordings(self) -> tuple[Recording, Recording]:
        return self._sides[0].recording, self._sides[1].recording

    @property
    def at_ms(self) -> Millis:
        return max(side.cursor.at_ms for side in self._sides)

    @property
    def end_ms(self) -> Millis:
        """The last moment known of either."""
        return max(recording.end_ms for recording in self._both_recordings())

    def carry_out_move(self, move: Move, lead: int) -> Move | None:
        """Move both; what is left of the move, if something else was asked on the way."""
        for side in self._sides:
            side.cursor.reached = False
        match move:
            case Stay() | Halt():
                return None
            case GoTo(at_ms=at_ms):
                return self._move_both_to(self.end_ms if at_ms is None else at_ms)
            case Step(kind=StepKind.DIVERGENCE):
                return self._move_to_divergence(move)
        back = isinstance(move, Step) and move.back
        front = self._sides[lead]
        if front.cursor.is_at_end and not back:
            front = self._sides[1 - lead]
        if (left := front.carry_out_move(move)) is not None:
            return left
        left = self._move_both_to(front.cursor.at_ms)
        return None if isinstance(move, Play) else left

    def _move_both_to(self, at_ms: Millis) -> Move | None:
        """Move both to a moment, or as far as the slower one gets."""
        sides = [side for side in self._sides if side.cursor.at_ms != at_ms]
        left = [side.carry_out_move(GoTo(at_ms)) for side in sides]
        going = [side.cursor.at_ms for side in self._sides if not side.cursor.is_at_end]
        for side in self._sides:
            if going and side.cursor.at_ms > min(going):
                side.carry_out_move(GoTo(min(going)))
        return None if left.count(None) == len(left) else GoTo(at_ms)

    def _move_to_divergence(self, step: Step) -> Move | None:
        """Move to where the runs diverge; the search ends when there is another request."""
        while (found := self._find_divergence_so_far()) is None:
            before_ms = self.at_ms
            if self._move_both_to(before_ms + _STRIDE_MS) is not None or self._has_request():
                return step
            if self.at_ms == before_ms:
                return None
        return self._move_both_to(found.at_ms)

    def _find_divergence_so_far(self) -> DivergencePoint | None:
        """Where they diverge, as far as both are known; a run played anew has a new recording."""
        if self._divergences.recordings != self._both_recordings():
            self._divergences = DivergenceSearch(self._both_recordings())
        return self._divergences.search()

    def frame(self, view: View) -> Frame:
        """The frame of both runs at this moment."""
        at_ms, end_ms, recordings = self.at_ms, self.end_ms, self._both_recordings()
        one, other = places = [side.cursor.index for side in self._sides]
        by = chosen_colour_by(view.colour_by, recordings[0])
        view = msgspec.structs.replace(view, colour_by=by)
        frames = [
            project(each, place, at_ms, view, end_ms)
            for each, place in zip(recordings, places, strict=True)
        ]
        if by is ColourBy.JOB:  # a job has the colour in both that it has in the first
            frames[1] = msgspec.structs.replace(frames[1], hues=frames[0].hues)
        clusters = recordings[0].state_at(one), recordings[1].state_at(other)
        over = all(side.cursor.is_at_end for side in self._sides)
        failed = any(recording.failure for recording in recordings)
        view = msgspec.structs.replace(view, all_jobs=view.all_jobs or over)
        rows, top, found = compare_jobs(clusters, at_ms, view)
        comparison = RunComparison(
            lead=view.lead,
            other=frames[1 - view.lead],
            figures=compare_figures(recordings, clusters, at_ms),
            rows=rows,
            rows_top=top,
            rows_found=found,
            divergence=self._find_divergence_so_far(),
        )
        return msgspec.structs.replace(
            frames[view.lead],
            complete=all(recording.closed for recording in recordings),
            reached=any(side.cursor.reached for side in self._sides),
            comparison=comparison,
            headline=compared_headline(clusters) if over and not failed else None,
        )
