"""A scheduler that nodes ask for tasks: what Sparrow's late binding and Hawk's schedulers share."""

from callboard.actors.books.frontend import Frontend
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.sparrow.probe_messages import AnswersDue, GetTask, NoTask
from callboard.actors.sparrow.sent_reservations import SentReservations
from callboard.actors.world import World
from callboard.scheduler.model import JobId, Stage


class AskedFrontend(Frontend):
    """Nodes with reservations ask; each question has one answer, a task or that there is none.

    All nodes that ask at an instant are heard before any of them is answered, and they are answered
    in the order in which they were drawn, which is random.
    """

    def __init__(self, number: int, world: World) -> None:
        super().__init__(number, world)
        self._sent_reservations = SentReservations(self.tell_node)
        self._questions: list[tuple[GetTask, int]] = []
        """Those of this instant, with their causes."""

    def forget_all(self) -> None:
        self._sent_reservations = SentReservations(self.tell_node)

    def on_get_task(self, ask: GetTask) -> None:
        """Keep the question until all of this instant have come."""
        if not self._questions:
            self.send(self.address, AnswersDue(), NO_CAUSE)
        self._questions.append((ask, self.cause))

    def on_answers_due(self, _: AnswersDue) -> None:
        for ask, cause in self.questions_due():
            self.answer_question(ask, cause)

    def questions_due(self) -> list[tuple[GetTask, int]]:
        """Those of this instant with their causes, in the order in which they are answered."""
        heard, self._questions = self._questions, []
        return sorted(heard, key=lambda each: each[0].place)

    def answer_question(self, ask: GetTask, cause: int) -> int | None:
        """Give a node that asks a task, or say that it gets none; the event of the launch."""
        self._sent_reservations.count_question(ask)
        job, event = self.ledger.known_job(ask.job), None
        if job is not None and self.tasks_to_place(job, ask.stage):
            event = self.launch_task(job, ask.stage, ask.node, cause)
            if event is None:  # all that is left has failed there: find another node
                self.place_remaining_tasks(ask.job, ask.stage, cause)
        if event is None:
            no_task = NoTask(ask.job, ask.stage)
            self.tell_node(ask.node, no_task, cause)
        return event

    def place_remaining_tasks(self, job: JobId, stage: Stage, cause: int) -> None:
        """Send more only where fewer reservations wait than tasks are left."""
        outstanding = self._sent_reservations.total_outstanding(job, stage)
        lacking = self.tasks_left(job, stage) - outstanding
        if lacking > 0:
            self.place_tasks(job, stage, lacking, cause)
