"""Whole worlds drawn from a seed: clusters, workloads, timelines and policies of any parameters."""
