"""Tracking the best expert: Static-expert, Fixed-share, Markov-share, Learn-alpha."""
