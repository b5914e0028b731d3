"""Mechanisms side by side: as mixtures of permutations, and as permutations of a data set."""
