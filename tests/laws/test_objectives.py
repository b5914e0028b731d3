"""Every objective says the same twice: `value` (definition) and `form` (the utility that methods consume).

The examples of every class are among those that are held against the laws.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from drawing import Rows, exact, information_ball, mixed, random_rows, two_valued_rows
from flint import arb, ctx, fmpq, fmpq_mat

from rropt import testing
from rropt.declare.objectives import (
    WORDS,
    BayesSuccess,
    ChiSquareInformation,
    DOptimality,
    EOptimality,
    ExpectedGain,
    ExpectedLoss,
    InjectedEntropy,
    MinimaxRisk,
    MutualInformation,
    Objective,
    Sum as WeightedSum,
    Trace,
    from_keys,
)
from rropt.exact import Interval, ball, rational, rational_text
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseTrace
from rropt.program.limits import Sum
from rropt.program.programs import BayesGain, ChiSquare, ColumnSum, Divergence, Information, Linear, RowEntropy, Utility
from rropt.testing import run

ABCD = ("a", "b", "c", "d")
PRIOR = Prior.from_counts({"a": 40, "b": 30, "c": 20, "d": 10})
HOLED = Prior.from_probabilities({"a": "1/2", "b": 0, "c": "0.499999999999", "d": 1e-12})
NARROW = Fraction(1, 10**60)
"""What is left of an enclosure of a convex term in balls."""
RECTANGLE = [[1, 0], [0, "1/3"], [0.25, -2], [0, 0]]


@dataclass(frozen=True)
class Example:
    """An objective on four inputs; `outputs` is how many outputs to draw where it leaves them free."""

    objective: Objective
    inputs: tuple[str, ...] = ABCD
    free_outputs: int = 5

    @property
    def name(self) -> str:
        prior = self.objective.prior
        return f"{self.objective.kind} {'' if prior is None else prior.weights} {self.objective.units}"

    @property
    def outputs(self) -> tuple[str, ...]:
        fixed = self.objective.outputs(self.inputs)
        return fixed if fixed is not None else tuple(f"y{y}" for y in range(self.free_outputs))


EXAMPLES = [
    # The largest information over all priors is not a sum over outputs (test_leakage), nor is the largest loss over
    # several priors (tests/declare/test_minimax_loss.py).
    *(
        Example(own)
        for word, kind in WORDS.items()
        if word not in ("channel_capacity", "minimax_loss")
        for own in kind.examples(PRIOR).values()
    ),
    Example(MutualInformation(PRIOR, units="bits"), free_outputs=1),
    Example(MutualInformation(HOLED)),
    Example(MutualInformation(HOLED, units="bits"), free_outputs=9),
    Example(MutualInformation(PRIOR, given=[[40, 0], [10, 20], [15, 5], [1, 9]])),
    Example(
        MutualInformation(
            PRIOR, units="bits", given=[["0.2", "0.1", "0.1"], ["0.3", 0, 0], [0, 0, "0.2"], ["0.1", 0, 0]]
        )
    ),
    Example(ChiSquareInformation(HOLED), free_outputs=3),
    Example(MinimaxRisk(PRIOR, queries=[[1, 1, 0, 0], [0, "0.5", 0, -2]]), free_outputs=7),
    Example(Trace(), inputs=("x", "y")),
    Example(Trace(PRIOR)),
    Example(Trace(HOLED)),
    Example(InjectedEntropy("bits"), inputs=("x", "y", "z")),
    Example(ExpectedLoss(PRIOR, [[int(x != g) for g in range(4)] for x in range(4)])),
    Example(ExpectedLoss(HOLED, RECTANGLE, actions=["yes", "no"])),
    Example(ExpectedGain(PRIOR, RECTANGLE)),
    Example(BayesSuccess(HOLED)),
    Example(BayesSuccess(PRIOR, gain=RECTANGLE, actions=["yes", "no"]), free_outputs=3),
    Example(BayesSuccess(HOLED, gain=np.arange(12).reshape(4, 3))),
]


def given_value(mechanism: Mechanism, given: tuple[tuple[int, ...], ...]) -> Interval:
    """sum over x, y, z of P(x, y, z) log(P(y | x) / P(y | z)), term by term."""
    total = sum(map(sum, given))
    with ctx.workprec(300):
        result = arb(0)
        for z in range(len(given[0])):
            mass = sum(row[z] for row in given)
            for y in range(len(mechanism.outputs)):
                joint = [Fraction(row[z], total) * mechanism.entry(x, y) for x, row in enumerate(given)]
                for x, part in enumerate(joint):
                    if part:
                        ratio = mechanism.entry(x, y) * Fraction(mass, total) / sum(joint, Fraction(0))
                        logarithm = arb(fmpq(ratio.numerator, ratio.denominator)).log()
                        result += arb(fmpq(part.numerator, part.denominator)) * logarithm
        return Interval(*(rational(f"{end.str(60, radius=False)}") for end in (result.lower(), result.upper())))


def design_value(utility: InverseTrace, mechanism: Mechanism) -> Interval:
    """The exact variance of weighted least squares: C' (B'B)^-1 C with B = D^(-1/2) Q' written without roots."""
    k, m = mechanism.shape
    total = sum(utility.weights)
    prior = [Fraction(weight, total) for weight in utility.weights]
    seen = [y for y in range(m) if any(mechanism.column(y))]
    columns = [mechanism.column(y) for y in seen]
    shares = [sum((p * q for p, q in zip(prior, column, strict=True)), Fraction(0)) for column in columns]

    def table(rows: list[list[Fraction]]) -> fmpq_mat:
        return fmpq_mat(len(rows), len(rows[0]), [fmpq(v.numerator, v.denominator) for row in rows for v in row])

    left = table([list(column) for column in columns])
    weighed = table([[q / share for q in column] for column, share in zip(columns, shares, strict=True)])
    information = left.transpose() * weighed
    if information.rank() < k:
        return Interval(math.inf, math.inf)  # type: ignore[arg-type]
    queries = table([list(row) for row in utility.rows])
    found = queries * information.inv() * queries.transpose()
    value = sum((Fraction(int(found[j, j].p), int(found[j, j].q)) for j in range(len(utility.rows))), Fraction(0))
    for row in utility.rows:
        value -= sum((c * p for c, p in zip(row, prior, strict=True)), Fraction(0)) ** 2
    return Interval.point(value)


