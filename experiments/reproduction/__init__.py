"""The papers' tables and figures: what they print, what is played, and how the two agree."""
