"""Sums that decide something are the same in every version of Python: a run is a function of
(scenario, seed).
"""

from math import fsum

from callboard.scheduler.left_to_right_sum import left_to_right_sum
from callboard.scheduler.orders.size_based.training import TrainingPhase

TENTHS = [0.1] * 10
STEP_BY_STEP = 0.9999999999999999
"""What they come to if each step is rounded; `sum` says so before Python 3.12, and then 1.0."""


def test_each_step_is_rounded() -> None:
    assert left_to_right_sum(TENTHS) == STEP_BY_STEP


def test_so_is_what_hfsps_training_tasks_have_left() -> None:
    """S_f = s̄ · [(n − t) + Σ(1 − p_k)] (HFSP, III-A)."""
    phase = TrainingPhase(tasks=14, wanted=14)
    phase.sizes = dict.fromkeys(range(14), (1, 1 - 0.1))
    left = 1 - (1 - 0.1)
    assert phase.final_size_ms() == left_to_right_sum([left] * 14) != fsum([left] * 14)
