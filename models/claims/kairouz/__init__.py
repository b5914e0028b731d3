"""Entries of the report on Kairouz, Oh and Viswanath."""
