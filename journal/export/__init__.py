"""A recorded run in forms that other programs read: a trace for Perfetto, CSV, Parquet."""
