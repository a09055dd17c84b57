"""A time in which a node was down."""

from typing import NamedTuple

from callboard.scheduler.model import Millis, NodeId


class Outage(NamedTuple):
    """A node is down from `begin_ms` on, until `end_ms` or for ever."""

    node: NodeId
    begin_ms: Millis
    end_ms: Millis | None
