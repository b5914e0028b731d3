"""`python -m rropt` is the command `rropt`, for where the interpreter is known and its scripts are not on the path."""

from rropt.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
