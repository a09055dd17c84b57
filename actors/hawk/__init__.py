"""Hawk's architecture, and Eagle's: short jobs by probes, long ones by a scheduler for them all."""
