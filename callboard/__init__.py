"""The front door: the command line and the public Python calls."""

__version__ = "0.1.0"
