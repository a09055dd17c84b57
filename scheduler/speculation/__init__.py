"""The speculation rules: which tasks get a speculative attempt or begin again."""
