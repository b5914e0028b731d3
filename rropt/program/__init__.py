"""What a declaration compiles to: cones for columns, rows over the whole matrix, utilities."""
