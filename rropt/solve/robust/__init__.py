"""Robust local differential privacy over polytopes, block by block."""
