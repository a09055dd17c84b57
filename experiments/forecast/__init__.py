"""When jobs end, from what is known at an instant."""
