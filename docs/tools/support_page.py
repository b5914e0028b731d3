"""The page docs/support.md: the results of every objective with every constraint, with reasons.

`python docs/tools/support_page.py` solves every cell and writes docs/support.json and the page; with `--only TEXT`
the cells whose objective, constraint, size or reason has that text in it, with `--missing` those that are
missing, with `--refused` those that no method took (a new method changes their reasons), the others unchanged; with
`--page` the page alone. With `--leakage` all of this is of docs/support-leakage.json and its page.
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from support_cells import (
    BESIDE,
    CONSTRAINTS,
    GAP,
    LEAST,
    OBJECTIVES,
    SIZES,
    STATUSES,
    TIME_LIMIT,
    Cell,
    cells,
    leakage_cells,
    read,
    settle,
    write,
)

from rropt.io.files import write_whole

FILES = Path("docs/support.json"), Path("docs/support.md")
LEAKAGE = Path("docs/support-leakage.json"), Path("docs/support-leakage.md")
PREFIX = "method auto: no method takes this problem: "
HEAD = f"""# What rropt can certify

Every objective with every constraint, solved at {", ".join(map(str, SIZES[:-1]))} and {SIZES[-1]} inputs with uneven
frequencies, {TIME_LIMIT:.0f} seconds for each problem and a relative gap of {GAP:.0e}. Every entry is computed:
`make support` solves them all again, `make test` solves some of them, and `make test-all` all. With more time, or equal
frequencies, more are certified.

- **certified**: value and bound are within the gap, and the independent checker accepted the certificate; so did the
  kernel if the verified core covers the proof.
- **bounded**: a mechanism and a true bound, with their difference; the number in brackets gives the reason.
- **infeasible**: no mechanism exists, and the checker accepted the proof.
- **no method**: no method takes the problem; the number in brackets gives the reason.

Privacy is at epsilon 1 nat (0.5 where RLDP sees the other values), delta 0.1, alpha 0.05. `metric_dp` protects
neighbours on a path. For `rldp` the inputs are pairs, with as many sensitive as other values. Entropy floors are
0.95 of the maximum, identification risk is at most 1/4. `+` joins constraints. Constraints without privacy are
listed for completeness: if they allow it, the best mechanism is the identity.

## Which checkers accept each proof

The verdict of a solve names the programs that accept: `PROVED (kernel and checker)`. So does `rropt check --core`,
with `PROVED (verified core)` if `rropt-core` is installed; without `--core` it prints `PROVED`. For a proof that the
[verified core](verified-core.md) does not cover it is `PROVED (checker)`, with the lemmas that it assumes and a line
`checker only: the verified core has no ...`.

| proof | programs | `checker only: the verified core has no` |
|---|---|---|
| `lines`: linear utilities, Bayes success, entropies; information and chi-square under LDP and metric privacy, also of matrices with rows; leakage, capacity, Renyi, sums; approximate LDP with linear utilities; robust LDP, exact, with boxes or a linear utility; the most information under a limit; infeasible problems | verified core, kernel, checker | |
| trees of corners over a matrix | verified core, kernel, checker | |
| `lines` after a step | checker | `step 'drop' before lines`, `step 'lift' before lines` |
| designs, `column-dual` and `corner-tree`: the bound; the value of the mechanism by the checker alone | verified core, kernel, checker | |
| robust LDP, polytope and product, by shapes (blocks of at most 12 inputs) | verified core, kernel, checker | |
| robust LDP, polytope and product, by levels | checker | `with levels` |
| robust LDP, exact, by cases | checker | `'column-dual' with cases` |
| off-diagonals | checker | `kind 'branch-tree'` |
| identification risk | checker | `kind 'risk-branch'`, `kind 'thresholds'` |
| Renyi and zero-concentrated privacy of many inputs, or close to its limit at many orders | checker | divergences of so many pairs of inputs; divergences that are so close to their limit |
"""

LEAKAGE_HEAD = f"""# What rropt can certify: leakage

Goals and notions that are not on [the other page](support.md), solved at the same sizes with the same frequencies,
{TIME_LIMIT:.0f} seconds for each problem and a relative gap of {GAP:.0e}. `make support` solves them all again. The
other page explains the statuses.

