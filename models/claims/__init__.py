"""The reproducibility report of published claims: one folder a paper, each entry derived again when it is asked for."""

import difflib
from collections.abc import Sequence
from importlib import import_module

from rropt.comparison.claims import SHIPPED, Claim
from rropt.errors import UnknownName

__all__ = ["PAPERS", "claims_of", "select"]

ENTRIES = (
    ("optima", "polytope", "tables", "estimates"),
    ("matrices", "bits"),
    ("theorems", "proofs", "protocols", "figures", "trends"),
    ("statements", "text", "example"),
    ("staircase",),
    ("privacy", "designs", "rappor", "proofs"),
    ("bins",),
    ("leakage", "privacy", "estimation"),
)
PAPERS: dict[str, tuple[str, ...]] = dict(zip(SHIPPED, ENTRIES, strict=True))
"""The papers in the order of the report, each with the modules of its folder that hold its entries (`CLAIMS`)."""


def claims_of(paper: str) -> tuple[Claim, ...]:
    """The entries of one paper of PAPERS."""
    modules = (import_module(f"rropt.models.claims.{paper}.{name}") for name in PAPERS[paper])
    return tuple(claim for module in modules for claim in module.CLAIMS)


def select(names: Sequence[str]) -> tuple[Claim, ...]:
    """The entries of papers, and single ones by id or its beginning ("ayed.table1"); all of them for no names.

    Raises InputError for a name that is none of these.
    """
    known = [claim for paper in PAPERS for claim in claims_of(paper)]
    if not names:
        return tuple(known)
    wanted: list[Claim] = []
    for name in names:
        found = [claim for claim in known if name == claim.paper or f"{claim.id}.".startswith(f"{name}.")]
        if not found:
            words = [*PAPERS, *(claim.id for claim in known)]
            close = difflib.get_close_matches(name, words, n=1, cutoff=0.5)
            remedy = f"did you mean {close[0]}? " if close else ""
            raise UnknownName(
                f"no paper and no claim is called {name!r}", "claims", f"{remedy}The papers are: {', '.join(PAPERS)}"
            )
        wanted += [claim for claim in found if claim not in wanted]
    return tuple(wanted)
