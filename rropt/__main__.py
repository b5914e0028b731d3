"""The command `rropt`, also as `python -m rropt`. To check certificate files it loads the checker and nothing else."""

import io
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["check"] and given[1:] and not any(name.startswith("-") for name in given[1:]):
        return _check(given[1:])
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
