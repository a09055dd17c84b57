"""A locality rule of one's own: of each job one map at a time reads across racks.

callboard run small-jobs --policy fair+./docs/examples/one_far_map.py:OneFarMap
"""

from callboard.scheduler.model import MAP, Locality
from callboard.scheduler.policy import LocalityRule
from callboard.scheduler.reasons import Note, Refusal
from callboard.scheduler.view import ClusterView, JobView, Offer


class OneFarMap(LocalityRule):
    """A job with maps running gets no further one off its rack; one without gets it, so that no
    job waits for ever.
    """

    name = "one-far-map"
    summary = "a job with maps running gets no further one that reads across racks"

    def refusal(
        self, job: JobView, level: Locality, offer: Offer, view: ClusterView
    ) -> Refusal | None:
        if level is Locality.OFF_RACK and job.running(MAP) > 0:
            return Note("it has maps running, and this one would read across racks")
        return None
