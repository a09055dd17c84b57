"""What waits at a node under Hawk and Eagle, and which of it is served first or may be stolen."""

from collections.abc import Iterator, Sequence

import msgspec

from callboard.actors.sparrow.reservations import Reservation
from callboard.scheduler.model import JobId, Millis, Stage


class HeldReservations(msgspec.Struct, eq=False):
    """As many of a stage as came at once, with what the node was told of its tasks."""

    reservation: Reservation
    count: int
    """How many wait; others may have been asked for, or run."""
    estimate_ms: Millis
    left: int
    """How many tasks of the stage no node had been given, when this node was last told."""
    long: bool
    number: int
    """Their place in the order of arrival at the node."""
    put_off_ms: Millis = 0
    """By estimate, how long tasks run that went before them although they had come later."""
    taken_back: bool = False

    @property
    def job_stage(self) -> tuple[JobId, Stage]:
        """The stage for whose tasks they stand."""
        return self.reservation.job, self.reservation.stage

    def was_sent_by(self, scheduler: int) -> bool:
        """Whether the scheduler at this address has sent them."""
        return self.reservation.scheduler == scheduler


def place_with_least_left(queue: Sequence[HeldReservations], cap: float) -> int:
    """The place of what is served first by the least that is left of its stage, as far as the node
    knows.  Nothing goes before a long task at the head, and nothing whose estimate would put off
    any in front by more than `cap` times its own (Eagle, SoCC 2016, §4.4).
    """
    if queue[0].long:
        return 0
    least, served, slack_ms = float("inf"), 0, float("inf")
    for place, held in enumerate(queue):
        remaining_ms = held.estimate_ms * held.left
        if remaining_ms < least and held.estimate_ms <= slack_ms:
            least, served = remaining_ms, place
        slack_ms = min(slack_ms, cap * held.estimate_ms - held.put_off_ms)
    return served


def behind_long(
    queue: Sequence[HeldReservations], long_runs: bool, limit: int
) -> Iterator[tuple[HeldReservations, int]]:
    """The first short ones that wait right behind a long task, which runs or is the first in the
    queue (Hawk, ATC 2015, §3.7), and how many of each, `limit` in all.
    """
    place = 0
    while not long_runs and place < len(queue) and not queue[place].long:
        place += 1
    while place < len(queue) and queue[place].long:
        place += 1
    while place < len(queue) and not queue[place].long and limit:
        count = min(queue[place].count, limit)
        yield queue[place], count
        place, limit = place + 1, limit - count
