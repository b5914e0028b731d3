"""From a table to designs, a plan and a release in one call."""
