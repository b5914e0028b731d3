"""Informations under local differential privacy, priced by a knapsack search."""
