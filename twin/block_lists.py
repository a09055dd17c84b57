"""The blocks of jobs' inputs: where they lie, and the nearest pending map of a job for a node.

Each job that is there has a row of first blocks (by node, anywhere, by rack) and a piece of `links`
with the blocks behind them, lowest map first; both are given back when it ends.  A piece is a power
of two long, and of those that are free the next is written in their first place.
"""

from callboard.twin import columns as c
from callboard.twin.addressed_draws import bits_of, bucket_of
from callboard.twin.columns import Tables

_SMALLEST = 3  # eight numbers
ANYWHERE_NODE = -2
"""In place of a node, of a block that lies nowhere."""


# Room.


def allocate_block_room(w: Tables, job: int) -> bool:
    """Find the job a row and a piece; whether there was one of each."""
    if w.state[c.ROWS_FREE] == 0 and w.state[c.ROWS_TOP] == len(w.rows):
        return False
    size = _piece_size_exponent(w, job)
    piece = w.blocks[size]
    if piece != c.NONE:
        w.blocks[size] = w.links[piece]
    elif w.state[c.LINKS_TOP] + (1 << size) <= len(w.links):
        piece = w.state[c.LINKS_TOP]
        w.state[c.LINKS_TOP] += 1 << size
    else:
        return False
    w.jobs[job, c.LINKS] = piece
    w.jobs[job, c.ROW] = _take_free_row(w)
    return True


def give_room_back(w: Tables, job: int) -> None:
    """The job has ended."""
    size, piece = _piece_size_exponent(w, job), w.jobs[job, c.LINKS]
    w.links[piece] = w.blocks[size]
    w.blocks[size] = piece
    w.lists[c.FREE_ROWS, w.state[c.ROWS_FREE]] = w.jobs[job, c.ROW]
    w.state[c.ROWS_FREE] += 1


def _take_free_row(w: Tables) -> int:
    if w.state[c.ROWS_FREE] > 0:
        w.state[c.ROWS_FREE] -= 1
        return int(w.lists[c.FREE_ROWS, w.state[c.ROWS_FREE]])
    w.state[c.ROWS_TOP] += 1
    return int(w.state[c.ROWS_TOP] - 1)


def _piece_size_exponent(w: Tables, job: int) -> int:
    """The power of two that has room for two links a replica, and whether each map is taken; where
    attempts are killed, for each reduce too.
    """
    wanted = w.jobs[job, c.TASKS + c.MAPS_HERE] * (2 * w.given[c.REPLICAS] + 1)
    if w.given[c.PREEMPTS]:
        wanted += w.jobs[job, c.TASKS + 1]
    size = _SMALLEST
    while (1 << size) < wanted:
        size += 1
    return size


# Placing.


def place_blocks(w: Tables, job: int) -> None:
    """Draw where the job's blocks lie, and list them."""
    maps, replicas = w.jobs[job, c.TASKS + c.MAPS_HERE], w.given[c.REPLICAS]
    row, links = w.jobs[job, c.ROW], w.jobs[job, c.LINKS]
    w.rows[row, :] = c.NONE
    w.jobs[job, c.NEXT_MAP] = 0
    if w.given[c.PREEMPTS]:
        marks = place_of_mark(w, job, 1, 0)
        w.links[marks : marks + w.jobs[job, c.TASKS + 1]] = 0
    for task in range(maps - 1, -1, -1):  # so that the lowest comes to stand first
        w.links[links + 2 * maps * replicas + task] = 0
        _find_places(w, job, task)
        for replica in range(replicas):
            _list_block(w, row, links, maps * replicas, task * replicas + replica, w.held[replica])


def _list_block(w: Tables, row: int, links: int, blocks: int, block: int, node: int) -> None:
    """Put a block in front of those on its node, and of those in its rack."""
    nodes = w.given[c.NODES]
    if node == ANYWHERE_NODE:
        w.links[links + block] = w.rows[row, nodes]
        w.rows[row, nodes] = block
    elif node != c.NONE:
        w.links[links + block] = w.rows[row, node]
        w.rows[row, node] = block
        rack = nodes + 1 + w.rack_nodes[nodes + node]
        w.links[links + blocks + block] = w.rows[row, rack]
        w.rows[row, rack] = block


