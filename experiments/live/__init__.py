"""Runs that somebody watches: moved in time, interfered with, or played elsewhere."""
