"""Entries of the ledger on Lopuhaä-Zwakenberg and Goseling."""
