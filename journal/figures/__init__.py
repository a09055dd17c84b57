"""A run in numbers: sums kept while it goes on, and what is computed from them."""
