"""The kernel: a virtual clock and one order of messages; the actors' base; what drives them."""
