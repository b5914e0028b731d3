"""The largest worst-case information over a set of distributions."""
