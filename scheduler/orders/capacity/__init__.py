"""Queues with capacities, as in Hadoop 1's Capacity Scheduler."""
