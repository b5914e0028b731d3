"""Compiled problems: cones for columns, rows over the whole matrix, utilities."""
