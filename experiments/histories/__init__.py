"""Recorded histories: how a cluster is calibrated from one, and what a back-test of it says."""
