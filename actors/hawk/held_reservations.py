"""Which of what waits at a node under Hawk and Eagle is served first, or may be stolen."""

from collections.abc import Iterator, Sequence

from callboard.actors.sparrow.reservations import HeldReservations


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
