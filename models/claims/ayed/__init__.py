"""Entries of the report on Ayed, Battiston and Camerlenghi."""
