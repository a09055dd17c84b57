"""A run's events come to the same jobs, tasks and attempts as a file, and tell more of these."""

from callboard.actors.vocabulary import events as ev
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.histories.model.cluster_history import HistoryTask
from callboard.journal.export.run_history import played_history_of_run


def played(name: str) -> tuple[list[HistoryTask], list[ev.AnyEvent]]:
    """The tasks of all jobs of a scenario, and the run's events."""
    events: list[ev.AnyEvent] = []
    Simulation(load_run(name), [events.append]).run()
    jobs = played_history_of_run(events).jobs.values()
    return [task for job in jobs for task in job.all_tasks()], events


def test_launches_that_began_are_attempts_as_a_file_has_them() -> None:
    tasks, events = played("cell-losses")
    for task in tasks:
        begun = [each for each in task.launches if each.start_ms is not None]
        assert sorted(begun, key=lambda each: each.start_ms or 0) == task.attempts
        for each in task.launches:
            launch = events[each.event]
            assert isinstance(launch, ev.AttemptLaunched)
            assert launch.node == each.node
    assert any(len(task.launches) > len(task.attempts) for task in tasks)


def test_a_success_that_was_lost_is_told_as_a_kill_and_its_own_end_is_kept() -> None:
    tasks, events = played("rack-outage")
    lost = [each for task in tasks for each in task.launches if each.output_lost]
    losses = (each for each in events if isinstance(each, ev.MapOutputsLost))
    lost_ms = [each.at_ms for each in losses for _ in each.attempts]
    assert sorted(each.finish_ms or 0 for each in lost) == lost_ms != []
    for each in lost:
        assert each.ended_ms is not None
        assert each.booked_ms is not None
        assert each.ended_ms <= each.booked_ms <= (each.finish_ms or 0)
