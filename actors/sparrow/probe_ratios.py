"""How many nodes are asked for each task (the probe ratio d of SOSP 2013, §4.1)."""

from typing import NamedTuple


class ProbeRatios(NamedTuple):
    """For the tasks of jobs that may run anywhere, and for those of the others (None: as many)."""

    probes: float
    constrained: float | None = None

    def of(self, only_on: tuple[str, ...]) -> float:
        """That of a job which may run on these node types alone."""
        return self.constrained if only_on and self.constrained is not None else self.probes
