"""What goes through the kernel: messages, and what brought them about."""

from typing import TypeAlias

import msgspec

NO_CAUSE = -1
"""What is caused by no event: it was due, or happens to the world from outside."""


class Message(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """The base of every message: frozen, tagged, made of plain data."""


QueuedMessage: TypeAlias = tuple[int, int, int, msgspec.Struct, int]
"""(sender, the sender's count, receiver, message, cause): a message within its superstep."""
