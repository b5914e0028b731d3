"""Run the reproducibility report: derive each entry again, compare it, and keep the result as data."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rropt.comparison.claims import Claim, Judged, plain
from rropt.errors import reason
from rropt.io.files import write_whole
from rropt.io.tables import Readable
from rropt.studies.reports.summary import summarise, was_interrupted

__all__ = ["Entry", "counts", "run"]


@dataclass(frozen=True)
class Entry(Readable):
    """One claim with its verdict; `judged` is None where its evidence could not be computed, and `failure` says why.

    `files` are the certificates that were written, by the names of `Evidence.solutions`.
    """

    claim: Claim
    judged: Judged | None
    seconds: float
    failure: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The computed verdict, or "failed"."""
        return "failed" if self.judged is None else self.judged.verdict

    def proofs(self) -> list[dict[str, Any]]:
        """The solved problem: name, status, value, bound, the checker's verdict and the certificate's file."""
        if self.judged is None:
            return []
        return [
            {
                "name": name,
                **{key: found[key] for key in ("status", "value", "bound")},
                "checker": found["verdict"],
                "file": str(self.files[name]) if name in self.files else None,
            }
            for name, solution in self.judged.evidence.solutions.items()
            for found in (summarise(solution),)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object of `rropt claims --json`. `certificate` is the file (a list where there are several) if
        written.
        """
        claim, judged = self.claim, self.judged
        files = [str(path) for path in self.files.values()]
        found: dict[str, Any] = {
            "id": claim.id,
            "paper": claim.paper,
            "where": claim.where,
            "statement": claim.statement,
            "published": plain(claim.published),
            "computed": None,
            "verdict": self.verdict,
            "method": self.failure,
            "seconds": round(self.seconds, 3),
            "certificate": files[0] if len(files) == 1 else files or None,
        }
        if judged is not None:
            truth = {cell.name: plain(cell.computed) for cell in judged.cells}
            found["computed"] = truth | plain(judged.computed)
            found["method"] = judged.evidence.method
            found["cells"] = {cell.name: cell.verdict for cell in judged.cells}
            found["erratum"] = " ".join(judged.errata) or None
            found["witness"] = judged.witness or None
            found["proofs"] = self.proofs()
        return found


def run(
    claims: Iterable[Claim],
    full: bool = False,
    out: Path | None = None,
    report: Callable[[Claim], None] = lambda claim: None,
) -> list[Entry]:
    """Derive and judge every claim in order; `report` is called with each before it starts.

    `full` takes the papers' numbers of draws. Certificates are written into `out`, one file each. An entry whose
    computation fails is kept with the reason; the others go on. Raises KeyboardInterrupt when a solve was interrupted.
    """
    entries = []
    for claim in claims:
        report(claim)
        begun = time.monotonic()
        try:
            judged = claim.judge(claim.derive(full))
        except Exception as error:  # One entry's fault must not hide the others; it is shown as failed.
            entries.append(Entry(claim, None, time.monotonic() - begun, reason(error)))
            continue
        if any(map(was_interrupted, judged.evidence.solutions.values())):
            # A solve returns its best result on an interrupt; here an interrupt stops the report.
            raise KeyboardInterrupt
        seconds = time.monotonic() - begun
        files = {} if out is None else _write(claim, judged, out)
        entries.append(Entry(claim, judged, seconds, files=files))
    return entries


def counts(entries: Sequence[Entry]) -> dict[str, int]:
    """The number of entries with each verdict."""
    return dict(Counter(entry.verdict for entry in entries))


def _write(claim: Claim, judged: Judged, out: Path) -> dict[str, Path]:
    written = {}
    for name, solution in judged.evidence.solutions.items():
        if solution.certificate is not None:
            word = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in name)
            written[name] = write_whole(out / f"{claim.id}.{word}.json", solution.certificate.to_json())
    return written
