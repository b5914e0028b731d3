"""Both checkers on every stored certificate and on mutants of it: `python tests/independent_checker/campaign.py [COUNT [SEED]]`.

Prints one line for each kind of proof: certificates, mutants, how many of these are PROVED, REFUTED, UNREADABLE, and
the number of disagreements; each disagreement on a line of its own before. docs/reliability.md quotes it.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from independent_checker.checker import verdict  # noqa: E402
from independent_checker.mutate import drawn  # noqa: E402
from rropt.checker import check_bytes  # noqa: E402

STORED = HERE.parent / "data" / "independent_checker"


class Trial(NamedTuple):
    certificate: str
    mutant: str
    first: str
    second: str
    why: str  # what the two say, where they differ
    data: bytes


def stored() -> dict[str, Any]:
    """The certificates, by name."""
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(STORED.glob("*.json"))}


def kind(document: Any) -> str:
    """The kind of proof, with the key that tells its forms apart."""
    proof, utility = document["proof"], document["problem"]["utility"]["kind"]
    form = next((key for key in FORMS if key in proof), "")
    own = utility in DESIGNS
    words = [proof["kind"], f"{utility} {form}".strip() if own else form]
    if proof["kind"] == "lines":
        words[1] = next(line for line in proof["lines"] if line.startswith("mode ")).removeprefix("mode ")
    return " ".join(word for word in words if word)


FORMS = ("levels", "cases", "tree", "boxes")
DESIGNS = ("inverse_trace", "inverse_determinant", "inverse_eigenvalue")


def trial(name: str, mutant: str, data: bytes) -> Trial:
    first, (second, why) = check_bytes(data), verdict(data)
    said = "" if first.status == second else f"first: {first.reason} / second: {why}"
    return Trial(name, mutant, first.status, second, said, data)


def trials(document: Any, name: str, others: list[Any], count: int, seed: int) -> Iterator[Trial]:
    """The certificate itself and `count` mutants of it."""
    data = json.dumps(document).encode()
    yield trial(name, "", data)
    for mutant, changed in drawn(document, others, count, seed):
        yield trial(name, mutant, changed)


def main(count: int, seed: int, only: str = "") -> None:
    start = time.monotonic()
    documents = stored()
    tables: dict[str, Counter[str]] = {}
    for name, document in documents.items():
        if only not in name:
            continue
        table = tables.setdefault(kind(document), Counter())
        table["certificates"] += 1
        others = [other for other in documents.values() if other is not document]
        for found in trials(document, name, others, count, seed):
            table["mutants" if found.mutant else "originals"] += 1
            table[found.first] += bool(found.mutant)
            if found.why:
                table["disagreements"] += 1
                print(f"! {name}: {found.mutant}: {found.first} / {found.second}: {found.why}")
                out = Path(sys.argv[4]) if len(sys.argv) > 4 else None
                if out:
                    (out / f"{name}-{table['disagreements']}.json").write_bytes(found.data)
    columns = ("certificates", "mutants", "PROVED", "REFUTED", "UNREADABLE", "disagreements")
    print("| kind of proof | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    whole: Counter[str] = Counter()
    for name, table in sorted(tables.items()):
        whole += table
        print(f"| {name} | " + " | ".join(f"{table[column]:,}" for column in columns) + " |")
    print("| all | " + " | ".join(f"{whole[column]:,}" for column in columns) + " |")
    print(f"{time.monotonic() - start:.0f} seconds, seed {seed}", file=sys.stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, int(sys.argv[2]) if len(sys.argv) > 2 else 1, *sys.argv[3:4])
