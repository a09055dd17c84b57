"""The compiled twin: calm runs of the central master as columns and loops (docs/design.md)."""
