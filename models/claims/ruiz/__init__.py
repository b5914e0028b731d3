"""Entries of the report on Ruiz and Domingo-Ferrer."""
