"""Readers of what other systems record: each makes a history of its file, and a report of it."""
