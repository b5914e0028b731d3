"""The benchmarks: what rropt reaches beside what a user would take instead, measured in one run.

`python -m benchmarks` (or `make bench`) runs every table of `benchmarks.tables` and writes docs/benchmarks.md.
"""
