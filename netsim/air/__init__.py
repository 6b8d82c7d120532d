"""The shared air: one half-duplex channel of IEEE 802.11, with contention, beacons, and radios that need time."""
