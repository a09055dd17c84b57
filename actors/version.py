"""The version of Callboard, which the first event of every run names."""

__version__ = "0.1.0"
