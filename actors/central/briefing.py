"""What a policy is told that is put in force in the middle of a run: what the books say now."""

from callboard.actors.books.ledger import Ledger
from callboard.actors.books.voice import Voice
from callboard.actors.central.heartbeats import MasterHeartbeats
from callboard.scheduler import facts
from callboard.scheduler.model import STAGES
from callboard.scheduler.policy import Policy


def brief_policy(
    policy: Policy, ledger: Ledger, heartbeats: MasterHeartbeats, voice: Voice, cause: int
) -> None:
    """Tell it the nodes, the jobs and the attempts, and track those attempts that it wants to
    follow.
    """
    for member in ledger.members.values():
        voice.tell_policy(facts.NodeJoined(member.node), cause)
    for job in ledger.jobs():
        voice.tell_policy(facts.JobArrived(job.job), cause)
        for stage in STAGES[1:]:
            if job.total(stage) and job.opened(stage):
                voice.tell_policy(facts.TasksPending(job.job, stage), cause)
    for entry in ledger.attempts():
        what = (entry.job, entry.stage, entry.attempt, entry.node)
        original = entry.original if entry.sibling else 0
        launched = facts.Launched(*what, entry.level, original)
        voice.tell_policy(launched, cause)
        if not entry.tracked and policy.wants_progress_of(launched):
            entry.tracked = True
            heartbeats.track_attempt(entry.node, entry.attempt)
        if not entry.holds_slot:
            voice.tell_policy(facts.Suspended(*what, entry.ran_ms, entry.shuffled_ms), cause)
