"""Books: what a scheduler believes of jobs, attempts and nodes, as policies may see it."""
