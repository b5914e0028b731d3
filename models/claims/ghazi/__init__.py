"""Entries of the ledger on Ghazi and others."""
