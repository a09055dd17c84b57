"""The properties, by subject."""
