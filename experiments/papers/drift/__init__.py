"""Moroshko and Crammer 2014, "Selective Sampling with Drift": figure 2."""
