"""Monteleoni 2006, "Learning with Online Constraints": settings and printed results of chapter 2."""
