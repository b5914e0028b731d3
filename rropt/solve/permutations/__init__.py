"""Mixtures of permutations with bounds on their weights."""
