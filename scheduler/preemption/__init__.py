"""The preemption rules: who starves, and who must give way."""