def spectral_value(utility: DesignUtility, mechanism: Mechanism) -> Interval:
    """log det M^-1, or the largest root of the characteristic polynomial of M^-1 - p p', from exact matrices."""
    k, total = len(utility.weights), sum(utility.weights)
    prior = [Fraction(weight, total) for weight in utility.weights]
    own = [[Fraction(0)] * k for _ in range(k)]
    for y in range(len(mechanism.outputs)):
        column = mechanism.column(y)
        share = sum((p * q for p, q in zip(prior, column, strict=True)), Fraction(0))
        for x in range(k if share else 0):
            for z in range(k):
                own[x][z] += column[x] * column[z] / share
    matrix = fmpq_mat(k, k, [fmpq(v.numerator, v.denominator) for row in own for v in row])
    if matrix.rank() < k:
        return Interval(math.inf, math.inf)  # type: ignore[arg-type]
    if isinstance(utility, InverseDeterminant):
        with ctx.workprec(300):
            found = -arb(matrix.det()).log()
    else:
        means = fmpq_mat(k, 1, [fmpq(p.numerator, p.denominator) for p in prior])
        roots = (matrix.inv() - means * means.transpose()).charpoly().numer().complex_roots()
        found = max((root.real for root, _ in roots), key=lambda root: float(root.mid()))
    return Interval(*(rational(f"{end.str(60, radius=False)}") for end in (found.lower(), found.upper())))


def divergence_value(utility: Divergence, mechanism: Mechanism) -> Interval:
    """sum over y of w_y (sum over x of p_x phi(Q[x, y] / w_y) - phi(1)), in balls."""
    total = sum(utility.weights)
    with ctx.workprec(400):
        result = arb(0)
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            shares = [(Fraction(weight, total), q) for weight, q in zip(utility.weights, column, strict=True)]
            if w := sum((p * q for p, q in shares), Fraction(0)):
                inner = sum((ball(p) * utility.term.ball(ball(q / w)) for p, q in shares if p), arb(0))
                result += ball(w) * (inner - utility.term.one)
        return Interval(*(rational(f"{end.str(80, radius=False)}") for end in (result.lower(), result.upper())))


