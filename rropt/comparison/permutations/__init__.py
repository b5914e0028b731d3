"""Bistochastic mechanisms as mixtures of permutations."""
