"""Entries of the report on Lopuhaä-Zwakenberg and Goseling."""
