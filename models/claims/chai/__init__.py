"""Entries of the ledger on Chai and Nayak."""
