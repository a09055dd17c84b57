"""Two runs at one moment, compared: figures, jobs, and where they first part."""

from collections.abc import Collection

from callboard.actors.vocabulary.events import AnyEvent, FaultStruck, Outcome, RunEnded
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.journal.diff import same_decision
from callboard.journal.names import printable
from callboard.scheduler.model import JobId, Millis
from callboard.tui.frame import PAIR_KEYS, Figures, JobKey, PairRow, Parting, View
from callboard.tui.projector import job_row, running_in, sort_key, words
from callboard.tui.stage import Stage
from callboard.tui.story import contains, sentence
from callboard.tui.tally import Tally
from callboard.tui.tape import KINDS, Tape

Stages = tuple[Stage, Stage]

_SWITCHES = KINDS.index(FaultStruck)
_ENDED = KINDS.index(RunEnded)


def figures(
    tapes: tuple[Tape, Tape], stages: Stages, at_ms: Millis
) -> tuple[tuple[Figures, Figures], int]:
    """Both runs in figures, and how many jobs have succeeded in both."""
    responses = tuple(_responses(stage) for stage in stages)
    common = responses[0].keys() & responses[1].keys()
    first, second = (
        _figures(tape, stage, each, common, at_ms)
        for tape, stage, each in zip(tapes, stages, responses, strict=True)
    )
    return (first, second), len(common)


def _responses(stage: Stage) -> dict[JobId, Millis]:
    """How long each job took that has succeeded."""
    return {
        job: row.finished_ms - row.told.at_ms
        for job, row in stage.jobs.rows.items()
        if row.outcome is Outcome.SUCCEEDED and row.finished_ms is not None
    }


def _figures(
    tape: Tape, stage: Stage, responses: dict[JobId, Millis], common: set[JobId], at_ms: Millis
) -> Figures:
    over = tape.closed and at_ms >= tape.end_ms
    upto_ms = tape.end_ms if over else at_ms
    passed = upto_ms - stage.now_ms
    maps, reduces = (
        (busy_ms + busy * passed) / max(slots * upto_ms, 1)
        for busy_ms, busy, slots in zip(stage.busy_ms, stage.busy, stage.slots, strict=True)
    )
    submitted = len(stage.jobs.rows)
    return Figures(
        policy=stage.policy,
        done=len(responses),
        response_ms=_mean(responses.values()),
        common_ms=_mean([responses[job] for job in common]),
        inside_ms=(stage.jobs_ms + stage.in_system * passed) / submitted if submitted else None,
        busy=(maps, reduces),
        wasted=stage.wasted_ms / max(sum(stage.slots) * upto_ms, 1),
        over_ms=tape.end_ms if over else None,
    )


def _mean(values: Collection[Millis]) -> float | None:
    return sum(values) / len(values) if values else None


def pair_rows(stages: Stages, at_ms: Millis, view: View) -> tuple[list[PairRow], int, int]:
    """The rows of both tables of jobs in view, where they begin, and how many there are in all.

    A job is there as long as it is in either system.
    """
    tallies = stages[0].jobs, stages[1].jobs
    wanted = [each.rows if view.all_jobs else each.live for each in tallies]
    jobs = sorted(wanted[0].keys() | wanted[1].keys())
    front = tallies[view.lead].rows, tallies[1 - view.lead].rows
    rows = [front[0].get(job) or front[1][job] for job in jobs]
    if view.filter:
        rows = [row for row in rows if contains(words(row), view.filter)]
    key = view.jobs_key if view.jobs_key in PAIR_KEYS else JobKey.ID
    rows.sort(key=sort_key(key, at_ms), reverse=view.jobs_reverse)
    top = max(min(view.jobs_top, len(rows) - view.jobs_rows), 0)
    running = [running_in(stage) for stage in stages]
    shown = [
        _pair_row(
            row,
            (tallies[0].rows.get(row.told.job), tallies[1].rows.get(row.told.job)),
            at_ms,
            running,
        )
        for row in rows[top : top + view.jobs_rows]
    ]
    return shown, top, len(rows)


def _pair_row(
    row: Tally, sides: tuple[Tally | None, Tally | None], at_ms: Millis, running: list[int]
) -> PairRow:
    first, second = (
        None if side is None else job_row(side, at_ms, on)
        for side, on in zip(sides, running, strict=True)
    )
    ends = [None if side is None else side.finished_ms for side in sides]
    sooner = None if ends[0] is None or ends[1] is None else ends[0] - ends[1]
    return PairRow(row.told.job, printable(row.told.name), (first, second), sooner)


class Partings:
    """Looks for the first event at which two tapes part, as far as both are known.

    The runs' beginnings, and switches of policy from outside, are left out: that the policies are
    not the same is why the runs are compared.
    """

    def __init__(self, tapes: tuple[Tape, Tape]) -> None:
        self.tapes = tapes
        self.found: Parting | None = None
        self._places = [1, 1]

    def look(self) -> Parting | None:
        """Compare what has come; what was found."""
        tapes, places = self.tapes, self._places
        while self.found is None:
            for side, tape in enumerate(tapes):
                while places[side] < len(tape) and self._is_switch(side):
                    places[side] += 1
            known = [places[side] < len(tape) for side, tape in enumerate(tapes)]
            if not all(known):
                break
            if not self._same():
                self.found = self._parting()
            self._places = places = [place + 1 for place in places]
        return self.found

    def _is_switch(self, side: int) -> bool:
        tape, place = self.tapes[side], self._places[side]
        if tape.kinds[place] != _SWITCHES:
            return False
        event = tape.event(place)
        return isinstance(event, FaultStruck) and isinstance(event.fault, SwitchPolicy)

    def _events(self) -> tuple[AnyEvent, AnyEvent]:
        first, second = (
            tape.event(place) for tape, place in zip(self.tapes, self._places, strict=True)
        )
        return first, second

    def _same(self) -> bool:
        """Whether the next of both is the same, or decided the same for another reason."""
        (a, b), (i, j) = self.tapes, self._places
        if a.kinds[i] != b.kinds[j] or a.times[i] != b.times[j]:
            return False
        return a.kinds[i] == _ENDED or a.raw(i) == b.raw(j) or same_decision(*self._events())

    def _parting(self) -> Parting:
        first, second = (
            sentence(tape, place, event)
            for tape, place, event in zip(self.tapes, self._places, self._events(), strict=True)
        )
        at = min(tape.times[place] for tape, place in zip(self.tapes, self._places, strict=True))
        return Parting(at, (first, second))
