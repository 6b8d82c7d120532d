"""The world, written once: read `records`, `entities`, then from `browser` to `tcp`, `medium`, and `wires` or `air`."""
