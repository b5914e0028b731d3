"""Storage of releases in progress: the lines of a ledger, and files that only their owner can read."""
