"""Leads through a tour: which step is shown, what it goes to, and when the next one comes."""

from typing import TYPE_CHECKING

from callboard.journal.replay.frame import Frame
from callboard.journal.replay.source import GoTo
from callboard.journal.tell.time_format import axis_time
from callboard.scenarios.tour import Tour, TourStep
from callboard.scheduler.model import Millis
from callboard.tui.playback import Playback

if TYPE_CHECKING:
    from callboard.tui.app import CallboardApp

_SPACE = "space"


class TourGuide:
    """One tour on one screen.  After its steps come the question for a class, and the answer.

    Of the app it uses `select`, `action_focus_pane` and `caption` only.
    """

    def __init__(self, tour: Tour, app: "CallboardApp", playback: Playback) -> None:
        self.tour = tour
        questions = (f"A question for the class: {tour.question}", f"An answer: {tour.answer}")
        self.pages = (*tour.steps, *(TourStep(text=text) for text in questions))
        self.place = 0
        self._app = app
        self._playback = playback
        self._due_ms: Millis | None = None
        """When the next step comes by itself."""
        self._begun = False
        self._arriving = False
        """Whether the moment of the step is still to come, and its caption with it."""
        playback.opening_move = GoTo(tour.steps[0].at_ms or 0)

    @property
    def step(self) -> TourStep:
        return self.pages[self.place]

    @property
    def title(self) -> str:
        """Where in the tour this is, and the keys."""
        on = "  n next" if self.place + 1 < len(self.pages) else ""
        back = "  N back" if self.place else ""
        return f"tour, {self.place + 1} of {len(self.pages)}{on}{back}"

    def go(self, by: int) -> None:
        """Steps on, or back below 0, and to the moment of the step."""
        place = max(0, min(self.place + by, len(self.pages) - 1))
        if place == self.place:
            return
        self.place = place
        times = [step.at_ms for step in self.pages[: place + 1] if step.at_ms is not None]
        self._playback.player.stop()
        if times:
            self._arriving = True
            self._playback.ask(GoTo(times[-1]))
        else:
            self._show()

    def pressed(self, key: str) -> None:
        """A key has been handled: the one that is awaited leads on."""
        if not self.step.key or key != self.step.key:
            return
        following, player = self.pages[self.place + 1], self._playback.player
        if key != _SPACE:
            self.place += 1
            self._show()
        elif following.at_ms is not None and player.playing:
            self._due_ms = following.at_ms
            player.play_until(GoTo(following.at_ms), axis_time(following.at_ms))

    def arrived(self, frame: Frame) -> None:
        """A frame is shown: with the first one the tour begins; later ones may be at the moment of
        the next step.
        """
        if not self._begun:
            self._begun = True
            self._show()
        elif self._arriving:
            if not self._playback.waiting:
                self._show()
        elif self._due_ms is not None and frame.at_ms >= self._due_ms:
            self.place += 1
            self._show()

    def _show(self) -> None:
        self._due_ms, self._arriving = None, False
        step = self.step
        job, node = step.selection
        self._app.select(job=job, node=node)
        if step.pane:
            self._app.action_focus_pane(step.pane)
        self._app.caption(step.text, self.title)
