"""What the papers do not print, and over which range of it we look for what they do."""

from callboard.experiments.reproduction.architecture_explorations import ARCHITECTURE_EXPLORATIONS
from callboard.experiments.reproduction.exploration import Exploration
from callboard.experiments.reproduction.facebook_explorations import FACEBOOK_EXPLORATIONS
from callboard.experiments.reproduction.hfsp_explorations import HFSP_EXPLORATIONS
from callboard.experiments.reproduction.hybrid_explorations import HYBRID_EXPLORATIONS
from callboard.experiments.reproduction.preemption_explorations import PREEMPTION_EXPLORATIONS
from callboard.experiments.reproduction.slides_explorations import SLIDES_EXPLORATIONS

EXPLORATIONS: tuple[Exploration, ...] = (
    *HFSP_EXPLORATIONS,
    *SLIDES_EXPLORATIONS,
    *HYBRID_EXPLORATIONS,
    *FACEBOOK_EXPLORATIONS,
    *PREEMPTION_EXPLORATIONS,
    *ARCHITECTURE_EXPLORATIONS,
)
"""In the order of the artefacts' papers."""
