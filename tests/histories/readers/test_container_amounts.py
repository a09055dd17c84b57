"""Memory and vcores of containers: read from every format that has them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.histories.readers.samples import imported, remark, written
from tests.histories.readers.test_rumen import job as logged_job
from tests.histories.readers.test_sls import container, job, synth

SMALL, LARGE = (("memory", 1024), ("vcores", 1)), (("memory", 2048), ("vcores", 2))
STATED: dict[str, Any] = {"container.memory-mb": 1024, "container.vcores": 1}
TWICE: dict[str, Any] = {"container.memory-mb": 2048, "container.vcores": 2}


def containers() -> str:
    return job(
        container("map", 1000, 8000, **STATED),
        container("map", 1000, 8000, **STATED),
        container("reduce", 9000, 12_000, **TWICE),
    )


def classes(**amounts: Any) -> str:
    made = json.loads(synth(num_jobs=3))
    made["workloads"][0]["job_classes"][0]["tasks"][0] |= amounts
    return json.dumps(made)


def table() -> str:
    return "j,t,n,took,mb\nj1,0,2,10,1024\n"


@pytest.mark.parametrize(
    ("text", "columns", "demands"),
    [
        (containers(), "", (SMALL, LARGE)),
        (classes(max_memory={"val": 1024}, max_vcores={"val": 1}), "", (SMALL, ())),
        (
            json.dumps(logged_job(jobMapMB=1024, jobReduceMB=-1)),
            "",
            ((("memory", 1024),), ()),
        ),
        (
            table(),
            "job=j,submit=t,maps=n,map_time=took,memory=mb,unit=s",
            ((("memory", 1024),), (("memory", 1024),)),
        ),
    ],
    ids=["SLS", "SYNTH", "Rumen", "table"],
)
def test_what_a_container_takes_is_read(
    tmp_path: Path, text: str, columns: str, demands: object
) -> None:
    found = imported(written(tmp_path, text), columns)
    assert {each.demands for each in found.recording.jobs} == {demands}
    assert remark(found.remarks, "memory and vcores of containers")[0] == "read"


def test_a_topology_says_what_nodes_have_and_unlike_ones_get_what_most_have(
    tmp_path: Path,
) -> None:
    nodes: list[dict[str, object]] = [
        {"node": f"h{n}", "memory-mb": 8192, "vcores": 8} for n in (1, 2)
    ]
    rack = {"rack": "r", "nodes": [*nodes, {"node": "h3", "memory-mb": 4096, "vcores": 8}]}
    found = imported(written(tmp_path, containers() + json.dumps(rack)))
    assert found.recording.capacity == (("memory", 8192), ("vcores", 8))
    assert remark(found.remarks, "with other memory or vcores: taken to have the commonest")[
        :2
    ] == ("guessed", 1)


def test_where_nothing_says_what_nodes_have_it_fills_their_slots(tmp_path: Path) -> None:
    """Two maps and a reduce ran on the host at most: 2 · 1,024 + 2,048 MB, 2 · 1 + 2 cores."""
    found = imported(written(tmp_path, containers()))
    assert (found.recording.map_slots, found.recording.reduce_slots) == (2, 1)
    assert found.recording.capacity == (("memory", 4096), ("vcores", 4))
    assert remark(found.remarks, "amount of a node: memory 4,096")[0] == "guessed"
