"""Storage of releases in progress: the lines of an accountant, and files that only their owner can read."""
