"""Entries of the report on Ghazi and others."""
