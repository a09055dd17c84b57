"""The sums in the master's books, counted anew from its entries."""

from collections import Counter

from callboard.actors.books.ledger import Ledger
from callboard.scheduler.model import KINDS, SETUP


def check_sums(ledger: Ledger) -> None:
    """Recount every sum of the ledger."""
    for kind in KINDS:
        every = [a for a in ledger._attempts.values() if a.kind is kind]
        open_ = [a for a in every if a.stage < SETUP]
        attempts = [a for a in open_ if a.suspended_ms is None]
        held = len(open_) - len(attempts)
        members, jobs, sums = ledger.members, ledger._jobs.values(), ledger.sums
        taken = len(attempts) + len(every) - len(open_)
        assert members.running(kind) == taken == sum(n._running[kind] for n in members.values())
        assert len(attempts) == sum(j._running[kind] for j in jobs)
        assert sums.suspended[kind] == held == sum(n._suspended[kind] for n in members.values())
        assert held == sum(j._suspended[kind] for j in jobs)
        assert sums.pending[kind] == sum(j.tasks[kind].left for j in jobs)
        assert members.slots(kind) == sum(n.slots(kind) for n in members.values())
        assert sums.unfinished[kind] == sum(
            j.total(kind) - j.finished(kind) for j in jobs if j.opened(kind)
        )
        assert sums.padded[kind] == sum(j.total(kind) for j in jobs if j.total(KINDS[1]))
        assert ledger._binds_early or all(
            0 <= n._running[kind] <= n.slots(kind) or n.drained for n in members.values()
        )
        for job in jobs:  # S6: finished + running + pending + suspended + failed is all
            if job.opened(kind):
                assert job.pending(kind) == job.tasks[kind].left + job.suspended(kind)
                running = {
                    a.task
                    for a in attempts
                    if a.job == job.job and not a.beaten and a.suspended_ms is None
                }
                assert job.running(kind) - job.spare[kind] == len(running)
                parts = job.finished(kind) + len(running) + job.pending(kind)
                assert parts + job.lost[kind] == job.total(kind), f"S6: {job.job} {kind!r}"
    every = list(ledger._attempts.values())
    assert all(a.holds_slot == (a.suspended_ms is None) for a in every)
    assert sum(a.stage >= SETUP for a in every) == ledger._unseen
    tasks = Counter((a.job, a.stage, a.task) for a in every)
    assert all(count <= 2 for count in tasks.values()), "S4"
