"""What to play: scenario files, traces, generated workloads, and how a world is built from them."""
