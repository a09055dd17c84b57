"""A run in other systems' formats of histories, a writer a format."""
