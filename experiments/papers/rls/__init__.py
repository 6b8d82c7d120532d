"""Cesa-Bianchi 2007: regularised least squares as a classifier."""
