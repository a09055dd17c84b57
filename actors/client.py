"""The client: submits each job at its time, made only then, and ends the run after the last."""

from collections.abc import Callable, Sequence

from callboard.actors.job import Job
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import CLIENT, job_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary.events import AnyEvent
from callboard.actors.vocabulary.messages import EnterSystem, JobDone, SubmissionDue


class Client(Actor[AnyEvent]):
    """All users at once; `jobs` in order of submission."""

    def __init__(self, jobs: Sequence[JobSpec], make_job: Callable[[JobSpec], Job]) -> None:
        super().__init__(CLIENT, "client")
        self._jobs = jobs
        self._make_job = make_job
        self.submitted = 0
        self.ended = 0

    def join(self, kernel: Kernel[AnyEvent]) -> None:
        super().join(kernel)
        self._await_next_submission()

    def on_submission_due(self, _: SubmissionDue) -> None:
        while self.submitted < len(self._jobs):
            spec = self._jobs[self.submitted]
            if spec.submit_ms > self.now_ms:
                break
            self._submit_job(spec)
        self._await_next_submission()

    def on_job_done(self, _: JobDone) -> None:
        self.ended += 1
        if self.ended == len(self._jobs):
            self.end_run("complete")

    def at_work(self) -> bool:
        return self.submitted < len(self._jobs)

    def _submit_job(self, spec: JobSpec) -> None:
        self.submitted += 1
        self.spawn(self._make_job(spec))
        self.send(job_address(spec.job), EnterSystem(), NO_CAUSE)

    def _await_next_submission(self) -> None:
        if self.submitted < len(self._jobs):
            wait_ms = self._jobs[self.submitted].submit_ms - self.now_ms
            self.timer(SubmissionDue(), wait_ms, NO_CAUSE)
        elif not self._jobs:
            self.end_run("complete")
