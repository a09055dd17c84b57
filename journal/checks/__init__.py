"""The invariants S1 to S15, held against a run while it goes on or against a recorded one."""
