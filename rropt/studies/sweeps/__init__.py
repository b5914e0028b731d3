"""One problem at every point of a grid, resumable and in parallel."""
