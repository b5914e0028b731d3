"""The benchmarks: what rropt reaches beside what a user would take instead, measured in one run.

`python -m benchmarks` (or `make bench`) runs every table of `benchmarks.tables` and writes docs/benchmarks.md.
"""

import sys
from pathlib import Path

# The cells of the support pages are problems of `soak` and `same`.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "docs" / "tools"))