def form_value(utility: Utility, mechanism: Mechanism, prior: Prior | None) -> Interval:
    """The utility of the closed vocabulary at an exact mechanism, from its data alone."""
    if isinstance(utility, Linear):
        return Interval.point(sum((c * mechanism.entry(x, y) for x, y, c in utility.cost), Fraction(0)))
    if isinstance(utility, BayesGain):
        scores = utility.scores()
        return Interval.point(
            sum(
                (
                    max(
                        sum((s * q for s, q in zip(row, mechanism.column(y), strict=True)), Fraction(0))
                        for row in scores
                    )
                    for y in range(len(mechanism.outputs))
                ),
                Fraction(0),
            )
        )
    if isinstance(utility, Information):
        assert prior is not None
        if utility.given is not None:
            return given_value(mechanism, utility.given)
        assert utility.weights == prior.weights
        ball = information_ball(mechanism, Prior(mechanism.inputs, utility.weights))
        return Interval(*(rational(f"{end.str(60, radius=False)}") for end in (ball.lower(), ball.upper())))
    if isinstance(utility, RowEntropy):
        # The chain rule: log(k m) less the divergence of the joint of a uniform input and its output from uniform.
        assert set(utility.shares) == {1}
        k, m = mechanism.shape
        with ctx.workprec(300):
            result = arb(m).log()
            for x in range(k):
                for y in range(m):
                    if entry := mechanism.entry(x, y) * m:
                        share = arb(fmpq(entry.numerator, entry.denominator))
                        result -= share * share.log() / (k * m)
            return Interval(*(rational(f"{end.str(60, radius=False)}") for end in (result.lower(), result.upper())))
    if isinstance(utility, ChiSquare):
        parts = []
        for y in range(len(mechanism.outputs)):
            masses = [w * q for w, q in zip(utility.weights, mechanism.column(y), strict=True)]
            if whole := sum(masses, Fraction(0)):
                parts.append(
                    sum((m * q for m, q in zip(masses, mechanism.column(y), strict=True)), Fraction(0)) / whole
                )
        return Interval.point(sum(parts, Fraction(0)) - 1)
    if isinstance(utility, Divergence):
        return divergence_value(utility, mechanism)
    if isinstance(utility, InverseTrace):
        return design_value(utility, mechanism)
    if isinstance(utility, DesignUtility):
        return spectral_value(utility, mechanism)
    if isinstance(utility, Sum):
        total = form_value(Linear(utility.cost), mechanism, prior)
        for weight, part in utility.parts:
            own = form_value(part, mechanism, prior)
            ends = sorted((weight * own.lower, weight * own.upper))
            total = Interval(total.lower + ends[0], total.upper + ends[1])
        return total
    raise AssertionError(f"teach this law the utility {type(utility).__name__}")


def drawn(example: Example, rng: random.Random) -> Rows:
    return testing.drawn(rng, len(example.inputs), len(example.outputs))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_definition_and_form_agree(example: Example) -> None:
    rng = random.Random(f"objectives {example.name}")
    utility = example.objective.form(example.inputs)
    for _ in range(40):
        mechanism = exact(drawn(example, rng), example.inputs, example.outputs)
        value = example.objective.value(mechanism)
        form = form_value(utility, mechanism, example.objective.prior)
        if isinstance(utility, (Information, RowEntropy, Sum)):
            with ctx.workprec(300):
                factor = 1 / arb(2).log() if example.objective.units == "bits" else arb(1)
                scaled = [float(factor * arb(str(float(end)))) for end in (form.lower, form.upper)]
            # Both are enclosures of the same number: they overlap, and both are narrow.
            assert float(value.lower) - 1e-15 <= scaled[1]
            assert scaled[0] <= float(value.upper) + 1e-15
            assert value.upper - value.lower < Fraction(1, 1 << 200)
        elif isinstance(utility, InverseTrace) and math.isfinite(form.lower):
            assert value.lower <= form.lower <= value.upper
            assert value.upper - value.lower < Fraction(1, 1 << 100) * max(Fraction(1), form.lower)
        elif isinstance(utility, DesignUtility) and math.isfinite(form.lower):
            spare = Fraction(1, 10**13) * max(Fraction(1), abs(form.lower))
            assert value.lower - spare <= form.upper
            assert form.lower <= value.upper + spare
            assert value.upper - value.lower < spare
        else:
            assert value.lower == value.upper
            assert value == form or (isinstance(utility, Divergence) and abs(value.lower - form.lower) < NARROW)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_value_is_affine_or_convex_along_a_segment(example: Example) -> None:
    """What methods rely on: linear utilities are affine, sums over columns convex, entropies of rows concave."""
    rng = random.Random(f"segments {example.name}")
    utility = example.objective.form(example.inputs)
    for _ in range(15):
        first, second = drawn(example, rng), drawn(example, rng)
        share = Fraction(rng.randint(1, 99), 100)
        ends = [example.objective.value(exact(rows, example.inputs, example.outputs)) for rows in (first, second)]
        middle = example.objective.value(exact(mixed(first, second, share), example.inputs, example.outputs))
        chord = (1 - share) * ends[0].upper + share * ends[1].upper
        if isinstance(utility, DesignUtility):
            # Forgetting which of the two was used never helps.
            both = [
                [(1 - share) * q for q in one] + [share * q for q in other]
                for one, other in zip(first, second, strict=True)
            ]
            names = tuple(f"y{y}" for y in range(2 * len(example.outputs)))
            assert middle.upper >= example.objective.value(exact(both, example.inputs, names)).lower
            continue
        if isinstance(utility, RowEntropy) or (isinstance(utility, Sum) and not utility.bending(1)):
            assert middle.upper >= (1 - share) * ends[0].lower + share * ends[1].lower
            continue
        assert middle.lower <= chord
        if isinstance(utility, Linear):
            assert middle.lower == chord
        else:
            assert isinstance(utility, ColumnSum | Sum)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_floats_and_exact_numbers_agree(example: Example) -> None:
    run(example.objective, example.inputs, example.outputs, solve=False)