`least` goals are minimised with a limit: the expected distance |x - y| of answer and release is at most 19/20 of
that of the best guess without the release. The outputs are the inputs. Leakages are at 0.5 nats, the Renyi
divergence is of order 2 at 0.5 nats, rho is 0.2, capacity at most 0.1 nats. `at_most, bayes_success` limits the
gain of an adversary (2 if right, 1 next to it) to half way between the gain without a release and the largest gain.
For the `most` goals the number of outputs is free, as on the other page, unless a constraint fixes the outputs.
"""


def page(found: Sequence[Cell]) -> str:
    """The page as Markdown."""
    return _page("support", HEAD, tuple(OBJECTIVES), tuple(CONSTRAINTS), found)


def leakage_page(found: Sequence[Cell]) -> str:
    """The page of leakage as Markdown."""
    return _page("support-leakage", LEAKAGE_HEAD, tuple(LEAST), tuple(BESIDE), found)


def _page(name: str, head: str, goals: Sequence[str], rules: Sequence[str], found: Sequence[Cell]) -> str:
    numbers: dict[str, int] = {}
    parts = [head, _counts(found)]
    by_key = {cell.key: cell for cell in found}
    for size in SIZES:
        heads = " | ".join(f"`{goal}`" for goal in goals)
        lines = [f"## {size} inputs", "", f"| | {heads} |", "|---" * (len(goals) + 1) + "|"]
        for rule in rules:
            row = (_describe(by_key.get((objective, rule, size)), numbers) for objective in goals)
            lines.append(f"| `{rule}` | {' | '.join(row)} |")
        parts.append("\n".join(lines))
    reasons = "\n".join(f"{number}. {reason}" for reason, number in numbers.items())
    parts.append(f"<!-- page: {name}-reasons -->\n## Reasons\n\n{reasons}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _counts(found: Sequence[Cell]) -> str:
    tally = Counter((cell.size, cell.status) for cell in found)
    lines = [f"| inputs | {' | '.join(STATUSES).replace('_', ' ')} |", "|---" * (len(STATUSES) + 1) + "|"]
    lines += [f"| {size} | {' | '.join(str(tally[size, status]) for status in STATUSES)} |" for size in SIZES]
    return "\n".join(lines)


def _describe(cell: Cell | None, numbers: dict[str, int]) -> str:
    if cell is None:
        return "not computed"
    word = cell.status.replace("_", " ")
    if not cell.reason:
        return word
    reason = cell.reason.removeprefix(PREFIX).replace("|", "\\|")
    # The remedy names the constraint, which the table does already.
    reason = reason.partition(";")[0] if cell.status == "no_method" else reason
    number = numbers.setdefault(reason, len(numbers) + 1)
    if cell.gap is not None and math.isfinite(cell.gap):
        word += f" {max(cell.gap, 0.0):.0e}"
    return f"{word} [{number}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute cells and write the two files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cells whose objective|constraint|size|reason has this text in it")
    parser.add_argument("--page", action="store_true", help="write the page alone, from the cells that are there")
    parser.add_argument("--missing", action="store_true", help="only cells that are not in the file yet")
    parser.add_argument("--leakage", action="store_true", help="the cells of the page of leakage")
    parser.add_argument("--refused", action="store_true", help="only cells that no method took, which takes seconds")
    chosen = parser.parse_args(arguments)
    table, text = LEAKAGE if chosen.leakage else FILES
    every = leakage_cells() if chosen.leakage else cells()
    known = {cell.key: cell for cell in read(table)} if table.is_file() else {}
    reasons = {key: cell.reason for key, cell in known.items()}
    wanted = [key for key in every if chosen.only in "|".join(map(str, (*key, reasons.get(key, ""))))]
    if chosen.missing:
        wanted = [key for key in wanted if key not in known]
    if chosen.refused:
        wanted = [key for key in wanted if key in known and known[key].reason.startswith(PREFIX)]

    for key in () if chosen.page else wanted:
        known[key] = cell = settle(*key)[0]
        write(table, [known[key] for key in every if key in known])
        print(*key, cell.status, cell.gap, f"{cell.seconds:.1f} s", cell.reason[:100], sep=" | ", file=sys.stderr)
    found = [known[key] for key in every if key in known]
    write(table, found)
    write_whole(text, (leakage_page if chosen.leakage else page)(found))


if __name__ == "__main__":
    main()
