"""What the Python calls raise, to be caught by name: `from callboard.errors import InputError`."""

from callboard.actors.kernel.kernel import ActorFailed, KernelError, Stalled
from callboard.experiments.pages.charts.chart_run import NothingToDraw
from callboard.experiments.user_errors import InputError, RunFailed
from callboard.journal.checks.findings import Violation
from callboard.journal.format import JournalError
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.missing_extra import MissingExtraError
from callboard.scheduler.text.scenario_error import ScenarioError

__all__ = [
    "ActorFailed",
    "InputError",
    "JournalError",
    "KernelError",
    "MissingExtraError",
    "NothingToDraw",
    "PolicySpecError",
    "RunFailed",
    "ScenarioError",
    "Stalled",
    "Violation",
]
