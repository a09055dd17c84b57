"""Keys one after the other: each against what those before it have led to.

Over a slow line keys come in bursts, and the frame for one may take longer than the next key.  A
key that goes by what is shown waits for that frame; any other only for the keys before it.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.events import Key

from callboard.tui.playback import Playback

_BY_THE_FRAME = {"up", "down", "left", "right", "pageup", "pagedown", "enter"}
_COMMANDS_BY_THE_FRAME = {
    "intervene", "until", "fork", "copy", "forward", "back", "far-forward", "far-back",
}  # fmt: skip
"""Keys, and commands, whose effect depends on the rows, the places and the time that are shown."""


class KeyOrder:
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

    @property
    def idle(self) -> bool:
        """Whether all keys have been handled."""
        return not self._busy and not self._keys

    async def take(self, key: Key) -> None:
        self._keys.append(key)
        await self.go_on()

    async def go_on(self) -> None:
        """Handle the next key, if there is one that need not wait."""
        if self.idle or self._busy or not self._ready(self._keys[0]):
            return
        self._busy = True
        self._depth = len(self._app.screen_stack)
        await self._handle(self._keys.popleft())
        self._app.call_later(self._handled)

    def _ready(self, key: Key) -> bool:
        if len(self._app.screen_stack) > 1 or not self._is_by_the_frame(key):
            return True
        return self._playback.answers >= self._answers_needed

    def _is_by_the_frame(self, key: Key) -> bool:
        bound = self._app.screen.active_bindings.get(key.key)
        of_command = bound is not None and bound.binding.id in _COMMANDS_BY_THE_FRAME
        return of_command or key.key in _BY_THE_FRAME

    async def _handled(self) -> None:
        """What the key has said to the app is done; a dialog that has come up gets its focus."""
        depth = len(self._app.screen_stack)
        if depth != self._depth:
            self._depth = depth
            self._app.call_after_refresh(self._handled)
            return
        self._busy = False
        self._answers_needed = max(self._answers_needed, self._playback.requests)
        await self.go_on()

    def hold(self) -> None:
        """The next key waits for one more frame, which will be asked for."""
        self._answers_needed = self._playback.requests + 1
