"""Probes: who looks at one actor while it answers its messages, and changes nothing.

`Kernel.probe` puts a probe beside an actor's answers; an actor that has none pays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

if TYPE_CHECKING:
    from callboard.actors.kernel.actor import Actor, Answer


class Probe:
    """Looks on while an actor answers a message of the type `looks_at`."""

    looks_at: ClassVar[type[msgspec.Struct]] = msgspec.Struct

    def before_message(self, actor: Any, message: Any) -> None:
        """The message is about to be answered."""

    def after_message(self, actor: Any, message: Any, noted: Sequence[Any]) -> None:
        """It has been answered; `noted` are the events of its answer."""

    def probed_answers(self, actor: Actor[Any]) -> dict[type[msgspec.Struct], Answer]:
        """The actor's answers, with this probe beside those that it looks at."""
        return {
            kind: self._probed_answer(answer) if issubclass(kind, self.looks_at) else answer
            for kind, answer in actor.answers.items()
        }

    def _probed_answer(self, answer: Answer) -> Answer:
        def probed(actor: Actor[Any], message: msgspec.Struct) -> None:
            self.before_message(actor, message)
            notes = actor._kernel.notes
            known = len(notes)
            answer(actor, message)
            self.after_message(actor, message, notes[known:])

        return probed
