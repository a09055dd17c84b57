"""Properties of schedulers as objects, a search for scenarios in which a policy breaks them, and
the smallest such scenario as a file.
"""
