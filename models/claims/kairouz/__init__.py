"""Entries of the ledger on Kairouz, Oh and Viswanath."""
