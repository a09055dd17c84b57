"""How hard to look."""

from typing import Literal

ProfileName = Literal["quick", "thorough"]

PROFILES: dict[ProfileName, int] = {"quick": 100, "thorough": 2000}
"""How many scenarios a property is held in."""
