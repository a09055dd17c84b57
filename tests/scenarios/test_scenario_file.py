"""Scenario files: what they hold, and what a person reads when one is wrong."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.scenarios.library_list import DEFAULT_SCENARIO
from callboard.scenarios.overrides import apply_overrides
from callboard.scenarios.scenario_file import (
    Scenario,
    find_scenario,
    from_dict,
    library_scenarios,
    load_scenario,
    make_jobs,
    to_dict,
)
from callboard.scenarios.swim_trace import SwimWorkload
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.scenarios.support import error_of, generated, raw

GOOD = """\
name = "small"

[cluster]
nodes = 4

[[cluster.group]]
nodes = 2
speed = 0.5

[workload]
kind = "jobs"
job = [
    {maps = 2, map_s = 10},
]
"""


def on(kind: str, factor: object) -> str:
    """A scenario with nodes of the type `io`, whose job states a factor."""
    text = GOOD.replace("speed = 0.5", 'speed = 0.5\nnode_type = "io"')
    return text.replace("map_s = 10", f"map_s = 10, on = {{{kind} = {factor}}}")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "it.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read_with_defaults_where_it_is_silent(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path, GOOD))
    assert scenario.name == "small"
    assert (scenario.seed, scenario.policies, scenario.story) == (1, ("fifo", "fair"), "")
    assert (scenario.cluster.nodes, scenario.cluster.racks) == (4, 4)
    assert scenario.cluster.group[0].speed == 0.5
    assert [job.maps for job in make_jobs(scenario)] == [2]


@pytest.mark.parametrize(
    "path", [path for _, path, _ in library_scenarios()], ids=lambda path: path.stem
)
def test_every_scenario_of_the_library_is_good_and_round_trips(path: Path) -> None:
    scenario = load_scenario(path)
    assert scenario.name == path.stem
    assert 10 <= len(scenario.story) <= 57, "a line of the list has 80 columns"
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 60, "a screen"
    assert "Look for" in text
    assert from_dict(to_dict(scenario)) == scenario
    jobs = make_jobs(scenario, path.parent)
    assert [job.job for job in jobs] == list(range(len(jobs)))
    assert [job.submit_ms for job in jobs] == sorted(job.submit_ms for job in jobs)
    assert len({job.name for job in jobs}) == len(jobs)


def test_the_default_scenario_is_as_large_as_it_is_meant_to_be() -> None:
    jobs = make_jobs(load_scenario(find_scenario(DEFAULT_SCENARIO)))
    assert 300 <= len(jobs) <= 500
    assert 20_000 <= sum(job.maps + job.reduces for job in jobs) <= 60_000
    assert max(job.maps for job in jobs) == 3000


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        (GOOD.replace("nodes = 4", "nodez = 4"), 4, "cluster.nodez", "did you mean `nodes`?"),
        (GOOD.replace("nodes = 4", 'nodes = "4"'), 4, "cluster.nodes", 'a whole number, got "4"'),
        (GOOD.replace("nodes = 4", "nodes = 4.5"), 4, "cluster.nodes", "whole number, got 4.5"),
        (GOOD.replace("nodes = 2", "nodes = 0"), 7, "cluster.group[0].nodes", "at least 1"),
        (GOOD.replace("speed = 0.5", "speed = 0"), 8, "cluster.group[0].speed", "at least 0.001"),
        (GOOD.replace("speed = 0.5", "speed = nan"), 8, "cluster.group[0].speed", "finite"),
        (GOOD.replace("speed = 0.5", "speed = inf"), 8, "cluster.group[0].speed", "finite"),
        (GOOD.replace('kind = "jobs"', 'kind = "swin"'), 11, "workload.kind", 'one of "swim"'),
        (GOOD.replace('kind = "jobs"\n', ""), 10, "workload.kind", "required and missing"),
        (GOOD.replace("maps = 2", "maps = 0"), 12, "workload.job[0].maps", "at least 1, got 0"),
        (
            on("oi", 2),
            13,
            "workload.job[0].on.oi",
            'no node is of the type "oi"; there are "", "io"',
        ),
        (on("io", 0), 13, "workload.job[0].on.io", "more than 0"),
        (on("io", '"a"'), 13, "workload.job[0].on.io", 'expected a number, got "a"'),
        (GOOD.replace("nodes = 4", "nodes 4"), 4, "", "not valid TOML"),
        (GOOD.replace('"small"', '"'), 1, "", "not valid TOML"),
        (GOOD.replace('"small"', "small"), 1, "", "a text stands in quotes"),
        (GOOD.replace('"small"', "“small”"), 1, "", 'quotes are straight, as in "a"'),
        (GOOD.replace('"small"', '"small'), 1, "", 'in `name = "small` has no quote at its end'),
        (GOOD.replace("nodes = 4", "nodes = 4s"), 4, "", "in `nodes = 4s` something follows a"),
        (GOOD.replace("nodes = 4", "nodes = 4\nnodes = 5"), 5, "", "`nodes` stands there twice"),
        (GOOD.replace("nodes = 4", "nodes = 4\nnodes.a = 5"), 5, "", "has that name already"),
        (GOOD + "policies = ['fair'", None, "", "the end of the list or table is missing"),
        (GOOD + "[a.b]\n[a.b]\n", None, "", "each begins with [[a.b]]"),
        (GOOD + "policies = ['fair']\n", 15, "workload.policies", "at the top of the file, before"),
        ("policies = 'fair'\n" + GOOD, 1, "policies", 'in brackets, as in ["fair"]'),
        (GOOD.replace("name", "nane"), 1, "nane", "did you mean `name`?"),
        (GOOD.replace('name = "small"', ""), None, "name", "required and missing"),
        ("", None, "", "empty"),
        (" \n\n", None, "", "empty"),
        ("name = " + "[" * 3000, None, "", "nested too deeply"),
        (f"name = 1\n{'.'.join('a' * 100_000)} = 1", 2, "", "a key has more than 16 parts"),
        ("[" + ".".join(['"x"'] * 17) + "]", 1, "", "a key has more than 16 parts"),
        ("[a.b.c]\n" * 100_001, None, "", "its keys have 300,003 parts"),
        (f'story = "{"x" * 1_500_000}"', None, "", "the limit is 1,500,000"),
        ("name = " + "1" * 5000, None, "", "not valid TOML"),
    ],
)
def test_an_error_names_file_line_key_and_remedy(
    tmp_path: Path, text: str, line: int | None, key: str, words: str
) -> None:
    path = written(tmp_path, text)
    error = error_of(lambda: load_scenario(path))
    assert error.source == str(path)
    assert str(error).startswith(str(path))
    if line is not None:
        assert error.line == line
        assert f", line {line}" in str(error)
    assert error.key == key
    assert words in error.problem


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        ("count = 60, maps = 2000000", "workload.job[0]", "`count` x (`maps` + `reduces`)"),
        ("count = 30, maps = 1, reduces = 700000", "workload.job[0]", "the limit is 20,000,000"),
    ],
)
def test_all_tasks_together_are_limited(tmp_path: Path, change: str, key: str, words: str) -> None:
    """Each job alone is within its limit; the keys that multiply are named."""
    text = f'name = "x"\n[workload]\nkind = "jobs"\njob = [{{{change}, map_s = 1}}]\n'
    path = written(tmp_path, text)
    error = error_of(lambda: make_jobs(load_scenario(path)))
    assert error.key == key
    assert words in error.problem


def test_bursts_count_too(tmp_path: Path) -> None:
    burst = 'at_s = 1\nwhat = "burst"\ntimes = 30\nevery_s = 1\njob = {maps = 1000000, map_s = 1}'
    path = written(tmp_path, f"{GOOD}\n[[timeline]]\n{burst}\n")
    error = error_of(lambda: make_jobs(load_scenario(path)))
    assert error.key == "timeline[0].job"
    assert "`times` x `count` x" in error.problem


def test_files_that_are_no_text_files_are_refused_in_words(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'name = "a"\nstory = "caf\xe9"\n')
    assert "line 2: not a text file in UTF-8" in str(error_of(lambda: load_scenario(latin)))
    assert "folder" in str(error_of(lambda: load_scenario(tmp_path)))
    assert "no such file" in str(error_of(lambda: load_scenario(tmp_path / "none.toml")))
    assert "cannot be read" in str(error_of(lambda: load_scenario("a\0b.toml")))


def test_a_line_is_found_past_multi_line_values_that_look_like_tables(tmp_path: Path) -> None:
    story = 'story = """\n[cluster]\nnodes = 4"""\n'
    path = written(tmp_path, story + GOOD.replace("nodes = 4", "nodes = true"))
    assert error_of(lambda: load_scenario(path)).line == 3 + 4


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"cluster": {"nodes": 0}}, "cluster.nodes", "1 to 20,000"),
        ({"cluster": {"nodes": 20_001}}, "cluster.nodes", "at most 20,000"),
        ({"cluster": {"nodes": 10**400}}, "cluster.nodes", "more than thirty digits"),
        (
            {"cluster": {"nodes": 20_000, "group": [{"nodes": 1}]}},
            "cluster.nodes",
            "groups included; got 20,001",
        ),
        ({"cluster": {"nodes": 3, "racks": 4}}, "cluster.racks", "only 3 nodes"),
        ({"cluster": {"racks": 0}}, "cluster.racks", "at least 1,"),
        ({"cluster": {"nodes": 20_000, "map_slots": 20}}, "cluster.nodes", "limit is 200,000"),
        (
            {
                "cluster": {
                    "nodes": 1000,
                    "map_slots": 99,
                    "reduce_slots": 100,
                    "group": [{"nodes": 10, "map_slots": 1}],
                }
            },
            "cluster.nodes",
            "200,010 map and reduce slots in all",
        ),
        (
            {"workload": {"kind": "jobs", "job": [{"maps": 2_000_001, "map_s": 1}]}},
            "workload.job[0].maps",
            "at most 2,000,000",
        ),
        ({"seed": 2**63}, "seed", "at most 9,223,372,036,854,775,807"),
        (
            {"cluster": {"heartbeat": {"interval_ms": 86_400_001}}},
            "cluster.heartbeat.interval_ms",
            "at most 86,400,000",
        ),
        ({"cluster": {"map_slots": 256}}, "cluster.map_slots", "at most 255"),
        ({"cluster": {"map_slots": -1}}, "cluster.map_slots", "at least 0"),
        ({"cluster": {"map_slots": 0}}, "cluster.map_slots", "no node has a map slot"),
        ({"cluster": {"latency_ms": -1}}, "cluster.latency_ms", "at least 0"),
        ({"cluster": {"replication": 0}}, "cluster.replication", "at least 1"),
        ({"cluster": {"speed": 0.0}}, "cluster.speed", "at least 0.001"),
        (
            {"cluster": {"heartbeat": {"interval_ms": 0}}},
            "cluster.heartbeat.interval_ms",
            "at least 1,",
        ),
        (
            {"cluster": {"heartbeat": {"phase_grid_ms": 0}}},
            "cluster.heartbeat.phase_grid_ms",
            "at least 1,",
        ),
        ({"cluster": {"heartbeat": {"send": "al"}}}, "cluster.heartbeat.send", '"all"'),
        ({"tasks": {"sigma": -0.1}}, "tasks.sigma", "at least 0"),
        ({"tasks": {"rack_factor": 0}}, "tasks.rack_factor", "at least 0.001"),
        ({"tasks": {"off_rack_factor": 0}}, "tasks.off_rack_factor", "at least 0.001"),
        ({"tasks": {"slowstart": 1.1}}, "tasks.slowstart", "at most 1"),
        ({"seed": -1}, "seed", "at least 0"),
        ({"seed": 1.0}, "seed", "a whole number"),
        ({"policies": []}, "policies", "a list of length at least 1"),
        ({"policies": "fifo"}, "policies", "a list"),
        ({"story": "two\nlines"}, "story", "a single line"),
        ({"cluster": 3}, "cluster", "a table, got 3"),
        ({"workload": {"kind": "jobs", "job": []}}, "workload.job", "at least one"),
    ],
)
def test_limits_are_kept(changes: dict[str, Any], key: str, words: str) -> None:
    error = error_of(lambda: from_dict(raw(**changes), "it"))
    assert (error.source, error.key) == ("it", key)
    assert words in error.problem


def test_the_limits_themselves_are_allowed() -> None:
    cluster = {"nodes": 20_000, "racks": 20_000, "map_slots": 10, "reduce_slots": 0}
    assert from_dict(raw(cluster=cluster)).cluster.nodes == 20_000
    cluster = {"nodes": 1, "racks": 1, "map_slots": 255, "reduce_slots": 255}
    assert from_dict(raw(cluster=cluster)).cluster.map_slots == 255
    all_in_groups = {
        "nodes": 0,
        "racks": 2,
        "map_slots": 0,
        "group": [{"nodes": 2, "map_slots": 1}],
    }
    assert from_dict(raw(cluster=all_in_groups)).cluster.nodes == 0


def test_jobs_with_reduces_want_a_reduce_slot_somewhere() -> None:
    job = {"maps": 1, "map_s": 1, "reduces": 1, "name": "sorter"}
    workload = {"kind": "jobs", "job": [job]}
    scenario = from_dict(raw(cluster={"reduce_slots": 0}, workload=workload))
    error = error_of(lambda: make_jobs(scenario))
    assert error.key == "cluster.reduce_slots"
    assert 'job "sorter" has reduces; set it to 1 or more' in error.problem
    mixed = {"reduce_slots": 0, "group": [{"nodes": 1, "reduce_slots": 1}]}
    assert make_jobs(from_dict(raw(cluster=mixed, workload=workload)))


def test_keys_are_understood_by_the_names_of_before() -> None:
    old = {
        "kind": "io",
        "heartbeat": {"tasks_per_beat": "one"},
        "group": [{"nodes": 1, "kind": "b"}],
    }
    cluster = from_dict(raw(cluster=old)).cluster
    assert (cluster.node_type, cluster.group[0].node_type) == ("io", "b")
    assert cluster.heartbeat.tasks_per_heartbeat == "one"
    error = error_of(lambda: from_dict(raw(cluster={"kind": 5}), "it"))
    assert error.key == "cluster.node_type"
    error = error_of(lambda: from_dict(raw(cluster={"kind": "io", "node_type": "cpu"}), "it"))
    assert (error.key, "unknown field `kind`" in str(error)) == ("cluster.kind", True)


def test_a_field_of_a_table_is_suggested_with_its_table() -> None:
    """`--set nodes=3`, and `nodes = 3` above the first table."""
    error = error_of(lambda: from_dict({"name": "it", "nodes": 3}, "it"))
    assert error.problem == "unknown field `nodes` in the scenario; did you mean `cluster.nodes`?"


@pytest.mark.parametrize("written", ["kind", "node_type"])
@pytest.mark.parametrize("set_as", ["kind", "node_type"])
def test_overrides_are_understood_by_the_names_of_before(
    tmp_path: Path, written: str, set_as: str
) -> None:
    path = tmp_path / "mixed.toml"
    text = GOOD.replace("speed = 0.5", f'speed = 0.5\n{written} = "io"')
    path.write_text(text.replace("[cluster]", f'[cluster]\n{written} = "io"'))
    sets = [f"cluster.{set_as}=cpu", f"cluster.group.0.{set_as}=disk"]
    changed = load_scenario(path, [*sets, "cluster.heartbeat.tasks_per_beat=one"]).cluster
    assert (changed.node_type, changed.group[0].node_type) == ("cpu", "disk")
    assert changed.heartbeat.tasks_per_heartbeat == "one"
    error = error_of(lambda: load_scenario(path, [f"cluster.{set_as}=5"]))
    assert (error.key, error.source) == ("cluster.node_type", f"{path} with your settings")


def test_overrides_are_toml_values_or_else_strings() -> None:
    before = raw(cluster={"group": [{"nodes": 1}]})
    sets = [
        "cluster.nodes=50",
        "tasks.sigma = 0.5",
        "cluster.heartbeat.out_of_band=true",
        'policies=["fair"]',
        "cluster.group.0.nodes=7",
        "cluster.group.1.nodes=8",
        "workload.arrivals={kind='poisson'}",
        "name=no quotes = fine",
        "story=1\nseed=2",
    ]
    after = apply_overrides(before, sets)
    assert after["cluster"] == {
        "nodes": 50,
        "heartbeat": {"out_of_band": True},
        "group": [{"nodes": 7}, {"nodes": 8}],
    }
    assert after["tasks"] == {"sigma": 0.5}
    assert after["policies"] == ["fair"]
    assert after["workload"]["arrivals"] == {"kind": "poisson"}
    assert after["name"] == "no quotes = fine"
    assert after["story"] == "1\nseed=2"
    assert "seed" not in after
    assert before == raw(cluster={"group": [{"nodes": 1}]})


def test_a_text_that_ends_like_a_number_is_a_text() -> None:
    """`--set name=1.` was refused, as if a number had to stand there."""
    assert apply_overrides(raw(), ["name=1."])["name"] == "1."


def test_a_list_of_tables_begins_with_its_first_entry() -> None:
    """It was refused, with what to write in a file."""
    sets = ["timeline.0.what=burst", "timeline.0.job.maps=3", "cluster.group.0.nodes=2"]
    after = apply_overrides(raw(), sets)
    assert after["timeline"] == [{"what": "burst", "job": {"maps": 3}}]
    assert after["cluster"]["group"] == [{"nodes": 2}]


@pytest.mark.parametrize(
    "override",
    ["", "cluster", "=3", ".=3", "cluster..nodes=3", "name.first=x", "cluster.group.2.nodes=1",
     "cluster.group.x.nodes=1", "cluster.group.²=1", "a." * 20 + "b=1"],
)  # fmt: skip
def test_an_override_that_leads_nowhere_is_refused(override: str) -> None:
    before = raw(cluster={"group": [{"nodes": 1}]})
    assert error_of(lambda: apply_overrides(before, [override])).source == "--set"


def test_a_bad_override_is_not_blamed_on_a_line_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    error = error_of(lambda: load_scenario(path, ["cluster.nodes=many"]))
    assert (error.line, error.key) == (None, "cluster.nodes")
    assert error.source == f"{path} with your settings"
    error = error_of(lambda: load_scenario(path, ["cluster.group.9.speed=0.5"]))
    assert error.source == "--set"
    error = error_of(lambda: load_scenario(path, ["workload.job=[{map_s = 5}]"]))
    assert (error.line, error.source) == (None, f"{path} with your settings")  # no `maps`
    assert load_scenario(path, ["cluster.nodes=9"]).cluster.nodes == 9


def test_find_knows_the_library_and_files_and_suggests(tmp_path: Path) -> None:
    assert find_scenario("two-jobs").name == "two-jobs.toml"
    path = written(tmp_path, GOOD)
    assert find_scenario(str(path)) == path
    assert "did you mean `two-jobs`?" in str(error_of(lambda: find_scenario("two-job")))
    assert "`callboard scenarios` lists" in str(error_of(lambda: find_scenario("qqqq")))
    assert "no such file" in str(error_of(lambda: find_scenario(str(tmp_path / "none.toml"))))
    assert "folder" in str(error_of(lambda: find_scenario(str(tmp_path))))
    assert "neither" in str(error_of(lambda: find_scenario("a\0b")))
    assert "neither" in str(error_of(lambda: find_scenario("")))


def test_a_folder_is_called_one_without_a_slash_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some-folder").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "some-folder: this is a folder" in str(error_of(lambda: find_scenario("some-folder")))


def test_a_trace_by_itself_is_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "day.tsv"
    path.write_text("job0\t5\t5\t0\t0\t0\n")
    scenario = load_scenario(path, ["workload.jobs=1"])
    assert scenario.name == "day"
    assert [job.submit_ms for job in make_jobs(scenario)] == [5000]
    assert isinstance(scenario.workload, SwimWorkload)


def test_there_are_as_many_racks_as_are_given_sizes() -> None:
    """Unless their number is stated; it was 4, and the sizes did not count."""
    sizes = {"nodes": 12, "rack_sizes": [6, 4, 2]}
    topology = from_dict(raw(cluster=sizes)).cluster.topology()
    assert [topology.rack_of(node) for node in (0, 5, 6, 9, 10, 11)] == [0, 0, 1, 1, 2, 2]
    assert from_dict(raw(cluster={**sizes, "racks": 4})).cluster.topology().racks == 4
    assert from_dict(raw(cluster={"nodes": 4, "rack_sizes": []})).cluster.topology().racks == 4


def test_two_jobs_is_what_its_comment_says() -> None:
    """Long: 12 maps of 60 s on four slots, three waves; short comes at 30 s."""
    long, short = make_jobs(load_scenario(find_scenario("two-jobs")))
    assert (long.maps, long.map_ms, long.submit_ms) == (12, 60_000, 0)
    assert (short.maps, short.map_ms, short.submit_ms) == (2, 10_000, 30_000)
    assert long.reduce_ms + long.shuffle_ms == 25_000


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just(10**400)
)
NAMES = st.sampled_from(
    ["name", "seed", "policies", "cluster", "nodes", "racks", "group", "heartbeat", "tasks",
     "sigma", "workload", "kind", "job", "jobs", "maps", "map_s", "count", "at_s", "arrivals",
     "sizes", "mean_s", "on_s", "off_s", "path", "largest_maps", "task_scale", "pools", "oops"]
)  # fmt: skip
KINDS = st.sampled_from(
    ["swim", "generated", "jobs", "poisson", "bursts", "uniform", "at-once", "counted", "hfsp-dev",
     "facebook-maps", "exponential", "gp-mix", "yahoo", "facebook-categories"]
)  # fmt: skip
TABLES = st.recursive(
    SCALARS | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(document=TABLES)
def test_whatever_the_data_only_a_scenario_error_comes_out(document: object) -> None:
    with suppress(ScenarioError):
        from_dict(document)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    cluster=st.dictionaries(NAMES, TABLES, max_size=3),
    workload=st.dictionaries(NAMES, TABLES, max_size=3),
    kind=KINDS,
    small=st.integers(1, 50),
)
def test_a_scenario_that_decodes_plays_or_says_why(
    cluster: dict[str, Any], workload: dict[str, Any], kind: str, small: int
) -> None:
    document = raw(cluster=cluster, workload={**workload, "kind": kind, "jobs": small})
    try:
        scenario = from_dict(document)
        jobs = make_jobs(scenario)
    except ScenarioError:
        return
    assert from_dict(to_dict(scenario)) == scenario
    assert len(jobs) <= small


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    cluster=st.fixed_dictionaries(
        {}, optional={"nodes": st.integers(4, 99), "speed": st.floats(0.5, 2)}
    ),
    sizes=st.sampled_from(["hfsp-dev", "hfsp-prod", "facebook-maps", "gp-mix", "yahoo"]),
    seed=st.integers(0, 2**63 - 1),
)
def test_a_good_scenario_round_trips(cluster: dict[str, Any], sizes: str, seed: int) -> None:
    scenario: Scenario = from_dict(
        {**generated(sizes={"kind": sizes}), "cluster": cluster, "seed": seed}
    )
    assert from_dict(to_dict(scenario)) == scenario


@settings(derandomize=True, max_examples=200, deadline=None)
@given(text=st.text(max_size=60), override=st.text(max_size=30))
def test_text_of_any_kind_raises_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, text: str, override: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(text, encoding="utf-8", errors="ignore")
    for call in (lambda: load_scenario(path), lambda: apply_overrides(raw(), [override]),
                 lambda: find_scenario(text)):  # fmt: skip
        with suppress(ScenarioError):
            call()


def test_an_expiry_shorter_than_two_heartbeats_is_refused_where_nodes_can_fail() -> None:
    """On 600 nodes the interval is 6,000 ms, and a round trip takes 2 more."""
    pause = [{"what": "pause", "nodes": "node-1", "for_s": 1}]

    def scenario(expiry_ms: int, **more: Any) -> Scenario:
        heartbeats = {"expiry_ms": expiry_ms}
        return from_dict(raw(cluster={"nodes": 600, "heartbeat": heartbeats}, **more))

    error = error_of(lambda: scenario(12_003, timeline=pause))
    assert error.key == "cluster.heartbeat.expiry_ms"
    assert "set it to 12,004 or more" in error.problem
    scenario(12_004, timeline=pause)
    scenario(12_003)


def test_a_node_that_waits_for_a_thinking_master_is_not_given_up_meanwhile() -> None:
    """Ten nodes of which each is thought about for 2 s are heard of every 23 s at the latest."""
    pause = [{"what": "pause", "nodes": "node-1", "for_s": 1}]

    def scenario(expiry_ms: int) -> Scenario:
        heartbeats = {"thinking_ms": 2000, "expiry_ms": expiry_ms}
        return from_dict(raw(cluster={"nodes": 10, "heartbeat": heartbeats}, timeline=pause))

    error = error_of(lambda: scenario(46_003))
    assert "heartbeats come every 23,002 ms" in error.problem
    assert "set it to 46,004 or more" in error.problem
    scenario(46_004)
