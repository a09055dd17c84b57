"""COSHH: job classes matched with node types; the hybrid scheduler."""
