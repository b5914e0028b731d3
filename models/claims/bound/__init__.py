"""Entries of the report on An Improved Bound for Security in an Identity Disclosure Problem."""
