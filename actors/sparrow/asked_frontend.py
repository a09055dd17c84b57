"""A scheduler that nodes ask for tasks: what Sparrow's late binding and Hawk's schedulers share."""

from callboard.actors.books.frontend import Frontend
from callboard.actors.sparrow.probe_messages import GetTask, NoTask
from callboard.scheduler.model import JobId, Stage


class AskedFrontend(Frontend):
    """Nodes ask; each question has one answer, a task or that there is none."""

    def answer(self, ask: GetTask, cause: int) -> int | None:
        """Give a node that asks a task, or say that it gets none; the event of the launch."""
        job, event = self.ledger.known_job(ask.job), None
        if job is not None and self.left(job, ask.stage):
            event = self.launch(job, ask.stage, ask.node, cause)
            if event is None:
                self.place_again(ask.job, ask.stage, cause)
        if event is None:
            no_task = NoTask(ask.job, ask.stage)
            self.tell_node(ask.node, no_task, cause)
        return event

    def place_again(self, job: JobId, stage: Stage, cause: int) -> None:
        """A node has asked on which all that is left has failed: find another one."""
        self.place(job, stage, 1, cause)
