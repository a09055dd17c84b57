"""The ideal machine and its experiment."""
