"""Least leakage: convex measures of information minimised, or kept below a number."""
