"""What to know of a history before the run of it is believed."""

from pathlib import Path

from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.scenario_file import Scenario


def history_note(scenario: Scenario, base_dir: Path | None) -> str:
    """Which of the files that it plays is cut off; empty if none is, or it plays no history, or is
    a journal's, which has no `base_dir`.
    """
    workload = scenario.workload
    if base_dir is None or not isinstance(workload, RecordedWorkload):
        return ""
    return workload.recording(base_dir).cut
