"""Queues as YARN's own files configure them, as settings of the policies that have queues."""
