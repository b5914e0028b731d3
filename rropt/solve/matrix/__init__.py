"""Convex objectives over whole matrices whose columns are coupled by rows."""
