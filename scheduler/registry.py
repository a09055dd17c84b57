"""The parts that ship, by name, and how a policy is spelled: `fair`, later `fair+delay+kill`."""

from difflib import get_close_matches

from scheduler.orders.fair import Fair
from scheduler.orders.fifo import Fifo
from scheduler.orders.hfsp import Hfsp
from scheduler.orders.size_based import Las, Ps, Sjf, Srpt
from scheduler.orders.virtual import FspFifo, FspPs, Psbs
from scheduler.policy import Order, Policy

ORDERS: dict[str, type[Order]] = {
    part.name: part for part in (Fifo, Fair, Hfsp, Srpt, Sjf, Las, Ps, FspFifo, FspPs, Psbs)
}
"""Every order that ships, by its name in a policy spec."""


class PolicySpecError(ValueError):
    """A policy spec that names no known policy; the message is meant for people."""


def make_policy(spec: str) -> Policy:
    """A fresh policy from its spec: an order's name.

    Raises `PolicySpecError` naming the known orders, and the one that was probably meant.
    """
    order = ORDERS.get(spec.strip())
    if order is None:
        near = get_close_matches(spec.strip(), ORDERS, n=1)
        meant = f"; did you mean `{near[0]}`?" if near else ""
        known = ", ".join(f"`{name}`" for name in ORDERS)
        raise PolicySpecError(f"unknown policy `{spec}`{meant}  Known policies: {known}.")
    return Policy(order())
