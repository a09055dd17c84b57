"""What COSHH has counted, counted anew, and that it leaves no job out."""

from collections import Counter

from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedOffer
from callboard.actors.central.master import Master
from callboard.scheduler.model import KINDS, JobId, SlotKind
from callboard.scheduler.orders.coshh.coshh import Coshh, _may_run_on
from callboard.scheduler.orders.coshh.hybrid import Hybrid
from callboard.scheduler.policy import Order


def check_matching(master: Master) -> None:
    """Hold the master's COSHH, if it has one, against its books."""
    order: Order = master.policy.order
    coshh = order._orders[-1] if isinstance(order, Hybrid) else order
    if isinstance(coshh, Coshh):
        for kind in KINDS:
            _check_counts(coshh, kind, master.ledger)
            _check_nobody_is_left_out(coshh, kind, master.ledger)


def _check_counts(coshh: Coshh, kind: SlotKind, ledger: Ledger) -> None:
    """Tasks wait in the classes that their jobs are in."""
    pending = Counter[int]()
    for number, job in coshh._jobs[kind].items():
        assert job.pending == ledger.job(number).pending(kind), f"job {number} of COSHH"
        pending[job.class_number] += job.pending
    counted = coshh._pending_of_class[kind]
    told = f"COSHH counts {dict(counted)} pending tasks of {kind.name} by class"
    assert +counted == +pending, f"{told}, there are {dict(pending)}"


def _check_nobody_is_left_out(coshh: Coshh, kind: SlotKind, ledger: Ledger) -> None:
    """A job that waits, and may run somewhere, is in the queue of a node where it may."""
    nodes = [node for node in ledger.members.values() if node.slots(kind)]
    left: dict[JobId, None] = {}
    for number, job in coshh._jobs[kind].items():
        found = ledger.job(number)
        if job.pending and any(_may_run_on(found, kind, node.node) for node in nodes):
            left[number] = None
    for node in nodes if left else ():
        for queued in coshh.queue(kind, BookedOffer(node), ledger):
            if _may_run_on(queued.job, kind, node.node):
                left.pop(queued.job.job, None)
    assert not left, f"COSHH serves job {min(left)} on no node where it may run"
