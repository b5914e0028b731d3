"""Counts with noise that depends on the records of a cell only: the cell key method."""
