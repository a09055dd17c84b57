"""What tells runs apart: their policies, scenarios and seeds, and the settings in which recorded
runs of one scenario differ.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from callboard.actors.vocabulary.events import RunStarted
from callboard.experiments.many.sweeps.played_cell import Setting
from callboard.experiments.pages.charts.cell_table import PARAMS_MAX, setting_label
from callboard.experiments.pages.charts.chart_run import ChartRun
from callboard.experiments.pages.charts.chart_style import chart_text, unused_name
from callboard.scenarios.scenario_file import from_dict
from callboard.scheduler.registry.spelling import short_policy
from callboard.scheduler.text.scenario_error import ScenarioError

SETTINGS_MAX = 6
"""Runs that differ in more keys are of two worlds, which no row of settings describes."""

_VALUE_MAX = 40
_TOLD_APART = {"name", "seed", "story", "policies"}
"""Keys that the runs' own names and seeds tell, or that change no run."""

_UNSET = "unset"


def run_settings(runs: Sequence[ChartRun]) -> list[Setting]:
    """Of each run the keys in which not all runs of its scenario are alike, with its own values,
    if they are few (`SETTINGS_MAX`); long lists by how much they hold.
    """
    worlds: dict[str, list[dict[str, str]]] = {}
    mine = []
    for run in runs:
        mine.append(
            {} if run.history is None else dict(_keys_with_values(run.history.started, run.policy))
        )
        worlds.setdefault(run.summary.scenario, []).append(mine[-1])
    varied = {name: _differing_keys(each) for name, each in worlds.items()}
    return [
        tuple(
            (k, texts[_value_at_key(k, leaves)])
            for k, texts in varied[scenario].items()
            if _value_at_key(k, leaves)
        )
        for scenario, leaves in zip((run.summary.scenario for run in runs), mine, strict=True)
    ]


def _differing_keys(worlds: Sequence[Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """The keys in which they differ, with each value in short: unlike values read unlike."""
    keys = dict.fromkeys(key for leaves in worlds for key in leaves)
    values = {
        key: dict.fromkeys(filter(None, (_value_at_key(key, each) for each in worlds)))
        for key in keys
    }
    found = {key: each for key, each in values.items() if len(each) > 1}
    few = found if len(found) <= SETTINGS_MAX else {}
    return {key: _shortened_values(each) for key, each in few.items()}


def _value_at_key(key: str, leaves: Mapping[str, str]) -> str:
    """The value; empty for a setting of a part of another policy, which is none of this run's."""
    return leaves.get(key, "" if key.startswith("parts.") else _UNSET)


def _shortened_values(values: Iterable[str]) -> dict[str, str]:
    short: dict[str, str] = {}
    for value in values:
        text = value.strip('"')
        if value == "[]":
            text = "none"
        elif value.startswith("[") and len(value) > _VALUE_MAX:
            held = len(msgspec.json.decode(value))
            text = f"{held} {'entry' if held == 1 else 'entries'}"
        short[value] = unused_name(text, list(short.values()))
    return short


def labelled_runs(runs: Sequence[ChartRun]) -> list[ChartRun]:
    """The runs with labels that tell them apart: the policy, and scenario, settings and seed where
    those differ; a number where nothing does.
    """
    scenarios = len({run.summary.scenario for run in runs}) > 1
    seeds = len({run.summary.seed for run in runs}) > 1
    labels: list[str] = []
    for run, setting in zip(runs, run_settings(runs), strict=True):
        parts = [short_policy(run.policy, PARAMS_MAX)]
        parts += [run.summary.scenario] if scenarios else []
        parts += [setting_label(setting, [key for key, _ in setting])] if setting else []
        parts += [run.seed_words] if seeds else []
        labels.append(unused_name(chart_text(", ".join(parts)), labels))
    return [replace(run, label=label) for run, label in zip(runs, labels, strict=True)]


def _keys_with_values(started: RunStarted, policy: str) -> Iterator[tuple[str, str]]:
    """All keys of the scenario that count under a policy, with their values in JSON, and with the
    defaults if it is of this version.  Of a workload's file its name counts, wherever it lay.
    """
    plain: object = started.scenario
    with suppress(ScenarioError):
        plain = msgspec.to_builtins(from_dict(started.scenario, check_timeline=False))
    for key, value in _flattened_keys("", plain):
        part = key.removeprefix("parts.").partition(".")[0] if key.startswith("parts.") else ""
        if not part or re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", policy):
            yield key, value.rpartition("/")[2].strip('"') if key == "workload.path" else value


def _flattened_keys(key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if key or name not in _TOLD_APART:
                yield from _flattened_keys(f"{key}.{name}".removeprefix("."), inner)
    else:
        yield key, _UNSET if value is None else msgspec.json.encode(value).decode()
