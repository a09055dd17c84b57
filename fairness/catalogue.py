"""All properties, in the order in which tables have them."""

from fairness.properties import accounts, relations, shares, sharing, work
from fairness.property import Property

PROPERTIES: tuple[Property, ...] = (
    *accounts.PROPERTIES,
    *work.PROPERTIES,
    *sharing.PROPERTIES,
    *shares.PROPERTIES,
    *relations.PROPERTIES,
)

BY_NAME: dict[str, Property] = {prop.name: prop for prop in PROPERTIES}
