"""Convex objectives over whole matrices whose columns are tied by rows."""
