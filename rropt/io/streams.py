"""The standard output, kept for what this process itself says."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Names of descriptor 1: a command that is asked to write to one of them needs it."""


def take_stdout() -> int:
    """A new descriptor of the standard output, for this process's own answers. What libraries of C and child processes
    print on descriptor 1 goes to the error stream from now on."""
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:
        # There is no error stream.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    return kept


@contextmanager
def only_python_prints(arguments: Sequence[str]) -> Iterator[None]:
    """Inside, only what Python prints reaches the standard output: a solver's banner in it would spoil `--json`. For
    the main thread of a command with these arguments."""
    named = any(argument.endswith(OUTPUT) for argument in arguments)
    before = sys.stdout
    try:
        standard = before.fileno() == 1
    except (AttributeError, OSError, ValueError):
        standard = False  # None, or an object in memory
    if named or not standard:
        yield
        return
    before.flush()
    kept = take_stdout()
    lines = 1 if before.line_buffering else -1
    sys.stdout = open(  # noqa: SIM115
        kept, "w", lines, encoding=before.encoding, errors=before.errors, closefd=False
    )
    try:
        yield
    finally:
        # A command says itself that its output cannot be written.
        with suppress(OSError):
            sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        sys.stdout = before
