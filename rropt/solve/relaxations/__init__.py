"""Methods that solve a problem, or parts of it, by methods of other theories."""
