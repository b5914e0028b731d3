"""Least leakage: convex informations minimised, or kept below a number."""
