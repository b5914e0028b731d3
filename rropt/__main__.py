"""The command `rropt`, also as `python -m rropt`. To check certificate files it loads the checker and nothing else,
unless there are files beside them to compare, or a terminal to write to."""

import io
import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status. Ctrl-C ends it with one line, while modules are loaded too."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        if given[:1] == ["check"] and given[1:] and not any(name.startswith("-") for name in given[1:]):
            return _check(given[1:])
        from rropt.cli.main import main as run
        from rropt.io.streams import only_python_prints

        with only_python_prints(given):
            return run(given)
    except KeyboardInterrupt:
        print("rropt: aborted", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "rropt"):
            raise
        from rropt.io.extras import PIP

        print(
            f"rropt: the package {package} is not installed; pip install {PIP.get(package, package)}", file=sys.stderr
        )
        return 2


def _check(certificates: list[str]) -> int:
    from rropt import checker

    places = (os.path.split(checker.certificate_file(name)) for name in certificates)
    # On a terminal the verdict has a colour, and a long check shows progress.
    terminal = any(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr))
    folders = {folder for folder, name in places if name == "certificate.json"}
    beside = (os.path.join(folder, f"mechanism.{end}") for folder in folders for end in ("json", "csv"))
    if terminal or any(map(os.path.exists, beside)):
        from rropt.cli.main import main as run

        return run(["check", *certificates])
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return checker.main(certificates)


if __name__ == "__main__":
    sys.exit(main())
