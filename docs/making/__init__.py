"""What draws the pictures of the docs, and writes their reference."""
