"""A policy as C for devices: its rule translated from its own source, and the C as a policy again."""
