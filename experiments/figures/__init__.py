"""Frames in, pictures out."""
