"""A recorded run in other forms: a page that plays it back, a trace for Perfetto, CSV, Parquet."""
