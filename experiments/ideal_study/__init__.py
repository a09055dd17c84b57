"""The simulator report's experiment on the ideal machine."""
