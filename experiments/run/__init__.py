"""One run, from what it depends on to what it came to."""
