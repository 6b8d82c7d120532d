"""Regret and mistake bounds: one pure function a statement."""
