"""Orders of mechanisms: Blackwell, less noisy, more capable, admissible."""
