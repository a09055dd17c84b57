"""What a history tells of the cluster that it comes from, with intervals."""
