"""What every sampler answered at a known time, by which a change of the program is held to change nothing."""
