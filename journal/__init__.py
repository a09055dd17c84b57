"""What happened: the recorded run, and everything that is computed from it."""
