"""The tools that write proofs: directed numbers, trees, certificates, and proof files of the verified core."""
