"""Which parts ship, and where: a part's module is loaded when the part is asked for."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TypeVar

from callboard.scheduler import policy
from callboard.scheduler.policy import Part

PartT = TypeVar("PartT", bound=Part)


class ShippedParts(Mapping[str, type[PartT]]):
    """Parts by their names in a spelling; `places` says in which module each is, under
    `callboard.scheduler`, and its class there.
    """

    def __init__(self, places: Mapping[str, tuple[str, str]]) -> None:
        self._places = places
        self._loaded: dict[str, type[PartT]] = {}

    def __getitem__(self, name: str) -> type[PartT]:
        if name not in self._loaded:
            module, part = self._places[name]
            self._loaded[name] = getattr(import_module(f"callboard.scheduler.{module}"), part)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


_SINGLE = "orders.size_based.single_server"
_VIRTUAL = "orders.size_based.virtual_time"
_ORDERS = {
    "fifo": ("orders.fifo", "Fifo"),
    "fair": ("orders.fair.fair", "Fair"),
    "capacity": ("orders.capacity.capacity", "Capacity"),
    "hfsp": ("orders.size_based.hfsp", "Hfsp"),
    "srpt": (_SINGLE, "Srpt"),
    "psjf": (_SINGLE, "Psjf"),
    "sjf": (_SINGLE, "Sjf"),
    "gittins": ("orders.size_based.gittins", "Gittins"),
    "las": (_SINGLE, "Las"),
    "ps": (_SINGLE, "Ps"),
    "fsp+fifo": (_VIRTUAL, "FspFifo"),
    "fsp+ps": (_VIRTUAL, "FspPs"),
    "psbs": (_VIRTUAL, "Psbs"),
    "coshh": ("orders.coshh.coshh", "Coshh"),
    "hybrid": ("orders.coshh.hybrid", "Hybrid"),
}
_RULES = {
    "any_locality": ("policy", "AnyLocality"),
    "delay": ("locality", "Delay"),
    "no_preemption": ("policy", "NoPreemption"),
    "kill": ("preemption.kill", "KillPreemption"),
    "suspend": ("preemption.kill", "SuspendPreemption"),
    "global": ("preemption.global_preemption", "GlobalPreemption"),
    "preemptive": ("preemption.rank_based", "RankPreemption"),
    "no_speculation": ("policy", "NoSpeculation"),
    "naive": ("speculation.naive", "Naive"),
    "late": ("speculation.late", "Late"),
    "mantri": ("speculation.mantri", "Mantri"),
}

ORDERS: Mapping[str, type[policy.Order]] = ShippedParts(_ORDERS)
"""Every order that ships, by its name in a policy spec."""

PARTS: Mapping[str, type[Part]] = ShippedParts(_ORDERS | _RULES)
"""Every part that ships, by its name in a policy spec."""
