"""What queues count of the vectors of nodes and containers: named resources, memory first.

Slots are no resource of YARN's.  Where nodes name nothing a container is one unit, of which a node
has as many as it has slots.
"""

from collections.abc import Mapping

from callboard.scheduler.model import KINDS, Stage, slot_kind
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.resources import SLOTS, Dimensions, Vector, total

MEMORY = "memory"
"""The resource that counts where one alone does."""


class CountedAmounts:
    """A cluster's; `least` by name is what all is rounded up to."""

    def __init__(
        self, dimensions: Dimensions, nodes: tuple[Vector, ...], least: Mapping[str, int]
    ) -> None:
        self.dimensions = dimensions
        named = dimensions.named
        self.names = tuple(sorted(named, key=lambda name: name != MEMORY)) or ("containers",)
        self._places = [len(SLOTS) + named.index(name) for name in self.names if name in named]
        self.check_names(least, "least")
        self.least: Vector = tuple(max(least.get(name, 1), 1) for name in self.names)
        self._rounds = bool(least)
        self._steps = tuple(max(least.get(name, 1), 1) for name in named)
        self.total = self.of_vector(total(nodes))

    def of_vector(self, vector: Vector) -> Vector:
        """The counted amounts of a vector."""
        if not self._places:
            return (sum(vector[: len(SLOTS)]),)
        return tuple(vector[place] for place in self._places)

    def task_container_vector(self, stage: Stage, named: Mapping[str, int]) -> Vector:
        """The vector of a task's container: a slot, and its demand rounded up."""
        return self._rounded_up_to_steps(self.dimensions.of_task(slot_kind(stage), named))

    def master_container_vector(self, named: Mapping[str, int]) -> Vector:
        """The vector of a master's container, which takes no slot."""
        bare = (0,) * len(KINDS)
        amounts = tuple(named.get(name, 0) for name in self.dimensions.named)
        return self._rounded_up_to_steps(bare + amounts)

    def amounts_by_name(self, named: Mapping[str, int], otherwise: Vector) -> Vector:
        """Counted amounts by name; of what is not named, what they are otherwise."""
        pairs = zip(self.names, otherwise, strict=True)
        return tuple(named.get(name, usual) for name, usual in pairs)

    def check_names(self, named: Mapping[str, int], what: str) -> None:
        """PolicySpecError for a resource that no node has."""
        for name in named:
            if name not in self.names:
                known = ", ".join(f"`{each}`" for each in self.names)
                told = f"`yarn`: `{what}` names `{name}`; nodes have {known}"
                hint = f"`cluster.capacity={{{name}=…}}` says how much each has"
                raise PolicySpecError(f"{told}; {hint}")

    def _rounded_up_to_steps(self, vector: Vector) -> Vector:
        if not self._rounds:
            return vector
        named = zip(vector[len(SLOTS) :], self._steps, strict=True)
        return vector[: len(SLOTS)] + tuple(-(-max(n, 1) // step) * step for n, step in named)
