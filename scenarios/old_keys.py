"""What keys of a scenario were called before; they are still understood, in old journals too."""

from typing import Any

_CLUSTER = {"kind": "node_type"}
_HEARTBEAT = {"tasks_per_beat": "tasks_per_heartbeat"}


def new_key(parts: list[str]) -> list[str]:
    """A dotted key, as `--set` takes it, with the names of today."""
    match parts:
        case ["cluster", "heartbeat", key, *rest]:
            return ["cluster", "heartbeat", _HEARTBEAT.get(key, key), *rest]
        case ["cluster", "group", place, key, *rest]:
            return ["cluster", "group", place, _CLUSTER.get(key, key), *rest]
        case ["cluster", key, *rest]:
            return ["cluster", _CLUSTER.get(key, key), *rest]
    return parts


def with_new_keys(raw: Any) -> Any:
    """The data with the keys of today; the old one stays, and is unknown, where both are there."""
    if not isinstance(raw, dict) or not isinstance(raw.get("cluster"), dict):
        return raw
    cluster = _with_renamed_keys(raw["cluster"], _CLUSTER)
    if "heartbeat" in cluster:
        cluster["heartbeat"] = _with_renamed_keys(cluster["heartbeat"], _HEARTBEAT)
    if isinstance(cluster.get("group"), list | tuple):
        cluster["group"] = [_with_renamed_keys(group, _CLUSTER) for group in cluster["group"]]
    return {**raw, "cluster": cluster}


def _with_renamed_keys(table: Any, new: dict[str, str]) -> Any:
    if not isinstance(table, dict):
        return table
    return {
        new[key] if key in new and new[key] not in table else key: value
        for key, value in table.items()
    }
