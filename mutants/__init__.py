"""Small faults put into a room on purpose, and how many of them its tests find: `python -m mutants ROOM`."""
