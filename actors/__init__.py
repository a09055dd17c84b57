"""The world: a kernel with a virtual clock, and the actors that live under it."""
