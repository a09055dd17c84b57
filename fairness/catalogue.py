"""All properties, in the order in which tables have them."""

from callboard.fairness.properties import (
    equivalences,
    invariants,
    metamorphic,
    preempting,
    repeated_victims,
    share_axioms,
    slot_allocation,
    sojourn,
    work_conservation,
)
from callboard.fairness.property import Property

PROPERTIES: tuple[Property, ...] = tuple(
    value
    for module in (
        invariants,
        work_conservation,
        slot_allocation,
        share_axioms,
        sojourn,
        preempting,
        repeated_victims,
        metamorphic,
        equivalences,
    )
    for value in vars(module).values()
    if isinstance(value, Property)
)
"""Those that these modules define, in the order in which they do."""

PROPERTIES_BY_NAME: dict[str, Property] = {prop.name: prop for prop in PROPERTIES}
