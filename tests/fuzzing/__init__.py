"""Inputs of every kind that the program reads: valid files, changed, and read.

`formats` has the files of each format and what reads them; `changing` changes bytes, words and JSON; `running` draws,
reads and counts.  ``python -m tests.fuzzing 100000 --only har``.
"""
