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
from callboard.fairness.property import Property, is_guaranteed
from callboard.scheduler.policy import Policy, PolicySpecError
from callboard.scheduler.text.strict_decoder import suggestion

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


def property_name_of_rule(rule: str) -> str:
    """The name of the property that looks at a rule, by its id; else `finishes`."""
    found = (prop.name for prop in PROPERTIES if prop.source.partition(";")[0] == rule)
    return next(found, "finishes")


def guaranteed_by(policy: Policy) -> list[Property]:
    """The properties that a policy guarantees.  PolicySpecError if a part lists another name."""
    for part in policy.parts:
        names: object = part.guarantees  # a user's own, which may be anything
        if isinstance(names, str):
            told = f"guarantees {names!r}; names stand in a tuple, ({names!r},)"
            raise PolicySpecError(f"`{part.name}` {told}")
        for name in part.guarantees:
            if name not in PROPERTIES_BY_NAME:
                other = suggestion(name, list(PROPERTIES_BY_NAME))
                told = f"guarantees `{name}`, which is no property; {other}"
                raise PolicySpecError(f"`{part.name}` {told}")
    return [prop for prop in PROPERTIES if is_guaranteed(policy, prop)]
