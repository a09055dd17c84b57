"""A run in words: names, sentences, one job's story, the first difference of two runs."""
