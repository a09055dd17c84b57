"""The ideal machine: one perfectly divisible server, without tasks, slots or heartbeats.

The simulator report's own machine (Dell'Amico, "A Simulator for Data-Intensive Job Scheduling",
RR-13-282, §2): a job is an arrival and a size.  It is the reference that fairness is measured
against, and HFSP's virtual time.
"""

from callboard.scheduler.ideal.disciplines import (
    BLIND,
    DISCIPLINES,
    ON_SERVERS,
    Exact,
    LoopPath,
    exact,
    exact_by_age,
    remaining,
    simulate,
    simulate_by_age,
    simulate_servers,
)

__all__ = [
    "BLIND",
    "DISCIPLINES",
    "ON_SERVERS",
    "Exact",
    "LoopPath",
    "exact",
    "exact_by_age",
    "remaining",
    "simulate",
    "simulate_by_age",
    "simulate_servers",
]
