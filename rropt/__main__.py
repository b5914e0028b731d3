"""The command `rropt`, also as `python -m rropt`. To check certificate files it loads the checker and nothing else."""

import io
import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    files = given[1:]
    if given[:1] == ["check"] and files and not any(name.startswith("-") or os.path.isdir(name) for name in files):
        return _check(files)
    from rropt.cli.main import main as run

    return run(given)


def _check(certificates: list[str]) -> int:
    from rropt import checker

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return checker.main(certificates)
    except KeyboardInterrupt:
        print("rropt: aborted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
