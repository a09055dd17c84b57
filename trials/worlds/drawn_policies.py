"""Policies drawn from the registry: any parts that go together, with any of their parameters."""

from collections.abc import Mapping, Sequence
from functools import partial

from callboard.actors.architectures import ARCHITECTURES
from callboard.scheduler.orders.coshh.coshh import Coshh
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.policy import NoPreemption, Part, PolicySpecError, Spelled
from callboard.scheduler.registry import parts
from callboard.scheduler.registry.parameters import decode_params
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.registry.spelling import ARCHITECTURE, PART_KINDS
from trials.worlds.declared_values import DeclaredValues, Draw

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


def draw_architecture(values: DeclaredValues, resources: Sequence[str] = ()) -> str:
    """The spelling of an architecture other than the master's; what it says of named resources
    says it of these.
    """
    own: dict[str, Draw] = {
        "am": partial(_amounts, values, resources, (0, 1)),  # masters leave room for tasks
        "least": partial(_amounts, values, resources, (1, 2)),
        "min_resources": partial(_amounts, values, resources, (2, 4, 8)),
        "max_resources": partial(_amounts, values, resources, (8, 12)),
        **dict.fromkeys(("t_job", "service_t_job"), lambda: values.one_of((0.01, 0.1, 1.0))),
        **dict.fromkeys(("t_task", "service_t_task"), lambda: values.one_of((0.005, 0.1))),
        "capacity": lambda: values.one_of((5.0, 10.0, 20.0)),
        "maximum_capacity": lambda: values.one_of((25.0, 50.0, 100.0)),
        "user_limit_factor": lambda: values.one_of((1.0, 5.0, 10.0)),
        "schedulers": lambda: values.one_of((1, 2, 3)),
        "probes": lambda: values.one_of((1.0, 1.5, 2.0, 3.0)),
    }
    for _ in range(_TRIES):
        name = values.one_of(sorted(ARCHITECTURES))
        part = ARCHITECTURES[name]()
        try:
            chosen = _chosen(part, name, values.struct(part.Params, own))
            chosen.make()
        except (PolicySpecError, ValueError):
            continue
        return parts.spell_policy({ARCHITECTURE: chosen})
    raise AssertionError("no architecture could be made of what was drawn")


def _amounts(
    values: DeclaredValues, resources: Sequence[str], amounts: Sequence[int]
) -> dict[str, int] | None:
    """So much of each resource; None where there are none."""
    return {each: values.one_of(amounts) for each in resources} or None


def _known(kind: str) -> list[type[Part]]:
    return [part for part in PARTS.values() if parts.part_kind(part) == kind]


def _part_spec(values: DeclaredValues, known: Sequence[type[Part]]) -> parts.PartSpec:
    part = values.one_of(known)
    return _chosen(part, part.name, values.struct(part.Params, {"law": partial(_law, values)}))


def _law(values: DeclaredValues) -> str:
    """Of a job's work, whose mean is that of a task or two here."""
    return values.one_of(
        ("exponential(mean=10)", "uniform(low=1, high=9)", "lognormal(sigma=2, mean=4)")
    )


def _chosen(part: type[Spelled], name: str, drawn: Mapping[str, object]) -> parts.PartSpec:
    """With what was drawn for it, but for what would mean nothing beside the rest."""
    idle = part.unused_params(decode_params(drawn, part.Params, name))
    kept = {field: value for field, value in drawn.items() if field not in idle}
    return parts.PartSpec(name, part, decode_params(kept, part.Params, name), part.Params())
