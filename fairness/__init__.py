"""The kit for fairness: properties of schedulers as objects, worlds in which to look for runs that
break them, and the smallest such run as a scenario file.
"""
