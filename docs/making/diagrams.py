"""Draw `docs/lifecycles.md` from the tables of `actors.vocabulary.lifecycle`, and of heartbeats.

python -m docs.making.diagrams
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from callboard.actors.central.heartbeats import HEARTBEATS, HeartbeatState
from callboard.actors.vocabulary import lifecycle as lc

PAGE = Path(__file__).parents[1] / "lifecycles.md"

TOP = """\
# Lifecycles

An attempt, a job and a node have two lifecycles each: what really becomes of them, and what the
master has booked, which follows by heartbeats and may be wrong for a while. They are tables in
`actors/vocabulary/lifecycle.py`; slots, machines, jobs and the master's books change their states
by `step` and by nothing else, and rule S3 goes by the same tables. A node's side of its dialogue
with the master has a table beside its code. What a table does not have raises `IllegalTransition`
and changes nothing.

This page is drawn from the tables by `make diagrams`.
"""

Table = Mapping[tuple[Any, Any], Any]

SECTIONS: tuple[tuple[str, str, type[StrEnum], Table], ...] = (
    (
        "An attempt on its slot",
        "Kept by the slot (`RunningAttempt` in `actors/worker/attempt.py`). A map works from its"
        " start on, a reduce shuffles first. What was stuck, or waited for its input, tries to"
        " begin again when it resumes.",
        lc.AttemptState,
        lc.ATTEMPT,
    ),
    (
        "An attempt in the master's books",
        "Kept by the ledger (`BookedAttempt` in `actors/books/attempts.py`). While an attempt is"
        " *killing*, the master has ordered its end and not heard of it yet: it may still run. It"
        " is *killed* once the master has heard, or its node is lost. A kill that comes too late"
        " changes nothing, so an attempt that is being killed can still succeed; one whose launch"
        " has expired (rule H8) has failed, however it ends. *Report redundant* is the report of"
        " an end, of whatever kind, that comes after another attempt has done the task. A success"
        " is lost with its output (rules T2 and T6).",
        lc.BookedState,
        lc.BOOKED_ATTEMPT,
    ),
    (
        "A job",
        "Kept by the job's actor (`actors/job.py`). A job without reduces ends while it is"
        " mapping.",
        lc.JobState,
        lc.JOB,
    ),
    (
        "A job in the master's books",
        "Kept by the ledger (`BookedJob` in `actors/books/job_tasks.py`). A job that has ended"
        " stays until nothing of it runs.",
        lc.BookedJobState,
        lc.BOOKED_JOB,
    ),
    (
        "A node's machine",
        "Kept by the node and by each of its slots (`Machine` in `actors/worker/machine.py`). A"
        " scenario's script (its `[[timeline]]`) may ask for what is not here, as to crash a"
        " machine that is down; then nothing happens.",
        lc.MachineState,
        lc.MACHINE,
    ),
    (
        "A node in the master's books",
        "Kept by the ledger (`BookedNode` in `actors/books/members.py`). A node that restarts"
        " before its silence was noticed is lost, and joins at once (rule T5).",
        lc.BookedNodeState,
        lc.BOOKED_NODE,
    ),
    (
        "A node's dialogue with the master",
        "Kept by the node (`NodeHeartbeats` in `actors/central/heartbeats.py`). A plan is when the"
        " next heartbeat will be sent; it replaces any earlier one, so that no two are due. A"
        " silent node has none, and leaves its heartbeats out (elides them) until it has something"
        " to say. *Send it, eliding* is to send one whose reply is left out too if it would order"
        " nothing, so that the node does not wait for it. *Find one under way*: a fault may lose"
        " messages from now on, so that the reply to a heartbeat on its way is waited for after"
        " all.",
        HeartbeatState,
        HEARTBEATS,
    ),
)


def page() -> str:
    """The whole page."""
    return "\n".join([TOP, *(section(*each) for each in SECTIONS)])


def section(title: str, says: str, states: type[StrEnum], table: Table) -> str:
    """One lifecycle: what it is, and its diagram."""
    names = [f"    {_id(state)}: {state.value}" for state in states if " " in state.value]
    ways: dict[tuple[Any, Any], list[str]] = {}
    for (before, change), after in table.items():
        ways.setdefault((before, after), []).append(change.value)
    first = next(iter(states))
    lines = ["stateDiagram-v2", *names, f"    [*] --> {_id(first)}"]
    for (before, after), changes in ways.items():
        lines.append(f"    {_id(before)} --> {_id(after)}: {', '.join(changes)}")
    ends = [state for state in states if not any(before is state for before, _ in table)]
    lines += [f"    {_id(state)} --> [*]" for state in ends]
    diagram = "\n".join(lines)
    return f"## {title}\n\n{says}\n\n```mermaid\n{diagram}\n```\n"


def _id(state: StrEnum) -> str:
    return state.value.replace(" ", "_")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"drawn: {PAGE}")
