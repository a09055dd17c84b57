"""Which parts there are, how policies are spelled, and how parameters are read."""
