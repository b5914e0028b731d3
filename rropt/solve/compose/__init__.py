"""Routes that hand a problem, or parts of it, to the theories."""
