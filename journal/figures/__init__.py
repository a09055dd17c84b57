"""A run in numbers: tables of jobs and attempts, and what is computed from them."""
