"""All properties, in the order in which tables have them."""

from callboard.fairness.properties import (
    equivalences,
    invariants,
    metamorphic,
    preempting,
    share_axioms,
    slot_allocation,
    sojourn,
    work_conservation,
)
from callboard.fairness.property import Property

PROPERTIES: tuple[Property, ...] = (
    *invariants.INVARIANT_PROPERTIES,
    *work_conservation.WORK_PROPERTIES,
    *slot_allocation.ALLOCATION_PROPERTIES,
    *share_axioms.SHARE_PROPERTIES,
    *sojourn.SOJOURN_PROPERTIES,
    *preempting.PREEMPTION_PROPERTIES,
    *metamorphic.METAMORPHIC_PROPERTIES,
    *equivalences.EQUIVALENCE_PROPERTIES,
)

PROPERTIES_BY_NAME: dict[str, Property] = {prop.name: prop for prop in PROPERTIES}
