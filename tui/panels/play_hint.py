"""What to do first, in the middle of the first picture; the first key or click takes it away."""

from typing import ClassVar

from textual import events
from textual.geometry import Size
from textual.widgets import Static

from callboard.tui.keymap import Keymap


class PlayHint(Static):
    """A few words above the panes."""

    can_focus = False
    DEFAULT_CLASSES: ClassVar[str] = "waiting"

    def __init__(self, keymap: Keymap) -> None:
        super().__init__(f"{keymap.now('space')} to play · {keymap.now('?')} for the keys")

    def come_up(self, screen: Size) -> None:
        """There is a picture now, in the middle of which it is placed."""
        self.remove_class("waiting")
        width, height = self.styles.width, self.styles.height
        assert width is not None
        assert height is not None
        across, down = (screen.width - width.value) // 2, (screen.height - height.value) // 2
        self.styles.offset = int(across), int(down)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.remove()
