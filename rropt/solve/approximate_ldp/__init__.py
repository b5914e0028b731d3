"""Convex objectives under approximate local privacy."""
