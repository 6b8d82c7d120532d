"""Slow, exact references that share no code with the library."""
