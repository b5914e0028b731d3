"""Priors, privacy levels, and sets of distributions."""
