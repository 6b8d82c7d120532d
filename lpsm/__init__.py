"""Learning: experts, polling times, selective samplers. Knows no network, no files, no plots."""
