"""Which policies a property speaks of: each function says why it does not, or None if it does."""

from collections.abc import Callable

from callboard.scheduler.entitlements import EntitlingOrder
from callboard.scheduler.policy import AnyLocality, Policy


def misfit_unless_part_is(part: str, kind: type, otherwise: str) -> Callable[[Policy], str | None]:
    """Speaks of policies whose part is of the kind; `{}` in `otherwise` is the part's name."""

    def misfit(policy: Policy) -> str | None:
        found = getattr(policy, part)
        return None if isinstance(found, kind) else otherwise.format(f"`{found.name}`")

    return misfit


with_entitlements = misfit_unless_part_is(
    "order", EntitlingOrder, "{} does not say what each job is due"
)
"""Speaks of orders that state shares."""


def why_order_overruled(policy: Policy) -> str | None:
    """Speaks of policies whose order alone decides which job gets a slot."""
    delayed = type(policy.locality) is not AnyLocality
    passed_over = f"jobs may be passed over by `{policy.locality.name}`" if delayed else None
    return why_preempts_or_speculates(policy) or passed_over


def why_preempts_or_speculates(policy: Policy) -> str | None:
    """Speaks of policies that neither preempt nor speculate."""
    if policy.preemption.interval_ms is not None:
        return f"slots may be taken by `{policy.preemption.name}`"
    if policy.speculates:
        return f"slots may go to speculative attempts by `{policy.speculation.name}`"
    return None
