"""Which capped rate group holds the first job, remembered for as long as none can overtake it.

What a capped group's first job has left falls along a straight line, so when another group's line
comes below the leader's is known.  Until then only groups whose first job has changed are compared
with the leader; all are looked at when the leader itself changes or is overtaken.
"""

from __future__ import annotations

from collections.abc import Mapping

from callboard.scheduler.orders.size_based.rate_classes import RateGroup

_FOREVER = 1 << 200  # in units of virtual time, later than any run's end
_UNKNOWN = -1
WAITING = 1


class LeadingGroup:
    """The leader among the capped groups' first waiting jobs, by work left or by virtual end."""

    def __init__(self, *, by_finish: bool) -> None:
        self._by_finish = by_finish
        self._leader: RateGroup | None = None
        self._until = _UNKNOWN  # the last moment for which the leader is known to lead
        self._changed: dict[int, RateGroup] = {}

    def note_change(self, group: RateGroup) -> None:
        """The first waiting job of the group is another one, or there is none any more."""
        self._changed[group.rate] = group

    def leader_at(self, now: int, groups: Mapping[int, RateGroup]) -> RateGroup | None:
        """The leader of these capped groups, by rate; `now` must not go back."""
        if self._changed:
            self._compare_changed_groups(now)
        if now > self._until:
            self._find_leader(now, groups)
        return self._leader

    def _compare_changed_groups(self, now: int) -> None:
        leader = self._leader
        if leader is not None and leader.rate in self._changed:
            self._until = _UNKNOWN
        for group in self._changed.values():
            if now > self._until:
                break
            if group.first[WAITING] is None:
                continue
            if leader is None or self.rank(group, now) < self.rank(leader, now):
                self._until = _UNKNOWN
            else:
                self._until = min(self._until, self._leads_until(leader, group, now))
        self._changed.clear()

    def _find_leader(self, now: int, groups: Mapping[int, RateGroup]) -> None:
        having = [group for group in groups.values() if group.first[WAITING] is not None]
        leader = min(having, key=lambda group: self.rank(group, now), default=None)
        self._leader, self._until = leader, _FOREVER
        if leader is not None:
            others = (group for group in having if group is not leader)
            lasts = (self._leads_until(leader, group, now) for group in others)
            self._until = min(lasts, default=_FOREVER)

    def rank(self, group: RateGroup, now: int) -> tuple[int, int, int, int]:
        """By what the group's first waiting job is compared with others; smaller goes first."""
        first = group.first[WAITING]
        assert first is not None
        key, submitted_ms, job = first
        left = key - group.rate * now
        end = -(-left // group.rate)
        if self._by_finish:
            return (end, left, submitted_ms, job)
        return (left, end, submitted_ms, job)

    def _leads_until(self, leader: RateGroup, other: RateGroup, now: int) -> int:
        """The last moment for which the leader is known to be before the other group."""
        first, second = leader.first[WAITING], other.first[WAITING]
        assert first is not None
        assert second is not None
        if self._by_finish and -(-first[0] // leader.rate) < -(-second[0] // other.rate):
            return _FOREVER
        ahead = second[0] - other.rate * now - first[0] + leader.rate * now
        if ahead <= 0:
            return now  # as much is left of both: what decides between them may be another soon
        nearing = other.rate - leader.rate
        return now + (ahead - 1) // nearing if nearing > 0 else _FOREVER
