"""The orders, one discipline a file."""
