"""Tables in files and in memory, read, randomised, written and counted batch by batch."""
