"""Where data sets are found, and how they are loaded."""
