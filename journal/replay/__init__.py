"""A recorded run as a model: where it stands at any moment, and what is to be seen of it."""
