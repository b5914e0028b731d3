"""The lines that commands print."""

import sys

from rropt.errors import plain


def say(line: str, error: bool = False) -> None:
    """Print one line, on the error stream where it is an `error` or a warning. Control characters of file names and
    labels are escaped, so that a terminal does not interpret them."""
    print(plain(line), file=sys.stderr if error else sys.stdout)
