"""A screen without a terminal: an app that keys are pressed in."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Self

import msgspec
import pytest
from textual._compositor import Compositor
from textual._context import active_app, visible_screen_stack
from textual.notifications import Notification, Notifications
from textual.pilot import Pilot

from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.player import Opening
from callboard.journal.replay.source import Move, Request, Source
from callboard.scenarios.tour import Tour
from callboard.tui.app import CallboardApp
from callboard.tui.keymap import Keymap

SMALL, WIDE = (80, 24), (160, 50)
LARGE = ("cluster.nodes=2000", "cluster.racks=40", "workload.jobs=60")
"""What makes a morning of Facebook's one of a large cluster."""


async def settled(*_limits_s: float) -> None:
    """Let the app work until there is nothing left to do but to wait, for a key or for the end of
    what plays; in place of Textual's `wait_for_idle`, which sleeps until the processor is idle.
    """
    app, ready = active_app.get(), vars(asyncio.get_running_loop())["_ready"]
    pauses = 0
    while pauses < 50:
        await asyncio.sleep(0)
        if ready:
            continue
        app.screen._on_timer_update()
        if not (ready or _expects_frame(app)):
            return
        if not ready:
            await asyncio.sleep(0.002)
            pauses += 1


def _expects_frame(app: object) -> bool:
    """Whether another process has been asked for a frame that has not come, and is the last."""
    if not isinstance(app, CallboardApp):
        return False
    playback = app.playback
    waits = playback.source.live and not playback.player.playing
    return waits and playback.answers < playback.requests


_drawn = Compositor.render_update


def _left_undrawn(compositor: Compositor, **how: Any) -> Any:
    """In place of an update for a terminal that is not there, `Screen.text` draws all; a picture of
    the screen is `full`.
    """
    if how.get("full"):
        return _drawn(compositor, **how)
    visible_screen_stack.set(how["screen_stack"])
    compositor._dirty_regions.clear()
    return None


class _Messages(Notifications):
    """All that have come up, also those that have gone again, as they do after seconds of real
    time: on a slow machine before anybody has looked.
    """

    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []

    def add(self, notification: Notification) -> Self:
        self.all.append(notification.message)
        return super().add(notification)


class SlowSource:
    """Answers only when it is told to, as a source at the other end of a slow line."""

    live = True

    def __init__(self, source: Source) -> None:
        self._source = source
        self._asked: deque[tuple[Request, Callable[[Frame], None]]] = deque()
        self.slow = False

    def ask_frame(self, request: Request, answer: Callable[[Frame], None]) -> None:
        self._asked.append((request, answer))
        if not self.slow:
            self.answer_one()

    def answer_one(self) -> None:
        self._source.ask_frame(*self._asked.popleft())

    def has_been_asked(self, move: Move) -> bool:
        return any(request.move == move for request, _ in self._asked)

    def answer_with(self, move: Move) -> None:
        """Answer as a run does that has come no further than that."""
        request, answer = self._asked.popleft()
        self._source.ask_frame(msgspec.structs.replace(request, move=move), answer)

    @property
    def behind(self) -> int:
        return len(self._asked)

    def close(self) -> None:
        self._source.close()


class Screen:
    """An app under a pilot."""

    def __init__(self, app: CallboardApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot
        self._messages = app._notifications = _Messages()

    @property
    def frame(self) -> Frame:
        """What is shown."""
        assert self.app.playback.frame is not None
        return self.app.playback.frame

    def view(self) -> View:
        """What has been chosen."""
        return self.app.view

    def playing(self) -> bool:
        """Whether time goes."""
        return self.app.playback.player.playing

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.until(lambda: self.app.keys.is_idle)
        await self.pilot.pause()
        self.text()

    async def tick(self, seconds: float) -> None:
        """Let so much real time pass."""
        self.app.playback.tick(seconds)
        await self.pilot.pause()

    def text(self) -> str:
        """All that is on the screen, line by line; below a dialog what is behind it, whoever has
        drawn that last.
        """
        visible_screen_stack.set(self.app._background_screens)
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    def said(self) -> list[str]:
        """The messages that have come up."""
        return self._messages.all

    async def until(self, done: Callable[[], bool]) -> None:
        """Let the app work until something is so."""
        for _ in range(2000):
            if done():
                return
            await self.pilot.pause(0.005)
        raise AssertionError(f"it did not come to that:\n{self.text()}")


def drive(
    source: Source,
    act: Callable[[Screen], Awaitable[None]],
    size: tuple[int, int] = WIDE,
    theme: str = "dark",
    *,
    recorded: bool = False,
    opening: Opening | None = None,
    tour: Tour | None = None,
    keymap: Keymap | None = None,
    messages: bool = False,
) -> CallboardApp:
    """Run an app on the source in which time stands still, and act in it; `messages` are drawn."""
    app = CallboardApp(
        source, theme=theme, ticking=False, recorded=recorded, tour=tour, keymap=keymap
    )
    if opening is not None:
        app.playback.set_opening(opening)

    async def play() -> None:
        async with app.run_test(size=size, notifications=messages) as pilot:
            screen = Screen(app, pilot)
            await screen.until(lambda: app.playback.frame is not None)
            await pilot.pause()
            await act(screen)
            screen.text()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", _left_undrawn)
        asyncio.run(play())
    return app
