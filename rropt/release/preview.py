"""What a release would do, before anything is drawn."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rropt.exact import shown
from rropt.io.content import ByContent
from rropt.io.tables import Table
from rropt.release.plans.plan import Release
from rropt.release.plans.privacy import Privacy
from rropt.release.precision import Precision


@dataclass(frozen=True, eq=False)
class Preview(ByContent):
    """A release that was not drawn: of `data` to `output`, with its number of `rows` and of those that it leaves
    `unchanged`; the `expected` errors; the columns that stay `unprotected`; the epsilon of a respondent `before` and
    `after` it, over all releases; `cautions`, which may follow from the true values, and `notes`."""

    data: str
    output: Path
    release: Release
    privacy: Privacy
    rows: int
    unchanged: int
    expected: Precision
    unprotected: tuple[str, ...]
    before: str
    after: str
    cautions: tuple[str, ...]
    notes: tuple[str, ...]

    def _tables(self) -> Iterator[Table]:
        rows = [(", ".join(one.columns), one.guarantee) for one in self.release.columns]
        rows.append(("Together", f"plain LDP (epsilon {shown(self.privacy.epsilon, 12, up=True)})"))
        rows.append(("Account", f"epsilon {self.before} before, {self.after} after"))
        rows.append(("Unchanged", ", ".join(self.unprotected) or "no column"))
        if self.release.where:
            only = " and ".join(map(str, self.release.where))
            rows.append(("Unchanged records", f"{self.unchanged:,}: those without {only}"))
        rows += [("Learned from the data", one) for one in self.release.learned]
        yield Table(f"Release of {self.data} (not drawn)", [*rows, ("Rows", f"{self.rows:,}")])
        yield from self.expected._tables()

    def _remarks(self) -> Iterator[str]:
        yield from (f"note: {note}" for note in self.notes)
        yield "nothing was drawn, and nothing was written"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for `--dry-run --json`."""
        return {
            "drawn": False,
            "data": self.data,
            "output": str(self.output),
            "rows": self.rows,
            "unchanged_records": self.unchanged,
            "columns": [{"columns": list(one.columns), "guarantee": one.guarantee} for one in self.release.columns],
            "epsilon": None if math.isinf(self.privacy.epsilon) else self.privacy.epsilon,
            "unprotected": list(self.unprotected),
            "epsilon_before": self.before,
            "epsilon_after": self.after,
            "expected": self.expected.to_dict(),
            "learned": list(self.release.learned),
            "cautions": list(self.cautions),
            "notes": list(self.notes),
        }
