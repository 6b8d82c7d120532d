"""A packet-level model of a power-saving 802.11 client, its access point and a Web server."""
