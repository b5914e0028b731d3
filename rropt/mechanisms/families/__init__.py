"""Families of mechanisms with a closed form, each with its own exact sampler."""
