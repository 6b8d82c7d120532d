"""Inputs of every kind that the program reads, drawn from a grammar of each format, changed, and read.

`values` draws fields, ordinary and nasty, and changes what is made of them; `browsing`, `packets`, `streams` and
`settings` hold the grammars; `running` draws, reads and counts.  ``python -m tests.fuzzing 100000 --only har``.
"""
