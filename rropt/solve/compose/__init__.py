"""Routes that solve a problem, or parts of it, by routes of other theories."""
