"""The two ways of running the model: interpreted on SimPy, and compiled."""
