"""Other systems' histories, a reader a format: each makes `HistoryJob`s of its files."""
