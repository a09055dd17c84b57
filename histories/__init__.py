"""Histories of real clusters, and of runs: what was recorded, who reads and writes it, and what it
tells of its cluster.
"""
