"""What several orders guarantee: names of properties in `fairness.catalogue`."""

EFFICIENT = ("work-conserving", "makespan", "lone-job")
"""No slot is left empty that a job could use."""

MONOTONE = ("population-monotone", "resource-monotone")
"""Nobody is due less when another leaves, or with more slots."""

MONOTONE_SHARES = ("pareto", *MONOTONE)
"""Of orders that say what each job is due."""

SMALL_JOBS_FIRST = (*EFFICIENT, "pareto", "ideal-work", "shortest-first")
"""Nor is the small job kept waiting by the large one."""

DOMINATES_SHARING = ("ideal-dominance", "dominance")
"""The large job is not kept waiting by small ones for ever: it ages."""

EQUAL_SHARES = ("max-min", "sharing-incentive", "envy-free", "max-min-shares", "truthful", "scale")
"""Equal jobs get equal slots."""

NO_PING_PONG = ("victim-once", "no-ping-pong", "victims-and-ties")
"""Of preemption under an order in which of two jobs always the same one stands first."""
