"""What several orders promise alike: names of properties in `fairness.catalogue`."""

BUSY = ("work-conserving", "makespan", "lone-job")
"""No slot is left empty that somebody could use."""

SHARES = ("pareto", "population-monotone", "resource-monotone")
"""Of whoever says what everybody is due."""

EQUAL = ("max-min", "sharing-incentive", "envy-free", "max-min-shares", "truthful", "scale")
"""Equal jobs get equal slots."""
