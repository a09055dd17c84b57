"""The keys of a scenario in the words of an axis."""

from callboard.experiments.many.sweeps.played_cell import Setting
from callboard.experiments.pages.charts.cell_table import SCENARIO, short_key

_WORDS = {
    "cluster.nodes": "nodes",
    "cluster.map_slots": "map slots a node",
    "cluster.reduce_slots": "reduce slots a node",
    "cluster.replication": "replicas of a block",
    "cluster.heartbeat.interval_ms": "heartbeat interval (ms)",
    "cluster.heartbeat.expiry_ms": "silence until a node is lost (ms)",
    "cluster.heartbeat.out_of_band": "heartbeats out of band",
    "tasks.sigma": "noise of task lengths σ",
    "tasks.slowstart": "maps done when reduces start (share)",
    "tasks.off_rack_factor": "length of off-rack maps (×)",
    "tasks.rack_factor": "length of rack-local maps (×)",
    "tasks.straggler_share": "stragglers (share)",
    "tasks.straggler_factor": "length of stragglers (×)",
    "workload.jobs": "jobs",
}

_UNITS = {"_ms": " (ms)", "_s": " (s)"}


def key_words(key: str) -> str:
    """What an axis calls a key: `tasks.sigma` is “noise of task lengths σ”; of a key that has no
    words of its own the last part is read out, with its unit.
    """
    if key in _WORDS:
        return _WORDS[key]
    last = key.rpartition(".")[2]
    for ending, unit in _UNITS.items():
        if last.endswith(ending):
            return last.removesuffix(ending).replace("_", " ") + unit
    return last.replace("_", " ")


def unambiguous_key_words(key: str, keys: list[str]) -> str:
    """The same among other keys; as it is spelled where two would have the same words."""
    words = key_words(key)
    return words if [key_words(each) for each in keys].count(words) == 1 else short_key(key, keys)


def setting_words(setting: Setting, keys: list[str]) -> str:
    """The setting in words, of these keys only."""
    return ", ".join(setting_parts(setting, keys))


def setting_parts(setting: Setting, keys: list[str]) -> list[str]:
    """The words of each of these keys."""
    shown = [(key, value) for key, value in setting if key in keys]
    return [
        value if key == SCENARIO else f"{unambiguous_key_words(key, keys)} = {value}"
        for key, value in shown
    ]
