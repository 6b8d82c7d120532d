"""The compiled rounds: plain arrays in, plain arrays out, for one instance at a time and for whole streams."""
