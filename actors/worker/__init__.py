"""A worker machine: the node, its slots, and what an attempt does in one."""
