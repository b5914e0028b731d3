"""Entries of the report on Chai and Nayak."""
