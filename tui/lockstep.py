"""Two runs beside each other, always at the same virtual time."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from callboard.scheduler.model import Millis
from callboard.tui.frame import Frame, Parting, Versus, View
from callboard.tui.head import Head
from callboard.tui.projector import project
from callboard.tui.source import GoTo, Move, Request, Stay, Step, StepKind
from callboard.tui.tape import Tape
from callboard.tui.versus import Partings, figures, pair_rows

_STRIDE_MS = 5_000
"""How far both go on at a time while it is looked for where they part."""


class Side(Protocol):
    """One of two runs."""

    tape: Tape
    head: Head

    def advance(self, move: Move) -> None:
        """Go where the move leads, or as near to it as can be."""


class Lockstep:
    """Two runs; `answer` moves both.

    A run that is over stays at its end while the other goes on.  Moves by events (the next end of
    a job, a fault) are by those of the run in front, or of the other when it is over.
    """

    def __init__(self, first: Side, second: Side, wanted: Callable[[], bool]) -> None:
        self._sides = first, second
        self._wanted = wanted
        self._partings = Partings(self._tapes())

    def answer(self, request: Request) -> Frame:
        """Move both, and show them."""
        assert isinstance(request.move, Move), request
        self._advance(request.move, request.view.lead)
        return self._frame(request.view)

    def _tapes(self) -> tuple[Tape, Tape]:
        return self._sides[0].tape, self._sides[1].tape

    def _over(self, side: Side) -> bool:
        return side.tape.closed and side.head.at_ms >= side.tape.end_ms

    @property
    def at_ms(self) -> Millis:
        """The present moment."""
        return max(side.head.at_ms for side in self._sides)

    @property
    def end_ms(self) -> Millis:
        """How far either is known."""
        return max(tape.end_ms for tape in self._tapes())

    def _advance(self, move: Move, lead: int) -> None:
        for side in self._sides:
            side.head.reached = False
        match move:
            case Stay():
                return
            case GoTo(at_ms=at_ms):
                self._to(self.end_ms if at_ms is None else at_ms)
            case Step(kind=StepKind.PARTING):
                self._to_parting()
            case _:
                back = isinstance(move, Step) and move.back
                front = self._sides[lead]
                if self._over(front) and not back:
                    front = self._sides[1 - lead]
                front.advance(move)
                self._to(front.head.at_ms)

    def _to(self, at_ms: Millis) -> None:
        """Both to a moment, or as far as the slower one comes."""
        for side in self._sides:
            if side.head.at_ms != at_ms:
                side.advance(GoTo(at_ms))
        going = [side.head.at_ms for side in self._sides if not self._over(side)]
        for side in self._sides:
            if going and side.head.at_ms > min(going):
                side.advance(GoTo(min(going)))

    def _to_parting(self) -> None:
        """To where the runs part; that is looked for as long as nothing else is asked."""
        while (found := self._look()) is None:
            before_ms = self.at_ms
            self._to(before_ms + _STRIDE_MS)
            if self.at_ms == before_ms or self._wanted():
                return
        self._to(found)

    def _look(self) -> Millis | None:
        found = self._parting()
        return None if found is None else found.at_ms

    def _parting(self) -> Parting | None:
        """Where they part, as far as both are known; a run played anew has a new tape."""
        if self._partings.tapes != self._tapes():
            self._partings = Partings(self._tapes())
        return self._partings.look()

    def _frame(self, view: View) -> Frame:
        """Both runs at this moment."""
        at_ms, end_ms, tapes = self.at_ms, self.end_ms, self._tapes()
        frames = [project(side.tape, side.head.index, at_ms, view, end_ms) for side in self._sides]
        stages = (
            tapes[0].stage_at(self._sides[0].head.index),
            tapes[1].stage_at(self._sides[1].head.index),
        )
        rows, top, found = pair_rows(stages, at_ms, view)
        both = figures(tapes, stages, at_ms)
        versus = Versus(
            lead=view.lead,
            other=frames[1 - view.lead],
            figures=both[0],
            common=both[1],
            rows=rows,
            rows_top=top,
            rows_found=found,
            parting=self._parting(),
        )
        complete = all(tape.closed for tape in tapes)
        return msgspec.structs.replace(
            frames[view.lead],
            complete=complete,
            reached=any(side.head.reached for side in self._sides),
            versus=versus,
        )