@pytest.mark.long
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_bounds_are_above_random_mechanisms(example: Example) -> None:
    run(example.objective, example.inputs, example.outputs, draws=10)


def test_the_keys_declare_the_same_objective() -> None:
    for objective in (example.objective for example in EXAMPLES):
        assert from_keys(objective.kind, objective.keys(), objective.prior, "test") == objective
        assert objective.keys().keys() <= objective.words.keys()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_payload_is_as_the_certificate_format_wants_it(example: Example) -> None:
    """Rationals in lowest terms, cells strictly increasing."""
    payload = example.objective.form(example.inputs).payload()
    assert payload is not None
    if payload["kind"] == "linear":
        cost = payload["cost"]
        assert isinstance(cost, list)
        cells = [(x, y) for x, y, _ in cost]
        assert cells == sorted(set(cells))
        assert all(rational_text(Fraction(text)) == text for _, _, text in cost)
    if payload["kind"] == "bayes":
        gain = payload["gain"]
        assert isinstance(gain, list)
        assert {len(row) for row in gain} == {len(example.inputs)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_outputs_that_tell_nothing_or_everything(example: Example) -> None:
    """One answer for all carries the least, the truth the most, of everything that is to be maximised."""
    if isinstance(
        example.objective, ExpectedLoss | ExpectedGain | MinimaxRisk | DOptimality | EOptimality | WeightedSum
    ):
        return
    k = len(example.inputs)
    outputs = example.objective.outputs(example.inputs) or example.inputs
    constant = [[Fraction(int(y == 0)) for y in range(k)]] * k
    truth = [[Fraction(int(x == y)) for y in range(k)] for x in range(k)]
    low = example.objective.value(exact(constant, example.inputs, outputs))
    high = example.objective.value(exact(truth, example.inputs, outputs))
    rng = random.Random(f"ends {example.name}")
    assert low.lower <= high.upper
    if isinstance(example.objective, MutualInformation):
        assert low == Interval.point(Fraction(0))
        for _ in range(20):
            some = example.objective.value(exact(random_rows(rng, k, k), example.inputs, outputs))
            assert 0 <= some.upper
            assert some.lower <= high.upper
    if isinstance(example.objective, Trace) and example.objective.prior is None:
        assert (low.lower, high.lower) == (1, k)
        gamma = Fraction(3)
        assert example.objective.value(exact(two_valued_rows(k, gamma), example.inputs, outputs)) == Interval.point(
            gamma * k / (gamma + k - 1)
        )


class Forgetful(Trace):
    """A trace whose form leaves out the last input: the law must notice."""

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return Linear(tuple((x, x, Fraction(1)) for x in range(len(inputs) - 1)))


def test_the_law_notices_a_form_that_forgets_something() -> None:
    with pytest.raises(AssertionError):
        test_definition_and_form_agree(Example(Forgetful()))
