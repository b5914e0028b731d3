"""Mutual information under metric privacy with integer distances: columns found by minimum cuts."""
