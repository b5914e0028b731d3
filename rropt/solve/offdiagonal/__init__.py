"""Mechanisms with one off-diagonal probability per input."""
