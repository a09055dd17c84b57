"""HDFS's placement: three replicas over two racks, and stable when the cluster grows."""

import numpy as np
import pytest
from numpy.typing import NDArray

from callboard.actors.placement import Placement


def place(
    seed: int, job: int, blocks: int, replication: int, nodes: int, racks: int
) -> NDArray[np.int32]:
    return Placement(seed, nodes=nodes, racks=racks, replication=replication).place_job_blocks(
        job, blocks
    )


def test_three_replicas_lie_on_three_nodes_in_two_racks() -> None:
    placed = place(seed=1, job=4, blocks=2000, replication=3, nodes=100, racks=4)
    assert placed.shape == (2000, 3)
    racks = placed % 4
    assert (racks[:, 0] != racks[:, 1]).all()
    assert (racks[:, 1] == racks[:, 2]).all()
    assert (placed[:, 1] != placed[:, 2]).all()


def test_every_node_holds_about_its_share() -> None:
    """60,000 replicas on 100 nodes: 600 each, within 5 standard deviations."""
    placed = place(seed=2, job=0, blocks=20_000, replication=3, nodes=100, racks=4)
    held = np.bincount(placed.ravel(), minlength=100)
    assert abs(held - 600).max() < 5 * np.sqrt(600)


def test_one_node_more_moves_replicas_only_to_itself() -> None:
    """First replicas move to the new node or not at all; hardly any other one moves elsewhere."""
    before = place(seed=3, job=1, blocks=5000, replication=3, nodes=40, racks=4)
    after = place(seed=3, job=1, blocks=5000, replication=3, nodes=41, racks=4)
    moved = before[:, 0] != after[:, 0]
    assert (after[moved, 0] == 40).all()
    assert 0.5 / 41 < moved.mean() < 1.5 / 41
    assert ((before != after) & (after != 40)).mean() < 0.03


def test_a_block_lies_where_it_lies_whatever_comes_after_it() -> None:
    few = place(seed=3, job=1, blocks=10, replication=3, nodes=40, racks=4)
    many = place(seed=3, job=1, blocks=900, replication=3, nodes=40, racks=4)
    assert (many[:10] == few).all()


@pytest.mark.parametrize(
    ("nodes", "racks", "replicas"), [(1, 1, 1), (2, 1, 2), (2, 2, 2), (3, 3, 3), (5, 4, 3)]
)
def test_small_clusters_hold_what_they_can(nodes: int, racks: int, replicas: int) -> None:
    placed = place(seed=5, job=0, blocks=50, replication=3, nodes=nodes, racks=racks)
    for row in placed.tolist():
        present = [node for node in row if node >= 0]
        assert len(present) == replicas == len(set(present))
        assert all(node < nodes for node in present)


@pytest.mark.parametrize("replication", [1, 2, 3, 5])
@pytest.mark.parametrize("blocks", [16, 17, 300])
@pytest.mark.parametrize(("nodes", "racks"), [(1, 1), (2, 1), (3, 2), (7, 7), (40, 4), (601, 20)])
def test_a_row_is_the_same_as_its_blocks_one_by_one(
    nodes: int, racks: int, blocks: int, replication: int
) -> None:
    placement = Placement(9, nodes=nodes, racks=racks, replication=replication)
    for job in (0, 6):
        row = placement.place_job_blocks(job, blocks).tolist()
        for block, placed in enumerate(row):
            assert [node for node in placed if node >= 0] == placement.place_block(job, block)
