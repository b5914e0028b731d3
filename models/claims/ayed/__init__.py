"""Entries of the ledger on Ayed, Battiston and Camerlenghi."""
