"""Convex objectives over columns of any cone: generated columns, or listed extreme rays."""
