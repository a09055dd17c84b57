"""All properties, in the order in which tables have them."""

from callboard.fairness.properties import (
    accounts,
    preempting,
    relations,
    shares,
    sharing,
    sojourn,
    twins,
    work,
)
from callboard.fairness.property import Property

PROPERTIES: tuple[Property, ...] = (
    *accounts.PROPERTIES,
    *work.PROPERTIES,
    *sharing.PROPERTIES,
    *shares.PROPERTIES,
    *sojourn.PROPERTIES,
    *preempting.PROPERTIES,
    *relations.PROPERTIES,
    *twins.PROPERTIES,
)

BY_NAME: dict[str, Property] = {prop.name: prop for prop in PROPERTIES}
