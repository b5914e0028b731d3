"""Solves the problem files of this folder and writes their certificates: `python docs/examples/make.py [NAME...]`.

docs/examples/README.md says what each shows. Two forms of proof are written for large problems only, where no example
is small: `levels` and `known` are made from the solved example by tests/independent_checker/loose.py instead, with looser bounds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
GAPS = {
    "corner-tree": 1e-4,
    "corner-tree-bayes": 1e-4,
    "corner-tree-numbers": 1e-4,
    "information-branch-tree": 0.03,
    "steps-gibbs": 0.03,
    "uniform-off-diagonal": 0.1,
}
"""The target gap: where a proof grows with it, a wide one keeps the file small. The others: 0.01."""


def solved(path: Path) -> Any:
    """The certificate of a problem file, as the document that it holds."""
    import rropt as rr

    gap = GAPS.get(path.stem, 0.01)
    solution = rr.load_problem(path).solve(gap=gap, absolute_gap=gap, time_limit=60)
    if solution.certificate is None:
        raise SystemExit(f"{path.name}: {solution.status}, without a certificate")
    return solution.certificate.document


def documents() -> dict[str, Any]:
    """Every example by its name."""
    sys.path.insert(0, str(CHECKOUT / "tests"))
    from independent_checker import loose

    found = {path.stem: solved(path) for path in sorted(HERE.glob("*.toml"))}
    found["robust-levels"] = loose.levels(found["robust-shapes"], 7, 3)
    found["known-bound"] = loose.known(found["information-tree"])
    return found


def text(document: Any) -> str:
    """One line for each key of the top level and of the problem, so that a reader finds his way."""
    inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in document["problem"].items())
    parts = [
        f"{json.dumps(key)}: " + (f"{{\n{inner}\n }}" if key == "problem" else json.dumps(value))
        for key, value in document.items()
    ]
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def main() -> None:
    """Write them all, or those named."""
    for name, document in documents().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        (HERE / f"{name}.json").write_text(text(document), encoding="utf-8")
        print(name)


if __name__ == "__main__":
    main()
