"""The shared air: 802.11's channel, its access point and the stations on it."""
