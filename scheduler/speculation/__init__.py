"""The rules of speculation: who gets a second copy, and who is begun again."""
