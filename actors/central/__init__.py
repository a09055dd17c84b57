"""The master and its books: what it believes of nodes, jobs and attempts."""
