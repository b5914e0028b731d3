"""The largest least information over a set of distributions."""