def _find_places(w: Tables, job: int, task: int) -> None:
    """Have the nodes of a block in `held`."""
    replicas, places = w.given[c.REPLICAS], w.jobs[job, c.PLACES]
    if places != c.NONE:
        for replica in range(replicas):
            w.held[replica] = w.places[places + task * replicas + replica]
        return
    for replica in range(replicas):
        if replica < w.given[c.NODES]:
            w.held[replica] = _drawn_node(w, w.jobs[job, c.NUMBER], task, replica)
        else:
            w.held[replica] = c.NONE


def _drawn_node(w: Tables, number: int, task: int, replica: int) -> int:
    """HDFS's default: any node, then another rack, then another node of that rack, then any."""
    first = c.PLACEMENT + replica * c.TRIES
    for key in range(first, first + c.TRIES):
        bits = bits_of(w.keys[key], number, task)
        if replica == 2:
            rack = w.rack_nodes[w.given[c.NODES] + w.held[1]]
            node = w.rack_nodes[w.racks[rack, 0] + bucket_of(bits, w.racks[rack, 1])]
        else:
            node = bucket_of(bits, w.given[c.NODES])
        if _suits_replica(w, node, replica):
            return int(node)
    node = 0
    while _is_held(w, node, replica):
        node += 1
    return node


def _suits_replica(w: Tables, node: int, replica: int) -> bool:
    if _is_held(w, node, replica):
        return False
    if replica != 1 or w.given[c.RACKS] == 1:
        return True
    nodes = w.given[c.NODES]
    return bool(w.rack_nodes[nodes + node] != w.rack_nodes[nodes + w.held[0]])


def _is_held(w: Tables, node: int, replicas: int) -> bool:
    for replica in range(replicas):  # noqa: SIM110 - numba compiles no generators here
        if w.held[replica] == node:
            return True
    return False


# Finding.


def nearest_map(w: Tables, job: int, node: int, rack: int) -> tuple[int, int]:
    """The level at which the job's nearest pending map would run on the node, and that map."""
    row, nodes = w.jobs[job, c.ROW], w.given[c.NODES]
    task = _first_of(w, job, row, node, 0)
    if task == c.NONE:
        task = _first_of(w, job, row, nodes, 0)
    if task != c.NONE:
        return 0, task
    task = _first_of(w, job, row, nodes + 1 + rack, 1)
    if task != c.NONE:
        return 1, task
    maps = w.jobs[job, c.TASKS + c.MAPS_HERE]
    taken = w.jobs[job, c.LINKS] + 2 * maps * w.given[c.REPLICAS]
    task = w.jobs[job, c.NEXT_MAP]
    while w.links[taken + task]:
        task += 1
    w.jobs[job, c.NEXT_MAP] = task
    return 2, int(task)


def place_of_mark(w: Tables, job: int, kind: int, task: int) -> int:
    """Where it is marked whether the task is taken."""
    maps = w.jobs[job, c.TASKS + c.MAPS_HERE]
    first = w.jobs[job, c.LINKS] + 2 * maps * w.given[c.REPLICAS]
    return int(first + (task if kind == c.MAPS_HERE else maps + task))


def level_of(w: Tables, job: int, task: int, node: int, rack: int) -> int:
    """How near to its input the map is on the node."""
    _find_places(w, job, task)
    level = 2
    for replica in range(w.given[c.REPLICAS]):
        held = w.held[replica]
        if held == node or w.held[0] == ANYWHERE_NODE:
            return 0
        if held >= 0 and w.rack_nodes[w.given[c.NODES] + held] == rack:
            level = 1
    return level


def take_map(w: Tables, job: int, task: int) -> None:
    """The map is launched."""
    maps = w.jobs[job, c.TASKS + c.MAPS_HERE]
    w.links[w.jobs[job, c.LINKS] + 2 * maps * w.given[c.REPLICAS] + task] = 1


def _first_of(w: Tables, job: int, row: int, place: int, by_rack: int) -> int:
    """The lowest pending map of the list at that place of the job's row."""
    replicas = w.given[c.REPLICAS]
    blocks = w.jobs[job, c.TASKS + c.MAPS_HERE] * replicas
    links = w.jobs[job, c.LINKS]
    taken, behind = links + 2 * blocks, links + by_rack * blocks
    block = w.rows[row, place]
    while block != c.NONE and w.links[taken + block // replicas]:
        block = w.links[behind + block]
    w.rows[row, place] = block
    return c.NONE if block == c.NONE else int(block // replicas)
