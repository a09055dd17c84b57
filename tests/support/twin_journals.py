"""Where the journal that the twin writes and that of the actors first differ."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from callboard.actors.vocabulary.events import AnyEvent, RunEnded
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.experiments.run.twin_play import run_by_twin
from callboard.journal.reader import Journal
from callboard.twin.play_loop import play_instants
from callboard.twin.twin_run import PlayLoop

_encoded = msgspec.msgpack.Encoder(order="deterministic").encode


def disagreement_of_journals(
    spec: RunSpec, play: PlayLoop = play_instants, instants: int = 1 << 20
) -> str | None:
    """Where an event first differs in any field; None if none does.  The twin's are written after
    that many instants, and read back.  CannotPlay for what it leaves to the actors.
    """

    def play_some(tables: Any, most: int) -> int:
        return play(tables, min(most, instants))

    with TemporaryDirectory() as folder:
        journal = Path(folder, "twin.journal")
        run_by_twin(spec, play=play_some, journal=journal)
        compared = _Compared(chain(Journal(journal), [None]))
        Simulation(spec, [compared.compare]).run()
        return compared.found or compared.left_over()


class _Compared:
    """Events as they come, beside those that were recorded."""

    def __init__(self, recorded: Iterator[AnyEvent | None]) -> None:
        self._recorded = recorded
        self._number = 0
        self.found: str | None = None

    def compare(self, event: AnyEvent) -> None:
        if self.found is not None:
            return
        recorded = next(self._recorded)
        if recorded is None or _told(event) != _told(recorded):
            told = f"the actors tell {event}, the twin {recorded}"
            self.found = f"event {self._number}: {told}"
        self._number += 1

    def left_over(self) -> str | None:
        more = next(self._recorded)
        return None if more is None else f"the twin goes on: {more}"


def _told(event: AnyEvent) -> bytes:
    """All of an event, byte for byte, but what is told of messages."""
    if isinstance(event, RunEnded):
        event = RunEnded(event.at_ms, event.reason, None, None, "", cause=event.cause)
    return _encoded(event)
