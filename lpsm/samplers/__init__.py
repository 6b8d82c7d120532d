"""Selective samplers: margin learners, query rules, and the catalogue of both."""
