"""Queues of containers, as pure functions: YARN's order, user limit, shares and monitor; DRF.

An amount is a tuple of whole numbers, one of each resource (memory first).  Nothing here knows a
cluster, a heartbeat or an actor.
"""
