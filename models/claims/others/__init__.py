"""Entries of the report on results of other authors."""
