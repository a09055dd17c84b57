"""Fair sharing among pools and jobs."""
