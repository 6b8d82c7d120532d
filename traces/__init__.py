"""What was browsed: readers of real traces, grouping into pages, and a generator."""
