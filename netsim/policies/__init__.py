"""Power-saving policies: the protocol and its implementations."""
