"""Playing a history under a policy, and comparing what comes of it with what happened."""
