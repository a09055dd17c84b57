"""A reduce's copier: from which hosts map outputs have still to come.  A host that is down, out of
reach or has lost them does not answer: a try fails after `TRY_MS`, the next comes after a pause
that grows by 1.3 from 10 s on, every tenth failure of a host is told to the master (Hadoop's
ReduceCopier, rule T6), and after thirty, which take a day, the attempt has failed.
"""

from collections.abc import Iterable

from callboard.scheduler.model import Millis, NodeId

TRY_MS: Millis = 3000
"""How long a try lasts that gets no answer.  Hadoop waits for the operating system: "no route to
host" takes about so long, a refused connection no time, a silent one minutes."""

FIRST_PAUSE_MS: Millis = 10_000  # ReduceCopier.BACKOFF_INIT
GROWTH = 1.3  # ReduceCopier.BACKOFF_EXPONENTIAL_BASE
TELL_EVERY = 10  # the least MAX_FETCH_RETRIES_PER_MAP: that many failures make one notification
FAILURES_MAX = 30  # the least "too many fetch failures" of one map, which end the attempt


class Copier:
    """The fetches of one attempt of a reduce."""

    def __init__(self, fetched: Iterable[NodeId] = ()) -> None:
        self._fetched = set(fetched)
        self._failures: dict[NodeId, int] = {}
        self.awaited: set[NodeId] = set()

    def fetched_hosts(self) -> tuple[NodeId, ...]:
        return tuple(sorted(self._fetched))

    def hosts_to_ask(self, hosts: Iterable[NodeId]) -> list[NodeId]:
        """The hosts to ask now, in order: those with outputs that have not come yet."""
        asked = [host for host in hosts if host not in self._fetched]
        self.awaited = set(asked)
        return asked

    def note_answer(self, host: NodeId) -> bool:
        """The host's outputs have come; whether they were awaited."""
        if host not in self.awaited:
            return False
        self.awaited.remove(host)
        self._fetched.add(host)
        return True

    def note_failure(self, host: NodeId) -> tuple[Millis, bool]:
        """A try failed: how long to pause before the next, and whether to tell the master."""
        failures = self._failures[host] = self._failures.get(host, 0) + 1
        pause_ms = round(FIRST_PAUSE_MS * GROWTH ** (failures - 1))
        return pause_ms, failures % TELL_EVERY == 0

    def gives_up(self, host: NodeId) -> bool:
        return self._failures.get(host, 0) >= FAILURES_MAX
