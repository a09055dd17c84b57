"""Policies drawn from the registry: any parts that go together, with any of their parameters."""

from callboard.fairness.drawing.declared_values import DeclaredValues
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry import parts
from callboard.scheduler.registry.parameters import decode_params
from callboard.scheduler.registry.spelling import PART_KINDS

_TRIES = 50


def draw_policy(values: DeclaredValues, brisk: float = 0.5) -> str:
    """The spelling of a policy that can be made; so probably all its clocks are short."""
    values = values.brisk() if values.chance(brisk) else values
    for _ in range(_TRIES):
        try:
            spec = {kind: _part_spec(values, kind) for kind in PART_KINDS}
            parts.compose_policy(spec)
        except (PolicySpecError, ValueError):
            continue
        return parts.spell_policy(spec)
    raise AssertionError("no policy could be made of what was drawn")


def _part_spec(values: DeclaredValues, kind: str) -> parts.PartSpec:
    known = [part for part in parts.PARTS.values() if parts.part_kind(part) == kind]
    part = values.one_of(known)
    plain = values.struct(part.Params)
    params = decode_params(plain, part.Params, part.name)
    return parts.PartSpec(part.name, part, params, part.Params())
