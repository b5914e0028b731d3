"""Branch and bound over boxes of a column: bounds, batches and the tree."""
