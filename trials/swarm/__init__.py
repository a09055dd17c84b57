"""The swarm: drawn worlds in which everything goes wrong, played against every rule there is."""
