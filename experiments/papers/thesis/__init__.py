"""Monteleoni 2006, "Learning with Online Constraints": settings and printed results of chapters 2 to 4."""
