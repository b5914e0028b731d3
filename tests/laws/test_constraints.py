"""Every constraint says the same twice: `violation` (definition) and `cone` with `rows` (form).

A new constraint needs one entry in EXAMPLES, nothing else.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import networkx as nx
import pytest
from drawing import Rows, exact, mixed, random_rows, two_valued_rows

from rropt.declare.constraints import (
    LDP,
    RLDP,
    ApproximateLDP,
    AtLeast,
    AtMost,
    Bistochastic,
    Blocks,
    Circulant,
    ConeConstraint,
    Constraint,
    EntropyRate,
    Floor,
    Forbidden,
    IdentificationRisk,
    Invariant,
    LinearConstraint,
    MaximalLeakage,
    MaximalRLDP,
    MetricDP,
    PermutationMixture,
    PointwiseMaximalLeakage,
    RenyiLDP,
    SharedEntropyRate,
    Symmetric,
    Tridiagonal,
    UniformOffDiagonal,
    UtilityOptimisedLDP,
    ZeroConcentratedLDP,
    from_keys,
)
from rropt.declare.objectives import (
    BayesCapacity,
    BayesSuccess,
    ChannelCapacity,
    ChiSquareInformation,
    ExpectedLoss,
    MutualInformation,
    Trace,
)
from rropt.model.distributions import ChiSquareSet, EveryDistribution, KnownDistribution
from rropt.model.prior import Pairs, Prior
from rropt.program.programs import Row
from rropt.testing import BrokenLaw, drawn, is_kept, run

F = Fraction
ABC = ("a", "b", "c")


@dataclass(frozen=True)
class Example:
    """A constraint on k inputs and m outputs, with one exact matrix that satisfies it.

    `thick`: some matrices satisfy it strictly, so that a border can be approached from inside.
    """

    constraint: Constraint
    inside: Rows
    inputs: tuple[str, ...] = ABC
    outputs: tuple[str, ...] = ABC
    thick: bool = True

    @property
    def name(self) -> str:
        return f"{self.constraint.describe()}, {len(self.inputs)} x {len(self.outputs)}"


FLAT = [[F(1, 3)] * 3] * 3
SKEWED = Prior.from_counts({"a": 3, "b": 2, "c": 1})
KNOWN = Prior.from_counts([[1, 2], [0, 3]], pairs=Pairs(2, 2))
EXAMPLES = [
    Example(LDP(epsilon=1), FLAT),
    Example(LDP(epsilon="0.01"), FLAT),
    Example(LDP(epsilon=20), FLAT),
    Example(LDP(gamma=3), FLAT),
    Example(UtilityOptimisedLDP(1, sensitive=["a", "c"]), FLAT),
    Example(UtilityOptimisedLDP(gamma=2, sensitive=["b"]), FLAT),
    Example(LDP(criterion={"kind": "rho_to_rho", "rho1": "0.1", "rho2": "0.3"}), FLAT),
    Example(LDP(criterion={"kind": "csip", "upper": {"points": [[0, "0.05"], ["0.3", "0.7"], [1, 1]]}}), FLAT),
    Example(LDP(1, properties=[["a"]]), FLAT),
    Example(LDP(gamma=2, properties=[["a", "b"], ["b"]]), FLAT),
    Example(LDP(gamma=2, properties=[["a", "b"]], population={"a": 1, "b": 3, "c": 2}), FLAT),
    Example(LDP("0.4", properties=[["c"], ["a"]], population={"a": 1, "b": 0, "c": "1/2"}), FLAT),
    Example(LDP(gamma="7/2"), [[F(1, 2), F(1, 4), F(1, 8), F(1, 8)]] * 2, ("x", "y"), ("p", "q", "r", "s")),
    Example(ApproximateLDP(gamma=2, delta="1/10"), FLAT),
    Example(ApproximateLDP(epsilon="0.5", delta="0.2"), [[F(1, 4)] * 4] * 2, ("x", "y"), ("p", "q", "r", "s")),
    Example(
        Forbidden([("a", "b"), ("c", "a")]),
        [[F(1, 2), 0, F(1, 2)], [F(1)] + [F(0)] * 2, [F(0), F(1), F(0)]],
        thick=False,
    ),
    Example(Floor("0.2"), FLAT),
    Example(Floor([0, "1/2", 1]), [[F(1), F(0), F(0)], [F(0), F(1), F(0)], [F(0), F(0), F(1)]], thick=False),
    Example(Floor({"c": 0.25, "a": "1/7"}), FLAT),
    Example(Floor({"b": 0.25}), [[F(1, 4)] * 4] * 4, ("c", "b", "a", "d"), ("a", "d", "b", "c")),
    Example(LinearConstraint([[1, 0, 0], [0, "2/3", 0], [0, -1, 1]], "<=", "3/4"), FLAT),
    Example(LinearConstraint([[1, 0, 0], [0, "2/3", 0], [0, -1, 1]], ">=", "1/10"), FLAT),
    Example(LinearConstraint([[1, -1, 0], [0, 0, 0], [0, 0, 0]], "=", 0), FLAT, thick=False),
    Example(
        LinearConstraint([[1, 2]] * 3, "==", "9/2", name="rows"), [[F(1, 2)] * 2] * 3, ABC, ("y", "n"), thick=False
    ),
    Example(LinearConstraint([[0, 0], [0, 0]], "<=", 0), [[F(1, 2)] * 2] * 2, ("y", "n"), ("y", "n"), thick=False),
    Example(Bistochastic(), FLAT, thick=False),
    Example(UniformOffDiagonal(), FLAT, thick=False),
    Example(AtMost(ExpectedLoss(SKEWED, [[0, 1, 2], [1, 0, 1], [2, 1, 0]]), "9/10"), FLAT),
    Example(AtLeast(Trace(), "1/2"), FLAT),
    # Convex: the violation is not linear along a segment.
    Example(AtMost(MutualInformation(SKEWED), "1/5"), FLAT, thick=False),
    Example(AtMost(MutualInformation(SKEWED, units="bits", given=[[1, 2], [1, 1], [0, 1]]), "1/5"), FLAT, thick=False),
    Example(AtMost(ChiSquareInformation(SKEWED), "1/3"), FLAT, thick=False),
    Example(AtMost(BayesSuccess(SKEWED), "3/5"), FLAT, thick=False),
    Example(AtMost(BayesSuccess(SKEWED, gain=[[2, 1, 0], [1, 2, 1], [0, 1, 2]]), "3/2"), FLAT, thick=False),
    Example(AtMost(BayesCapacity(), "3/2"), FLAT, thick=False),
    Example(AtMost(ChannelCapacity(), "1/5"), FLAT, thick=False),
    Example(MaximalLeakage("0.4"), FLAT, thick=False),
    Example(MaximalLeakage(gamma=2), [[F(1, 2)] * 2] * 3, ABC, ("x", "y"), thick=False),
    Example(PointwiseMaximalLeakage(SKEWED, epsilon="0.4"), FLAT),
    Example(PointwiseMaximalLeakage(Prior.from_counts({"a": 1, "b": 0, "c": 2}), gamma="5/4"), FLAT),
    Example(RenyiLDP(2, "0.4"), FLAT, thick=False),
    Example(RenyiLDP("3/2", 1), [[F(1, 4)] * 4] * 2, ("x", "y"), ("p", "q", "r", "s"), thick=False),
    Example(ZeroConcentratedLDP("0.3"), FLAT, thick=False),
    Example(Invariant([1, 2, 3]), [[F(1, 6), F(1, 3), F(1, 2)]] * 3, thick=False),
    Example(
        Invariant({"c": 0, "a": 2, "b": "1/2"}),
        [[F(3, 4), F(1, 4), F(0)], [F(1), F(0), F(0)], [F(0), F(0), F(1)]],
        thick=False,
    ),
    # Not linear along a segment either.
    Example(IdentificationRisk([1, 2, 3], "0.4"), FLAT, thick=False),
    Example(IdentificationRisk({"b": 1, "a": 4, "c": 0}, "0.3", categories=["b"]), FLAT, thick=False),
    Example(
        IdentificationRisk([1, 1, 9], "0.4", blocks=[["a", "b", "c"]]),
        [[F(1, 5), F(2, 5), F(2, 5)], [F(2, 5), F(1, 5), F(2, 5)], [F(2, 45), F(2, 45), F(41, 45)]],
        thick=False,
    ),
    Example(
        Blocks([["a", "c"], ["b"]]), [[F(1, 2), F(0), F(1, 2)], [F(0), F(1), F(0)], [F(1), F(0), F(0)]], thick=False
    ),
    Example(Tridiagonal(), [[F(1, 2), F(1, 2), F(0)], [F(1, 3)] * 3, [F(0), F(1), F(0)]], thick=False),
    Example(Tridiagonal(), [[F(1, 2)] * 2] * 2, ("x", "y"), ("x", "y"), thick=False),
    Example(
        Symmetric(), [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(0), F(3, 4)], [F(1, 4), F(3, 4), F(0)]], thick=False
    ),
    Example(
        Circulant(),
        [[F(1, 2), F(1, 3), F(1, 6)], [F(1, 6), F(1, 2), F(1, 3)], [F(1, 3), F(1, 6), F(1, 2)]],
        thick=False,
    ),
    Example(PermutationMixture(), FLAT, thick=False),
    Example(PermutationMixture(weights=[("identity", "1/4", 1), (["b", "c", "a"], "1/8", 1)]), FLAT, thick=False),
    Example(PermutationMixture(weights=[("identity", 0, "1/8"), (["b", "c", "a"], 0, "1/8")]), FLAT, thick=False),
    Example(
        PermutationMixture(["identity", ["b", "c", "a"], ["c", "a", "b"]], weights=[(0, "1/2"), ("1/9", 1), (0, 1)]),
        FLAT,
        thick=False,
    ),
    Example(SharedEntropyRate("0.8", [["c", "a"], ["b"]]), FLAT, thick=False),
    Example(
        SharedEntropyRate(1, [["a", "b"], ["c"]]),
        [[F(1, 2), F(1, 2), F(0)], [F(1, 2), F(1, 2), F(0)], [F(0), F(0), F(1)]],
        thick=False,
    ),
    # Concave: the violation is not linear along a segment, so that its border is not approached here.
    Example(EntropyRate("0.7"), FLAT, thick=False),
    Example(EntropyRate(1), FLAT, thick=False),
    Example(EntropyRate("0.25"), [[F(1, 2), F(1, 2), 0, 0]] * 4, tuple("abcd"), tuple("abcd"), thick=False),
    Example(MetricDP([("a", "b"), ("b", "c")]), FLAT),
    Example(MetricDP([("a", "b", "1/2"), ("c", "b", 2)], epsilon="0.3"), FLAT),
    Example(MetricDP(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")])), FLAT),
    Example(MetricDP([[0, 1, "3/2"], [1, 0, 1], ["3/2", 1, 0]], epsilon="0.7"), FLAT),
    Example(MetricDP([[0, 2, math.inf], [2, 0, math.inf], [math.inf, math.inf, 0]], epsilon=1, connected=False), FLAT),
    Example(MaximalRLDP(1, groups=["s", "t", "s"]), FLAT),
    Example(MaximalRLDP(gamma="5/2", groups=[0, 1, 2]), FLAT),
    Example(RLDP(1, ChiSquareSet([[9, 1], [4, 8]])), [[F(1, 3)] * 3] * 4, Pairs(2, 2).labels),
    Example(RLDP(confidence=KnownDistribution(KNOWN), gamma=2), [[F(1, 3)] * 3] * 4, Pairs(2, 2).labels),
    Example(RLDP("1/2", EveryDistribution(Pairs(2, 2))), [[F(1, 3)] * 3] * 4, Pairs(2, 2).labels),
    Example(ConeConstraint([[1, -2, 0], [0, 1, "-3/2"]]), FLAT),
    Example(ConeConstraint([[1, -1, 0], [-1, 1, 0]]), FLAT, thick=False),
    Example(ConeConstraint([[1, -4]]), [[F(1, 2)] * 2] * 2, ("x", "y"), ("p", "q")),
]


def agrees(example: Example, rows: Sequence[Sequence[Fraction]]) -> bool:
    """What definition and form say of a matrix."""
    return is_kept(example.constraint, exact(rows, example.inputs, example.outputs))


def border(example: Example, outside: Rows) -> Fraction | None:
    """The share of `outside` at which the segment from the known good matrix leaves the constraint, exact where
    the violation is linear there (None where it is not)."""

    def violation(share: Fraction) -> Fraction:
        rows = mixed(example.inside, outside, share)
        return example.constraint.violation(exact(rows, example.inputs, example.outputs))

    low, high = Fraction(0), Fraction(1)
    for halvings in range(1, 41):
        middle = (low + high) / 2
        low, high = (middle, high) if violation(middle) <= 0 else (low, middle)
        if halvings % 8 == 0:
            below, above = violation(low), violation(high)
            root = low if below == 0 else low + (high - low) * below / (below - above)
            if violation(root) == 0:
                return root
    return None


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_definition_and_form_agree(example: Example) -> None:
    run(example.constraint, example.inputs, example.outputs, example.inside, solve=False)
    rng = random.Random(f"constraints {example.name}")
    said = [
        agrees(example, drawn(rng, *map(len, (example.inputs, example.outputs)), example.inside)) for _ in range(30)
    ]
    # Otherwise the law would be empty; a weak constraint may hold of nearly everything.
    assert any(said) or not example.thick


@pytest.mark.long
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_bounds_are_above_what_keeps_it(example: Example) -> None:
    run(example.constraint, example.inputs, example.outputs, example.inside, draws=10)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.thick], ids=lambda example: example.name)
def test_the_border_belongs_to_the_constraint(example: Example) -> None:
    """On the border both hold, a step of 2^-80 outside neither does, a step inside both do again."""
    rng = random.Random(f"borders {example.name}")
    step, met = Fraction(1, 1 << 80), 0
    for _ in range(60):
        outside = random_rows(rng, len(example.inputs), len(example.outputs), zeros=0.6)
        if agrees(example, outside):
            continue
        share = border(example, outside)
        assert share is not None, "the violation is not linear near the border"
        assert agrees(example, mixed(example.inside, outside, share))
        assert not agrees(example, mixed(example.inside, outside, share + step))
        if share > 0:
            assert agrees(example, mixed(example.inside, outside, share * (1 - step)))
        met += 1
        if met == 8:
            break
    assert met >= 5


def test_the_keys_declare_the_same_constraint() -> None:
    for constraint in (example.constraint for example in EXAMPLES):
        assert from_keys(constraint.kind, constraint.keys(), "test") == constraint


def test_ldp_is_judged_at_the_lower_end_of_its_ratio() -> None:
    """At the enclosure's lower end it holds exactly; a hair above it does not."""
    for epsilon in ("0.01", "1", "8", "20"):
        constraint = LDP(epsilon)
        low = constraint.level.ratio.lower
        for k in (2, 5):
            labels = [str(x) for x in range(k)]
            assert constraint.violation(exact(two_valued_rows(k, low), labels, labels)) == 0
            above = exact(two_valued_rows(k, low + Fraction(1, 1 << 300)), labels, labels)
            assert constraint.violation(above) > 0


def test_a_leak_of_1e_12_is_refused() -> None:
    """A mechanism that is right but for 1e-12 in one cell is not an LDP mechanism."""
    for constraint, gamma in ((LDP(gamma=3), Fraction(3)), (LDP(1), LDP(1).level.ratio.lower)):
        rows = two_valued_rows(4, gamma)
        labels = tuple("abcd")
        assert constraint.violation(exact(rows, labels, labels)) == 0
        leak = Fraction(1, 10**12)
        leaking = [list(row) for row in rows]
        leaking[2][2] += leak
        leaking[2][0] -= leak
        found = constraint.violation(exact(leaking, labels, labels))
        assert leak <= found <= 5 * leak


class Blunt(Floor):
    """A floor whose form forgets the first input: the law must notice."""

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        return super().rows(inputs, outputs)[1:]


def test_the_law_notices_a_form_that_forgets_something() -> None:
    with pytest.raises(BrokenLaw, match="definition says"):
        test_definition_and_form_agree(Example(Blunt("0.2"), FLAT))
