"""Properties of schedulers as objects, and a search for scenarios in which a policy breaks them."""
