"""A problem written for other solvers: programmes with names, convex ones for cvxpy, and extreme rays."""
