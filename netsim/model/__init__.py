"""The world, written once: read `records`, `things`, then from `browser` to `tcp`, `medium`, and `wires` or `air`."""
