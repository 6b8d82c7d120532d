"""Captures of packets: from frames to requests, uploads and messages, and what a device did to save power."""
