"""Keys one after the other: each against what those before it have led to.

Over a slow line keys come in bursts, and the frame for one may take longer than the next key.  A
key that goes by what is shown waits for that frame; any other only for the keys before it.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.events import Key
from textual.message import Message
from textual.widget import Widget

from callboard.tui.playback import Playback


class KeyFollower(Message):
    """Goes the way of what a key has led to in a dialog, behind it."""


_BY_THE_FRAME = {"up", "down", "left", "right", "pageup", "pagedown", "enter"}
_COMMANDS_BY_THE_FRAME = {
    "intervene", "until", "fork", "copy", "forward", "back", "far-forward", "far-back",
}  # fmt: skip
"""Keys, and commands, whose effect depends on the rows, the places and the time that are shown."""

_SUBMITTING = {"enter", "ctrl+s"}
"""Keys of a dialog that go by an answer that it may have asked for, such as the names of jobs."""

_ROUNDS = 2
"""The key goes from a field to the app, whose binding sends it back; then what came of it."""


class KeyQueue:
    """Takes all keys of an app, and lets it handle one at a time."""

    def __init__(self, app: App[Any], playback: Playback, handle: Callable[[Key], Any]) -> None:
        self._app = app
        self._playback = playback
        self._handle = handle
        self._keys: deque[Key] = deque()
        self._busy = False
        self._answers_needed = 0
        self._depth = 1
        """How many screens, dialogs among them, the last key found."""
        self._followed: Widget | None = None
        """Where the last key went in a dialog, while what it has led to is on its way: a field that
        is submitted tells its screen, and that the app.
        """
        self._rounds = 0

    @property
    def is_idle(self) -> bool:
        """Whether all keys have been handled."""
        return not self._busy and not self._keys

    async def take_key(self, key: Key) -> None:
        """Take a key.  An `enter` that was typed before the screen had the terminal has become a
        line feed on its way: it is one all the same.
        """
        self._keys.append(Key("enter", "\r") if key.key == "ctrl+j" else key)
        await self.go_on()

    async def go_on(self) -> None:
        """Handle the next key, if there is one that need not wait."""
        if self.is_idle or self._busy or not self._can_be_handled(self._keys[0]):
            return
        self._busy = True
        self._depth = len(self._app.screen_stack)
        followed = (self._app.focused or self._app.screen) if self._depth > 1 else None
        await self._handle(self._keys.popleft())
        if followed is not None:
            self._followed, self._rounds = followed, _ROUNDS
            followed.call_later(followed.post_message, KeyFollower())
        self._app.call_later(self._await_handled)

    async def note_follower_arrived(self) -> None:
        """What the last key has led to has come to the app, once or twice."""
        self._rounds -= 1
        if self._rounds and self._followed is not None:
            self._followed.call_later(self._followed.post_message, KeyFollower())
        else:
            self._followed = None

    def _can_be_handled(self, key: Key) -> bool:
        in_dialog = len(self._app.screen_stack) > 1
        if not (key.key in _SUBMITTING if in_dialog else self._depends_on_frame(key)):
            return True
        needed = self._answers_needed
        if in_dialog:  # a frame that is still to be asked for is, once the dialog has gone
            needed = min(needed, self._playback.requests)
        return self._playback.answers >= needed

    def _depends_on_frame(self, key: Key) -> bool:
        bound = self._app.screen.active_bindings.get(key.key)
        of_command = bound is not None and bound.binding.id in _COMMANDS_BY_THE_FRAME
        return of_command or key.key in _BY_THE_FRAME

    async def _await_handled(self) -> None:
        """What the key has said to the app is done; a dialog that has come up gets its focus."""
        depth = len(self._app.screen_stack)
        if depth != self._depth:
            self._depth, self._followed = depth, None
            self._app.call_after_refresh(self._await_handled)
            return
        if self._followed is not None and self._followed.is_attached:
            await asyncio.sleep(0)  # the app's own queue, never empty, would let nobody else on
            self._app.call_later(self._await_handled)
            return
        self._busy = False
        self._answers_needed = max(self._answers_needed, self._playback.requests)
        await self.go_on()

    def hold_until_next_frame(self) -> None:
        """The next key waits for one more frame, which will be asked for."""
        self._answers_needed = self._playback.requests + 1
