"""k-ary randomised response beside the packages that one would use instead, each in an environment of its own."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

import rropt as rr
from benchmarks.measure import timed
from benchmarks.peers.ask import MULTI_FREQ_LDPY, OPENDP, PURE_LDP, Missing, Peer
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_ratio, mark
from benchmarks.tables.sampling import TARGETS, CumulativeSearch

SIZES: dict[Scale, tuple[int, ...]] = {"tiny": (3,), "default": (16, 128), "full": (16, 128, 1024)}
COUNT: dict[Scale, int] = {"tiny": 2_000, "default": 10**7, "full": 10**7}
"""Values of one measurement of rropt and NumPy."""
EPSILON = 1.0
PEERS: dict[str, tuple[Peer, int]] = {
    "multi-freq-ldpy": (MULTI_FREQ_LDPY, 20),
    "pure-ldp": (PURE_LDP, 20),
    "OpenDP": (OPENDP, 500),
}
"""The others get so many times fewer values; OpenDP, which draws one a call through a foreign function, fewer again."""
SUBSETS: dict[Scale, int] = {"tiny": 0, "default": 100_000, "full": 100_000}


class Peers(Table):
    """Throughput of k-RR."""

    name: ClassVar[str] = "peers"
    title: ClassVar[str] = "k-ary randomised response beside other packages"
    about: ClassVar[str] = f"""\
One random category of k for each person, k-RR at epsilon {EPSILON:g}, codes in memory, one core, one run. *search* is
NumPy alone, in floats, with a generator that is not secure. The newest version of each other package is installed in a
separate environment, and takes one value for each call (blank: it could not be installed). rropt
and OpenDP draw with secure randomness, multi-freq-ldpy and pure-ldp with generators that are not. Figures are millions
of values a second; *kept*: the distance, in standard deviations, of the share of unchanged values
from the expected one."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("k", "k"),
        Column("rropt, M/s", "rropt", as_number(1)),
        Column("target, M/s", "target", as_number(0)),
        Column("met", "target met"),
        Column("kept", "rropt kept", as_number(1)),
        Column("search, M/s", "search", as_number(1)),
        *(
            column
            for name in PEERS
            for column in (Column(f"{name}, M/s", name, as_number(3)), Column("kept", f"{name} kept", as_number(1)))
        ),
        Column("rropt / best of them", "ratio", as_ratio),
    )

    def measure(self, scale: Scale) -> Result:
        notes: list[str] = []
        rows = [self._row(size, COUNT[scale], notes, scale != "tiny") for size in SIZES[scale]]
        if SUBSETS[scale]:
            notes.append(self._subsets(SUBSETS[scale]))
        return Result(rows, list(dict.fromkeys(notes)))

    def _row(self, size: int, count: int, notes: list[str], ask: bool) -> Row:
        mechanism = rr.RandomizedResponse(size, epsilon=1).to_mechanism()
        codes = np.random.default_rng(2).integers(0, size, count).astype(np.min_scalar_type(size - 1))
        mechanism.sample(codes[:1])  # the tables, which are made once
        run = timed(lambda: mechanism.sample(codes))
        ours = count / run.seconds / 1e6
        search = CumulativeSearch(mechanism)
        found: Row = {}
        for name, (peer, share) in PEERS.items():
            found[name] = found[f"{name} kept"] = None
            if not ask:
                continue
            some = max(1, count // share)
            try:
                told = peer.ask({"package": peer.name, "size": size, "epsilon": EPSILON, "count": some})
            except Missing as reason:
                notes.append(f"{name}: {reason}.")
                continue
            found[name] = some / told["seconds"] / 1e6
            found[f"{name} kept"] = deviations(told["kept"], some, size)
            notes.append(f"{name} {told['version']}.")
        known = [speed for name in PEERS if isinstance(speed := found[name], float)]
        target = TARGETS.get(size)
        return {
            "k": size,
            "rropt": ours,
            "target": target,
            "target met": None if target is None else mark(ours >= target),
            "rropt kept": deviations(int((run.value == codes).sum()), count, size),
            "search": count / timed(lambda: search(codes)).seconds / 1e6,
            **found,
            "ratio": ours / max(known) if known else None,
        }

    @staticmethod
    def _subsets(count: int) -> str:
        """What a report of subset selection tells by its order, in rropt and in multi-freq-ldpy."""
        size = 16
        try:
            told = MULTI_FREQ_LDPY.ask(
                {"task": "subset", "package": "multi-freq-ldpy", "size": size, "epsilon": EPSILON, "count": count}
            )
        except Missing as reason:
            return f"Subset selection by multi-freq-ldpy: {reason}."
        fair = told["hits"] / told["length"]
        return (
            f"Subset selection, {size} categories, {count:,} reports of {told['length']} categories each by "
            f"multi-freq-ldpy: the true value is in {told['hits']:,} of them, and stands first in {told['first']:,} of "
            f"these, where {fair:,.0f} would be chance: whoever reads the first entry of a report reads the true value "
            f"whenever it is there, so the report keeps no epsilon. rropt's outputs are sets, which have no order."
        )


def deviations(kept: int, count: int, size: int) -> float:
    """How far a share of unchanged values is from e^epsilon / (e^epsilon + k - 1), in standard deviations."""
    keep = math.exp(EPSILON) / (math.exp(EPSILON) + size - 1)
    return (kept - count * keep) / math.sqrt(count * keep * (1 - keep))
