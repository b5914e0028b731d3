"""Entries of the ledger on Ruiz and Domingo-Ferrer."""
