"""The memory that this process took."""

import sys
from pathlib import Path


def peak_memory() -> int | None:
    """The largest memory that this process ever had, in bytes; None where the system does not say."""
    try:
        # Linux lets ru_maxrss begin with what the parent had.
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except (OSError, UnicodeDecodeError):
        pass
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
