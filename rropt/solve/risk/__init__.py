"""Linear objectives under a bound on identification risk."""
