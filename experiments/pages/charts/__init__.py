"""Pictures of runs, drawn by matplotlib (the extra `experiments`) from plain data."""
