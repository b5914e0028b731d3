"""Entries of the ledger on An Improved Bound for Security in an Identity Disclosure Problem."""
