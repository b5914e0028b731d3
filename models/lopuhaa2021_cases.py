"""The variables of the figures of Lopuhaä-Zwakenberg and Goseling: methods, sizes, attributes, and panels of draws."""

from dataclasses import dataclass

__all__ = ["ADULT", "ALL", "CASES", "METHODS", "PROTOCOLS", "Case"]

OBSERVED, ALPHA = 1000, "0.05"
PROTOCOLS = ("IR", "GRR-CR", "UE-CR")
METHODS = (*PROTOCOLS, "SRR", "GRR")
ALL = (*METHODS, "PolyOpt")
SIZES = (100, 1000, 10_000, 100_000)
ADULT = (
    ("sex", "race"),
    ("race", "sex"),
    ("sex", "education"),
    ("education", "sex"),
    ("relationship", "occupation"),
    ("race", "native-country"),
    ("relationship", "native-country"),
)
"""Sensitive and other attribute of each panel of figure 10; the counts are shipped, "?" is a category."""


@dataclass(frozen=True)
class Case:
    """A panel: how many values S and U have, how many people are observed, alpha, and the methods it compares."""

    title: str
    sensitive: int
    other: int
    methods: tuple[str, ...] = METHODS
    observed: int = OBSERVED
    alpha: str = ALPHA


def _sizes(*sensitive: int) -> tuple[Case, ...]:
    return tuple(Case(f"a1 = {a}, a2 = {b}", a, b) for a in sensitive for b in (3, 5, 7, 9))


CASES: dict[int, tuple[Case, ...]] = {
    2: (Case("a1 = a2 = 3", 3, 3, ALL),),
    3: _sizes(3, 5),
    4: _sizes(7, 9),
    7: tuple(Case(f"n = {n:,}", 5, 5, observed=n) for n in SIZES),
}
"""The panels of each figure that is made of such panels only."""
