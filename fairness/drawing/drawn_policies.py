"""Policies drawn from the registry: any parts that go together, with any of their parameters."""

from collections.abc import Sequence

from callboard.fairness.drawing.declared_values import DeclaredValues
from callboard.scheduler.orders.coshh.coshh import Coshh
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.policy import NoPreemption, Part, PolicySpecError
from callboard.scheduler.registry import parts
from callboard.scheduler.registry.parameters import decode_params
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.registry.spelling import PART_KINDS

_TRIES = 50


def draw_policy(values: DeclaredValues, brisk: float = 0.5, *, preempts: bool = False) -> str:
    """The spelling of a policy that can be made; so probably all its clocks are short.  One that
    `preempts` has a rule to do so, and more often an order that says who is due what.
    """
    values = values.brisk() if values.chance(brisk) else values
    for _ in range(_TRIES):
        known = {kind: _known(kind) for kind in PART_KINDS}
        if preempts:
            known["preemption"].remove(NoPreemption)
            known["order"] = values.one_of(([Fair], [Coshh], known["order"], known["order"]))
        try:
            spec = {kind: _part_spec(values, known[kind]) for kind in PART_KINDS}
            parts.compose_policy(spec)
        except (PolicySpecError, ValueError):
            continue
        return parts.spell_policy(spec)
    raise AssertionError("no policy could be made of what was drawn")


def _known(kind: str) -> list[type[Part]]:
    return [part for part in PARTS.values() if parts.part_kind(part) == kind]


def _part_spec(values: DeclaredValues, known: Sequence[type[Part]]) -> parts.PartSpec:
    part = values.one_of(known)
    plain = values.struct(part.Params)
    params = decode_params(plain, part.Params, part.name)
    return parts.PartSpec(part.name, part, params, part.Params())
