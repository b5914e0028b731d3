"""Comparisons of mechanisms: orders, audits, mixtures of permutations, and permutations of a data set."""
