"""Whether it is right: worlds in which everything goes wrong, planted bugs, others' figures."""
