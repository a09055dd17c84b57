"""Leads through a tour: which step is shown, what it goes to, and when the next one comes."""

from math import inf
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

    Of the app it uses `select`, `action_focus_pane`, `caption` and `keymap` only.
    """

    def __init__(self, tour: Tour, app: "CallboardApp", playback: Playback) -> None:
        self.tour = tour
        questions = (f"A question for the class: {tour.question}", f"An answer: {tour.answer}")
        self.pages = (*tour.steps, *(TourStep(text=text) for text in questions))
        self.place = 0
        self._app = app
        self._playback = playback
        self._due_ms: float | None = None
        """When the next step comes by itself; infinite for the run's end."""
        self._bound_ms: Millis | None = tour.steps[0].at_ms or 0
        """The moment of the step while that is still to come, and its caption with it."""

    def begin(self) -> None:
        """The screen begins at the first step's moment and at rest, however others begin."""
        self._playback.player.stop()
        self._playback.opening_move = GoTo(self._bound_ms)

    @property
    def step(self) -> TourStep:
        return self.pages[self.place]

    @property
    def _is_last(self) -> bool:
        return self.place + 1 == len(self.pages)

    @property
    def _last_stated_moment_ms(self) -> Millis | None:
        """The moment of the step, or of the last one before it that has one."""
        times = [step.at_ms for step in self.pages[: self.place + 1] if step.at_ms is not None]
        return times[-1] if times else None

    @property
    def caption_title(self) -> str:
        """Where in the tour this is, and the keys."""
        play, on, back = (self._app.keymap.key_in_force(key) for key in (_SPACE, "n", "N"))
        ways = (
            f": the tour is over  {play} plays freely"
            if self._is_last
            else f"  {play} on  {on} next"
        )
        ways += f"  {back} back" * bool(self.place)
        return f"tour, {self.place + 1} of {len(self.pages)}{ways}"

    def go_steps(self, by: int) -> None:
        """Steps on, or back below 0, and to the moment of the step."""
        place = max(0, min(self.place + by, len(self.pages) - 1))
        if place == self.place:
            return
        self.place = place
        self._playback.player.stop()
        if self._last_stated_moment_ms is not None:
            self._bound_ms = self._last_stated_moment_ms
            self._playback.ask_frame(GoTo(self._bound_ms), tells_end=False)
        else:
            self._show_step()

    def play_or_pause(self) -> None:
        """Play up to the next step, or pause on the way; after the last one the tour is left."""
        bound_ms = self._bound_ms
        if self._playback.frame is None:
            return  # its panes are not there yet
        if bound_ms is not None:
            self._show_step()
        if self._playback.player.playing:
            self._playback.play_or_pause()
        elif self._is_last:
            self._app.show_caption("", "")
            self._playback.play_or_pause()
        elif bound_ms is None:
            self._play_to_next_step(self._playback.frame.at_ms, over=self._playback.frame.over)
        else:
            self._play_to_next_step(bound_ms or 0, over=False)

    def _play_to_next_step(self, now_ms: Millis, *, over: bool) -> None:
        """Play until the next step's moment.  One that has none comes at once, or at the run's end
        if the present step asks to play.
        """
        until_ms = self.pages[self.place + 1].at_ms
        if until_ms is None and (over or self.step.key != _SPACE):
            self._turn_page()
        elif until_ms is not None and (over or until_ms <= now_ms):
            self.go_steps(1)
        else:
            self._due_ms = inf if until_ms is None else until_ms
            text = "the end" if until_ms is None else axis_time(until_ms)
            self._playback.player.play_until(GoTo(until_ms), text)
            here = f"step {self.place + 1} was at {axis_time(self._last_stated_moment_ms or 0)}"
            title = f"tour: {here}, on to step {self.place + 2}, at {text}"
            self._app.show_caption(self.step.text, title)
            self._playback.ask_frame()

    def turn_page_on_key(self, key: str) -> None:
        """A key has been handled: the one that is awaited leads on, once the step is shown."""
        if self._bound_ms is None and self.step.key == key != _SPACE:
            self._turn_page()

    def note_frame(self, frame: Frame) -> None:
        """A frame is shown: the moment of this step may have come, or that of the next one."""
        if self._bound_ms is not None:
            if not self._playback.open_requests:
                self._show_step()
        elif self._due_ms is not None and (frame.at_ms >= self._due_ms or frame.over):
            self._turn_page()

    def _turn_page(self) -> None:
        """To the next page, at whatever moment this is."""
        self.place += 1
        self._show_step()

    def _show_step(self) -> None:
        self._due_ms = self._bound_ms = None
        step = self.step
        job, node = step.selection
        self._app.select(job=job, node=node)
        if step.pane:
            self._app.action_focus_pane(step.pane)
        self._app.show_caption(step.text, self.caption_title)
