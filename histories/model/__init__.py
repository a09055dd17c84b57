"""Jobs, tasks and attempts as a history tells them, and as a file of recorded tasks keeps them."""
