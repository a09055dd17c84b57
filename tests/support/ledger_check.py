"""The sums in the master's books, counted anew from its entries."""

from collections import Counter

from callboard.actors.books.ledger import Ledger
from callboard.scheduler.model import REDUCES, SETUP, STAGES, slot_kind


def check_sums(ledger: Ledger) -> None:
    """Recount every sum of the ledger."""
    for stage in STAGES:
        kind = slot_kind(stage)
        every = [a for a in ledger._attempts.values() if a.kind is kind]
        open_ = [a for a in every if a.stage < SETUP]
        attempts = [a for a in open_ if a.suspended_ms is None]
        held = len(open_) - len(attempts)
        members, jobs, sums = ledger.members, ledger._jobs.values(), ledger.sums
        taken = len(attempts) + len(every) - len(open_)
        assert members.running[kind] == taken == sum(n._running[kind] for n in members.values())
        assert len(attempts) == sum(j._running[kind] for j in jobs)
        assert sums.suspended[kind] == held == sum(n._suspended[kind] for n in members.values())
        assert held == sum(j._suspended[kind] for j in jobs)
        assert sums.pending[kind] == sum(j.tasks[stage].left for j in jobs)
        assert members.slots[kind] == sum(n.slots(kind) for n in members.values())
        assert sums.unfinished[kind] == sum(
            j.total(stage) - j.finished(stage) for j in jobs if j.opened(stage)
        )
        assert sums.padded[kind] == sum(j.total(stage) for j in jobs if j.total(REDUCES))
        assert ledger._binds_early or all(
            0 <= n._running[kind] <= n.slots(kind) or n.drained for n in members.values()
        )
        for job in jobs:  # S6: finished + running + pending + suspended + failed is all
            if job.opened(stage):
                assert job.pending(kind) == job.tasks[stage].left + job.suspended(kind)
                running = {
                    a.task
                    for a in attempts
                    if a.job == job.job and not a.beaten and a.suspended_ms is None
                }
                assert job.running(kind) - job.spare[stage] == len(running)
                parts = job.finished(stage) + len(running) + job.pending(kind)
                assert parts + job.lost[stage] == job.total(stage), f"S6: {job.job} {stage}"
    every = list(ledger._attempts.values())
    assert all(a.holds_slot == (a.suspended_ms is None) for a in every)
    assert sum(a.stage >= SETUP for a in every) == ledger._unseen
    tasks = Counter((a.job, a.stage, a.task) for a in every)
    assert all(count <= 2 for count in tasks.values()), "S4"
