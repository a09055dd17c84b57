"""Many runs: over seeds and settings, on all cores, kept in a store, and compared."""
