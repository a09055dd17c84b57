"""Many runs: what is played, who computes it, and where the figures are kept."""
