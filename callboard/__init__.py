"""The front door: the command line and the public Python calls."""
