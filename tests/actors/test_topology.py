"""Which rack a node stands in, and what follows for placement."""

import numpy as np
import pytest

from callboard.actors.config import Cluster
from callboard.actors.placement import Placement
from callboard.actors.topology import Topology

EVEN, UNEVEN = Topology(3), Topology(3, (2, 5, 1))


def test_nodes_go_round_the_racks_or_fill_them_in_order() -> None:
    assert [EVEN.rack_of(node) for node in range(8)] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert [UNEVEN.rack_of(node) for node in range(8)] == [0, 0, 1, 1, 1, 1, 1, 2]


@pytest.mark.parametrize("topology", [EVEN, UNEVEN])
def test_rows_agree_with_single_nodes(topology: Topology) -> None:
    nodes = np.arange(8, dtype=np.int32)
    assert topology.racks_of(nodes).tolist() == [topology.rack_of(node) for node in range(8)]
    racks = np.arange(3, dtype=np.int64)
    sizes = [topology.rack_size(rack, 8) for rack in range(3)]
    assert topology.rack_sizes(racks, 8).tolist() == sizes
    last = np.array(sizes) - 1
    members = [topology.node_at(rack, sizes[rack] - 1) for rack in range(3)]
    assert topology.nodes_at(racks, last).tolist() == members


@pytest.mark.parametrize("topology", [EVEN, UNEVEN])
def test_every_node_is_the_member_of_its_rack_at_one_place(topology: Topology) -> None:
    members = [
        topology.node_at(rack, place)
        for rack in range(3)
        for place in range(topology.rack_size(rack, 8))
    ]
    assert sorted(members) == list(range(8))
    assert all(
        topology.rack_of(topology.node_at(rack, place)) == rack
        for rack in range(3)
        for place in range(topology.rack_size(rack, 8))
    )


def test_sizes_that_no_longer_fit_the_cluster_do_not_count() -> None:
    cluster = Cluster(nodes=8, racks=3, rack_sizes=(2, 5, 1))
    assert cluster.topology().rack_of(1) == 0
    for changed in (Cluster(nodes=9, racks=3, rack_sizes=(2, 5, 1)), Cluster(nodes=8, racks=2)):
        assert changed.topology().rack_of(1) == 1
    assert Cluster(nodes=8, racks=5, rack_sizes=(2, 5, 1)).topology().racks == 5


@pytest.mark.parametrize(("nodes", "racks"), [(8, 3), (4, 2), (1, 1), (80, 30), (81, 31)])
def test_racks_keep_their_mean_size_on_another_number_of_nodes(nodes: int, racks: int) -> None:
    assert Cluster(nodes=nodes, racks=3, rack_sizes=(2, 5, 1)).topology().racks == racks


def test_hdfs_puts_the_second_and_third_replica_into_one_other_rack_of_uneven_ones() -> None:
    topology = Topology(3, (20, 30, 10))
    placement = Placement(4, nodes=60, topology=topology, replication=3)
    rows = placement.place_job_blocks(0, 200)
    for block, (first, second, third) in enumerate(rows.tolist()):
        assert topology.rack_of(first) != topology.rack_of(second) == topology.rack_of(third)
        assert placement.place_block(0, block) == [first, second, third]
