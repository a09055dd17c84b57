"""How hard to look."""

from typing import Literal

SearchProfile = Literal["quick", "thorough"]

SEARCH_PROFILES: dict[SearchProfile, int] = {"quick": 100, "thorough": 2000}
"""How many scenarios a property is held in."""
