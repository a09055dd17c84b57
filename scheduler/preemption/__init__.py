"""The preemption rules: which claimants starve, and which attempts must give way."""
