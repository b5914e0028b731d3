"""Directed numbers, trees, certificates, and proof files of the verified core: the means to write proofs."""
