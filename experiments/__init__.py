"""Running worlds: one, several at once, live, and the ideal machine's study."""
