"""Labels are used wherever numbers have some: every public parameter that takes counts, weights, matrices or frames.

`CASES` says of each such parameter how to call it. A public parameter of an open type that is in neither `CASES` nor
`NOT_LABELLED` fails the first test, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import inspect
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from documented import INTERNAL, callables
from rropt.models.permutation_model import majorisation, reverse_map

import rropt as rr
from rropt.estimation.information import estimated_information
from rropt.release.multivariate import Attribute, averaged, microaggregate

pd = pytest.importorskip("pandas")

ABC = ["a", "b", "c"]
PRIOR = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
PAIRS = rr.Pairs(["s", "t"], ["u", "v", "w"])
TABLE = [[30, 20, 10], [12, 25, 40]]
CHI = rr.robust.ChiSquareSet(rr.Prior.from_counts(TABLE, pairs=PAIRS))
ROWS = [["3/4", "1/8", "1/8"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]]
ORDERED = rr.Problem(rr.Maximize(rr.Trace()), [rr.Floor({"a": "3/4", "b": "1/2", "c": "3/4"})], inputs=ABC)
TURNED = [list(row) for row in zip(*ROWS, strict=True)]
KEYS = {"sex": ["f", "m"], "region": ["x", "y", "z"]}
FLOOR = ["u", "v", "w"]


@dataclass(frozen=True)
class Case:
    """`call` with numbers; along which labels they lie (one axis or two); whether the labels are the caller's own
    (`free`, then nothing can be missing), or some may be left out (`sparse`)."""

    call: Callable[[Any], object]
    values: list[Any]
    rows: list[str] | None
    columns: list[str] | None = None
    free: tuple[str, ...] = ()
    sparse: bool = False
    plain: bool = True


def numbers(call: Callable[[Any], object], values: list[Any] | None = None, **more: Any) -> Case:
    return Case(call, values or [5, 3, 2], more.pop("labels", ABC), **more)


def table(
    call: Callable[[Any], object],
    values: list[list[Any]],
    rows: list[str] | None,
    columns: list[str] | None,
    **more: Any,
) -> Case:
    return Case(call, values, rows, columns if columns is not None else [], **more)


def prior(made: rr.Prior) -> object:
    return dict(zip(made.labels, made.probabilities, strict=True))


def square(made: rr.Mechanism) -> object:
    """A mechanism as a mapping of cells, whatever its order."""
    return {(x, y): made.entry(i, j) for i, x in enumerate(made.inputs) for j, y in enumerate(made.outputs)}


def held(constraint: rr.Constraint) -> object:
    """What a constraint says of the inputs a, b, c."""
    inputs = tuple(ABC)
    outputs = constraint.outputs(inputs) or inputs
    mechanism = rr.Mechanism.from_rationals(ROWS, inputs=ABC, outputs=ABC)
    return sorted(constraint.rows(inputs, outputs), key=str), constraint.cone(inputs), constraint.violation(mechanism)


def risk(constraint: Any) -> object:
    return constraint.extras(tuple(ABC), tuple(ABC))


def estimated(found: Any) -> object:
    return found.categories, found.values.tolist()


def told(objective: Any) -> object:
    return objective.value(rr.Mechanism.from_rationals(ROWS, inputs=ABC, outputs=objective.outputs(tuple(ABC)) or ABC))


MECHANISM = rr.Mechanism.from_matrix(ROWS, inputs=ABC, outputs=ABC)
HADAMARD = rr.mechanisms.HadamardResponse(ABC, epsilon=1.0)
HASHING = rr.mechanisms.LocalHashing(ABC, epsilon=1.0)
SUBSETS = rr.mechanisms.SubsetSelection([*ABC, "d"], epsilon=1.0)
CROSS = rr.release.CrossClassification(KEYS)
RECTANGLE = [[1, 0, 2], [0, 3, 1]]
LOSS = [[0, 1, 2], [1, 0, 3], [4, 5, 0]]
POLYTOPE_D = [[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, -1]]
PAIR_LABELS = list(PAIRS.labels)
CONDITIONALS = [F(1, 2), F(1, 4), F(1, 4), F(1, 8), F(3, 8), F(1, 2)]


def polytope(D: Any = POLYTOPE_D, d: Any = (F(-1, 10), F(1)), E: Any = (), e: Any = ()) -> object:
    made = rr.robust.Polytope(D, d, E=E, e=e, pairs=PAIRS)
    return made.D, made.d, made.E, made.e


def carried(before: Any, after: Any) -> object:
    """Which entry majorisation's matrix makes of which."""
    found = majorisation(before, after)
    return sorted(zip(found.before, found.after, strict=True))


def moved(original: Any, anonymised: Any) -> object:
    found = reverse_map(original, anonymised)
    return sorted(zip(found.original, found.reverse_mapped, strict=True))


CASES: dict[str, list[Case]] = {
    "Prior.from_counts.counts": [
        numbers(lambda v: prior(rr.Prior.from_counts(v)), free=("rows",)),
        table(lambda v: prior(rr.Prior.from_counts(v, pairs=PAIRS)), TABLE, ["s", "t"], FLOOR),
        numbers(lambda v: prior(rr.Prior.from_counts(v, pairs=PAIRS)), [30, 20, 10, 12, 25, 40], labels=PAIR_LABELS),
    ],
    "Prior.from_probabilities.probabilities": [
        numbers(lambda v: prior(rr.Prior.from_probabilities(v)), [0.5, 0.3, 0.2], free=("rows",)),
        table(
            lambda v: prior(rr.Prior.from_probabilities(v, pairs=PAIRS)),
            [[0.3, 0.2, 0.1], [0.1, 0.1, 0.2]],
            ["s", "t"],
            FLOOR,
        ),
    ],
    "RLDP.from_keys.counts": [
        table(
            lambda v: prior(rr.RLDP.from_keys(1, counts=v, sensitive=["s", "t"], other=FLOOR).confidence.center),
            TABLE,
            ["s", "t"],
            FLOOR,
        )
    ],
    "EveryDistribution.contains.distribution": [
        table(
            lambda v: rr.robust.EveryDistribution(PAIRS).contains(v),
            [[0.3, 0.2, 0.1], [0.1, 0.1, 0.2]],
            ["s", "t"],
            FLOOR,
        )
    ],
    **{
        f"{type(one).__name__}.mean.values": [
            numbers(lambda v, one=one: one.mean(0, v), [F(1), F(2), F(4)], labels=FLOOR)
        ]
        for one in (
            CHI,
            rr.robust.KnownDistribution(CHI.counts),
            rr.robust.EveryDistribution(PAIRS),
            rr.robust.Polytope(POLYTOPE_D, [0, 1], pairs=PAIRS),
        )
    },
    "ChiSquareSet.support.direction": [numbers(lambda v: CHI.support(v)[0], [3, 1, 4, 1, 5, 9], labels=PAIR_LABELS)],
    "ChiSquareSet.support_bound.direction": [
        numbers(lambda v: CHI.support_bound(v), [F(n) for n in (3, 1, 4, 1, 5, 9)], labels=PAIR_LABELS)
    ],
    "Pairs.flattened.table": [table(lambda v: PAIRS.flattened(v, "counts"), TABLE, ["s", "t"], FLOOR)],
    "ChiSquareSet.counts": [
        table(lambda v: prior(rr.robust.ChiSquareSet(v).counts), TABLE, ["s", "t"], FLOOR, free=("rows", "columns"))
    ],
    "ChiSquareSet.contains.distribution": [
        table(
            lambda v: CHI.contains(v),
            [["30/137", "20/137", "10/137"], ["12/137", "25/137", "40/137"]],
            ["s", "t"],
            FLOOR,
        )
    ],
    "KnownDistribution.contains.distribution": [
        table(
            lambda v: rr.robust.KnownDistribution(CHI.counts).contains(v),
            [["30/137", "20/137", "10/137"], ["12/137", "25/137", "40/137"]],
            ["s", "t"],
            FLOOR,
        )
    ],
    "Polytope.contains.distribution": [
        numbers(
            lambda v: rr.robust.Polytope(POLYTOPE_D, [0, 1], pairs=PAIRS).contains(v), CONDITIONALS, labels=PAIR_LABELS
        )
    ],
    "Polytope.D": [table(lambda v: polytope(D=v), POLYTOPE_D, None, PAIR_LABELS)],
    "Polytope.E": [table(lambda v: polytope(E=v, e=[0]), [[1, -1, 0, 2, 0, 0]], None, PAIR_LABELS)],
    "Polytope.d": [
        numbers(
            lambda v: polytope(D=pd.DataFrame(POLYTOPE_D, ["one", "two"], PAIR_LABELS), d=v),
            [F(-1, 10), F(1)],
            labels=["one", "two"],
        )
    ],
    "Polytope.e": [
        numbers(
            lambda v: polytope(E=pd.DataFrame(POLYTOPE_D, ["one", "two"], PAIR_LABELS), e=v),
            [F(-1, 10), F(1)],
            labels=["one", "two"],
        )
    ],
    "Invariant.counts": [numbers(lambda v: held(rr.Invariant(v)))],
    "Invariant.from_keys.counts": [numbers(lambda v: held(rr.Invariant.from_keys(v)))],
    "IdentificationRisk.counts": [numbers(lambda v: risk(rr.IdentificationRisk(v, 0.4)))],
    "IdentificationRisk.from_keys.counts": [numbers(lambda v: risk(rr.IdentificationRisk.from_keys(0.4, counts=v)))],
    "Floor.diagonal": [numbers(lambda v: held(rr.Floor(v)), [0.5, 0.3, 0.2], sparse=True)],
    "LDP.population": [
        numbers(
            lambda v: held(
                rr.LDP(criterion=rr.privacy.RhoToRho(0.2, 0.5), properties=[["a"], ["a", "b"]], population=v)
            ),
            [0.5, 0.3, 0.2],
            plain=False,
        )
    ],
    "LinearConstraint.coefficients": [table(lambda v: held(rr.LinearConstraint(v, "<=", 1)), LOSS, ABC, ABC)],
    "ConeConstraint.matrix": [table(lambda v: held(rr.ConeConstraint(v)), RECTANGLE, None, ABC)],
    "MetricDP.graph": [table(lambda v: held(rr.MetricDP(v)), [[0, 1, 3], [1, 0, 2], [3, 2, 0]], ABC, ABC)],
    "MetricDP.from_keys.distances": [
        table(lambda v: held(rr.MetricDP.from_keys(1, distances=v)), [[0, 1, 3], [1, 0, 2], [3, 2, 0]], ABC, ABC)
    ],
    "MaximalRLDP.groups": [numbers(lambda v: held(rr.MaximalRLDP(1, groups=v)), ["s", "t", "t"])],
    "ExpectedLoss.matrix": [
        table(lambda v: told(rr.ExpectedLoss(PRIOR, v)), LOSS, ABC, ABC, free=("columns",)),
        table(lambda v: told(rr.ExpectedLoss(PRIOR, v, actions=["x", "y", "z"])), LOSS, ABC, ["x", "y", "z"]),
    ],
    "ExpectedGain.matrix": [table(lambda v: told(rr.ExpectedGain(PRIOR, v)), LOSS, ABC, ABC, free=("columns",))],
    "BayesSuccess.gain": [table(lambda v: told(rr.BayesSuccess(PRIOR, gain=v)), LOSS, ABC, ABC, free=("columns",))],
    **{
        f"{kind.__name__}.secret": [
            table(
                lambda v, kind=kind: told(kind(PRIOR, secret=v)),
                [[1, 4], [2, 1], [1, 1]],
                ABC,
                ["x", "y"],
                free=("columns",),
            )
        ]
        for kind in (rr.BayesSuccess, rr.ChiSquareInformation, rr.MutualInformation, rr.privacy.BayesCapacity)
    },
    "MutualInformation.given": [
        table(
            lambda v: told(rr.MutualInformation(PRIOR, given=v)),
            [[1, 4], [2, 1], [1, 1]],
            ABC,
            ["x", "y"],
            free=("columns",),
        )
    ],
    "MinimaxRisk.queries": [table(lambda v: told(rr.MinimaxRisk(PRIOR, queries=v)), RECTANGLE, None, ABC)],
    "Mechanism.from_matrix.matrix": [
        table(lambda v: square(rr.Mechanism.from_matrix(v, inputs=ABC, outputs=ABC)), ROWS, ABC, ABC),
        table(lambda v: square(rr.Mechanism.from_matrix(v)), ROWS, ABC, ABC, free=("rows", "columns"), plain=False),
    ],
    "Mechanism.from_column_stochastic.matrix": [
        table(
            lambda v: square(rr.Mechanism.from_column_stochastic(v, inputs=ABC, outputs=ABC)),
            [list(r) for r in zip(*ROWS, strict=True)],
            ABC,
            ABC,
        )
    ],
    "Mechanism.from_rationals.rows": [
        table(lambda v: square(rr.Mechanism.from_rationals(v, inputs=ABC, outputs=ABC)), ROWS, ABC, ABC)
    ],
    "Mechanism.estimate.counts": [numbers(lambda v: estimated(MECHANISM.estimate(v)), [500, 300, 200])],
    "RandomizedResponse.estimate.counts": [
        numbers(lambda v: estimated(rr.RandomizedResponse(ABC, epsilon=1.0).estimate(v)), [500, 300, 200])
    ],
    "HadamardResponse.estimate.counts": [
        numbers(lambda v: estimated(HADAMARD.estimate(v)), [100, 200, 300, 150], labels=["0", "1", "2", "3"])
    ],
    "HadamardResponse.covariance.frequencies": [
        numbers(lambda v: HADAMARD.covariance(v).tolist(), [0.5, 0.3, 0.2]),
    ],
    "LocalHashing.covariance.frequencies": [
        numbers(lambda v: HASHING.covariance(v).tolist(), [0.5, 0.3, 0.2]),
    ],
    "SubsetMixture.covariance.frequencies": [
        numbers(lambda v: SUBSETS.covariance(v).tolist(), [0.4, 0.3, 0.2, 0.1], labels=[*ABC, "d"]),
    ],
    "QuasiIdentifierTable.of.counts": [
        table(
            lambda v: rr.disclosure.QuasiIdentifierTable.of(v, KEYS).counts.tolist(),
            RECTANGLE,
            ["f", "m"],
            ["x", "y", "z"],
        ),
        numbers(lambda v: rr.disclosure.QuasiIdentifierTable.of(v, {"grade": ABC}).counts.tolist(), sparse=True),
    ],
    "CrossClassification.counts.table": [
        table(lambda v: CROSS.counts(np.array(v) if isinstance(v, list) else v), RECTANGLE, ["f", "m"], ["x", "y", "z"])
    ],
    "birkhoff.mechanism": [
        table(
            lambda v: {
                tuple(sorted(zip(d.source.inputs, [d.source.outputs[y] for y in p], strict=True))): w
                for d in [rr.ordering.birkhoff(v)]
                for w, p in zip(d.weights, d.permutations.tolist(), strict=True)
            },
            [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
            ABC,
            ABC,
            free=("rows", "columns"),
            plain=False,
        )
    ],
    "audit.matrix": [
        table(
            lambda v: square(rr.audit(v, epsilon=2, time_limit=1).mechanism),
            ROWS,
            ABC,
            ABC,
            free=("rows", "columns"),
            plain=False,
        )
    ],
    "verify_claim.matrix": [
        table(
            lambda v: rr.claims.verify_claim(ORDERED, matrix=v, claimed="feasible", value="2").verdict,
            ROWS,
            ABC,
            ABC,
            plain=False,
        ),
    ],
}

THREE = [("u", "v"), ("v", "w"), ("u", "w")]
CASES |= {
    "majorisation.before": [numbers(lambda v: carried(v, {"a": 4, "b": 4, "c": 2}), [7, 2, 1])],
    "majorisation.after": [numbers(lambda v: carried({"a": 7, "b": 2, "c": 1}, v), [4, 4, 2])],
    "reverse_map.original": [numbers(lambda v: moved(v, {"a": 2, "b": 1, "c": 9}), [10, 40, 20])],
    "reverse_map.anonymised": [numbers(lambda v: moved({"a": 10, "b": 40, "c": 20}, v), [2, 1, 9])],
    "Attribute.parts": [
        numbers(lambda v: dict(zip(ABC, Attribute("x", PRIOR, members=["s", "t"], parts=v).parts, strict=True)), THREE)
    ],
    "Attribute.weights": [
        numbers(
            lambda v: Attribute("x", PRIOR, members=["s", "t"], parts=THREE, weights=v).weights,
            [1, 2],
            labels=["s", "t"],
        ),
    ],
    "averaged.values": [numbers(lambda v: averaged(MECHANISM, v), [1, 5, 12])],
    "microaggregate.values": [
        numbers(lambda v: square(microaggregate(v, 2).mechanism), [1, 5, 2, 7], labels=[*ABC, "d"], free=("rows",))
    ],
    "Pram.problem.counts": [numbers(lambda v: sorted(rr.Pram().problem(v).objective.prior.weights), free=("rows",))],
    "ladder.counts": [numbers(lambda v: rr.disclosure.ladder(v, "0.1", category="b"), free=("rows",))],
    "estimated_information.counts": [
        table(
            lambda v: round(estimated_information(v).plug_in, 12),
            [[9, 2], [3, 7]],
            ["u", "v"],
            ["x", "y"],
            free=("rows", "columns"),
        )
    ],
}

# Parameters of an open type that take no numbers with labels: by name, and by callable where a name means many things.
NOT_LABELLED = {
    "one number": """epsilon gamma delta alpha at_most beta upper lower present absent rho1 rho2 posterior share order
        rhs half_width level yes truth gap absolute_gap time_limit risk value error innocuous""",
    "labels, in their own order": """categories labels inputs outputs input_labels actions names sensitive other blocks
        cells properties members drop by columns margins input_features covariates""",
    "a mechanism or more": "mechanism mechanisms channel a b with_ items",
    "rows of records, one a person": "codes reports records X y",
    "a word or a switch": "claimed sub sub_sensitive criterion form confidence sees directed connected item null",
    "by name": "where impossible options methods solvers solver_options",
    "nouns of this package": "constraints priors verdict family problems",
}
# Where a name means something else elsewhere, or the constructor of a noun that only this package fills.
NOT_LABELLED_HERE = {
    "audit_sampler.sampler": "a function, or pairs of labels",
    "compare.problem": "problems by name",
    "Certificate.document": "the certificate as JSON",
    "Estimate.values": "made by estimators",
    "Estimate.centre": "made by estimators",
    "Estimate.variances": "made by estimators",
    "Estimate.moments": "made by estimators",
    "Estimate.covariance": "made by estimators",
    "Estimate.within.values": "made by estimators",
    **dict.fromkeys(
        (
            f"Estimated{kind}.{field}"
            for kind, fields in {
                "Means": "values covariance totals total_errors",
                "Shares": "values covariances totals total_errors",
                "Table": "values covariance totals total_errors",
            }.items()
            for field in fields.split()
        ),
        "made by estimators",
    ),
    "NoisyCounts.counts": "made by count_with_noise",
    "NoisyCounts.count.values": "values by column",
    "PerturbationTable.perturb.counts": "one number a cell",
    "PerturbationTable.perturb.keys": "one number a cell",
    "count_with_noise.data": "a table or a file",
    "plan_release.schema": "a schema",
    **dict.fromkeys(("special_uniques.data", "special_uniques.keys"), "a table, and names of its columns"),
    "Pram.forbidden": "pairs of labels",
    "Pram.strata.counts": "counts by stratum",
    "protect.data": "a table or a file",
    "protect.joint": "groups of columns",
    "protect.errors": "numbers by column",
    "Release.learned": "sentences of a manifest",
    **dict.fromkeys(("Regression.values", "Regression.covariance"), "made by estimate_regression"),
    "anatomise.keys": "names of keys",
    "Scores.values": "made by scores",
    "Scores.table": "made by scores",
    "scores.answers": "records",
    "SurveyPlan.respondents": "one number a sample",
    "SurveyPlan.mechanisms": "one a sample",
    "estimate_two_samples.counts": "yes and no of two samples",
    "Estimate.sums.groups": "labels by group",
    "QuasiIdentifierTable.counts": "made by QuasiIdentifierTable.of",
    "QuasiIdentifierTable.possible": "made by QuasiIdentifierTable.of",
    "QuasiIdentifierTable.of.possible": "truth values; what has labels is refused",
    "PermutationMixture.is_shown_by.weights": "by permutation; asked by the solver only",
    "LocalHashing.estimate.counts": "reports, one row a person",
    "SubsetMixture.estimate.counts": "reports, one row a person",
    "MetricDP.from_keys.graph": "edges, by label",
    **dict.fromkeys(("AtLeast.from_keys.keys", "AtMost.from_keys.keys"), "words of a problem file"),
    "MutualInformation.worst_case": "a set, or the words of a problem file",
    "PermutationMixture.permutations": "permutations, by label",
    "PermutationMixture.weights": "bounds, by permutation",
    "Polytope.completed.known": "corners by the number of their sensitive value",
    "PreciseBoundary.upper.prior": "one probability",
    "PreciseBoundary.lower.prior": "one probability",
    "PreciseBoundary.breached.prior": "one probability",
    "Prior.from_csv.pairs": "two names of columns",
    "EntropyRate.at_least": "one number",
    "MultiRelease.at_least": "one number",
    "MultiRelease.from_columns.at_least": "one number",
    "MultiRelease.from_columns.clusters": "names, in their own order",
    "MultiRelease.attributes": "nouns of this package",
    "AttributeReport.loss": "made by solve",
    "clusters_of.information": "by names of attributes",
    "clusters_of.sizes": "by names of attributes",
    "weight_range.permutation": "outputs, by index or by label",
    "response_on_bins.loss": "read with its labels, as every table of losses is",
    "SharedEntropyRate.at_least": "one number",
    "ProductMechanism.estimate_pair.first": "the name of an item",
    "ProductMechanism.estimate_pair.second": "the name of an item",
    "Solution.decomposition": "made by solve",
    "Swept.rows": "made by sweep",
    "generalization.groups": "labels by group",
    "release_table.table": "records",
    "sweep.given": "problems by name",
    "sweep.over": "values by axis",
    **dict.fromkeys(("RLDP.from_keys.D", "RLDP.from_keys.d", "RLDP.from_keys.E", "RLDP.from_keys.e"), "as Polytope"),
}
OPEN = re.compile(r"\b(object|Any|Sequence|Mapping|Iterable|ndarray|FloatArray|list|dict)\b")


def public() -> Iterator[tuple[str, inspect.Parameter]]:
    """("Class.method.parameter", parameter) of every public callable."""
    for where, call in callables(INTERNAL):
        for one in inspect.signature(call).parameters.values():
            if one.name != "self":
                yield f"{where}.{one.name}", one


def test_every_public_parameter_that_may_take_labelled_numbers_is_classified() -> None:
    known = set(CASES) | set(NOT_LABELLED_HERE)
    names = {name for listed in NOT_LABELLED.values() for name in listed.split()}
    found = dict(public())
    unknown = [
        where
        for where, one in found.items()
        if where not in known and one.name not in names and OPEN.search(str(one.annotation))
    ]
    assert unknown == []
    assert sorted(known - set(found)) == [], "what is listed exists"


# ---- the forms in which numbers come -------------------------------------------------------------------


def shuffled(items: list[Any]) -> list[int]:
    order = list(range(len(items)))
    while len(order) > 1 and order == sorted(order):
        random.Random(len(order)).shuffle(order)
        order = order[1:] + order[:1] if order == sorted(order) else order
    return order


def forms_of_numbers(labels: list[str], values: list[Any]) -> Iterator[tuple[str, Any]]:
    """The same numbers with their labels, in other orders."""
    nw, pa, pl = (pytest.importorskip(name) for name in ("narwhals", "pyarrow", "polars"))
    order = shuffled(labels)
    names, numbers = [labels[at] for at in order], [values[at] for at in order]
    yield "dict", dict(zip(names, numbers, strict=True))
    yield "pandas Series", pd.Series(numbers, index=names)
    yield "pandas frame of one column", pd.DataFrame({"count": numbers}, index=names)
    yield "pandas value_counts().reset_index()", pd.DataFrame({"label": names, "count": numbers})
    if all(isinstance(value, (int, float)) for value in values):
        yield "Counter", Counter(dict(zip(names, numbers, strict=True)))
        yield "polars frame", pl.DataFrame({"label": names, "count": numbers})
        yield "pyarrow table", pa.table({"label": names, "count": numbers})
        yield "narwhals Series", nw.from_native(pd.Series(numbers, index=names), series_only=True)
        yield "narwhals frame", nw.from_native(pl.DataFrame({"label": names, "count": numbers}))


def forms_of_table(rows: list[str] | None, columns: list[str], values: list[list[Any]]) -> Iterator[tuple[str, Any]]:
    nw, pl = (pytest.importorskip(name) for name in ("narwhals", "polars"))
    down = list(range(len(values))) if rows is None else shuffled(values)
    across = shuffled(columns)
    entries = [[values[x][y] for y in across] for x in down]
    index, names = [(rows or list(map(str, down)))[x] for x in down], [columns[y] for y in across]
    yield "pandas frame", pd.DataFrame(entries, index=index, columns=names)
    yield "narwhals frame", nw.from_native(pd.DataFrame(entries, index=index, columns=names))
    yield "dict of dicts", {x: dict(zip(names, row, strict=True)) for x, row in zip(index, entries, strict=True)}
    yield "dict of Series", {x: pd.Series(row, index=names) for x, row in zip(index, entries, strict=True)}
    yield (
        "mapping by pairs",
        {(x, y): v for x, row in zip(index, entries, strict=True) for y, v in zip(names, row, strict=True)},
    )
    yield "polars frame", pl.DataFrame({"": index} | {y: [row[at] for row in entries] for at, y in enumerate(names)})


def forms(case: Case) -> Iterator[tuple[str, Any]]:
    if case.columns is None:
        assert case.rows is not None
        yield from forms_of_numbers(case.rows, case.values)
    else:
        yield from forms_of_table(case.rows, case.columns, case.values)


def ordered(case: Case) -> Any:
    """The numbers as a plain list, or (where positions mean nothing) in the order of the labels."""
    if case.plain and "rows" not in case.free:
        return case.values
    if case.columns is None:
        return dict(zip(case.rows or (), case.values, strict=True))
    return pd.DataFrame(case.values, index=case.rows, columns=case.columns)


EVERY = [pytest.param(case, id=f"{where}-{at}") for where, cases in CASES.items() for at, case in enumerate(cases)]


@pytest.mark.parametrize("case", EVERY)
def test_labels_are_used_whatever_their_order(case: Case) -> None:
    wanted = case.call(ordered(case))
    for form, given in forms(case):
        assert case.call(given) == wanted, form


@pytest.mark.parametrize("case", EVERY)
def test_a_missing_and_an_extra_label_are_named(case: Case) -> None:
    if case.columns is None:
        assert case.rows is not None
        given = pd.Series(case.values, index=case.rows)
        wrong = [] if "rows" in case.free else [(pd.concat([given, pd.Series([1], index=["zz"])]), "zz")]
        if not case.sparse and "rows" not in case.free:
            wrong.append((given.drop(case.rows[1]), case.rows[1]))
    else:
        frame = pd.DataFrame(case.values, index=case.rows, columns=case.columns)
        wrong = []
        if "columns" not in case.free:
            wrong += [(frame.drop(columns=case.columns[1]), case.columns[1]), (frame.assign(zz=1), "zz")]
        if "rows" not in case.free and case.rows is not None:
            wrong += [(frame.drop(index=case.rows[1]), case.rows[1])]
            wrong += [(pd.concat([frame, pd.DataFrame([frame.iloc[0].tolist()], ["zz"], case.columns)]), "zz")]
    for given, label in wrong:
        with pytest.raises(rr.InputError, match=label):
            case.call(given)


def test_the_reproductions() -> None:
    """The commonest idioms: counts of a column, answers that were counted, a cross-table."""
    respondents = pd.DataFrame({"sex": list("mmfmfmffmm"), "race": list("bwwwbwwwwa")})
    assert (
        rr.Prior.from_counts(respondents.race.value_counts()).probabilities
        == rr.Prior.from_counts(dict(respondents.race.value_counts())).probabilities
    )
    asked = rr.RandomizedResponse(["a", "b", "w"], epsilon=3.0).estimate(respondents.race.value_counts())
    assert asked.categories[int(asked.values.argmax())] == "w"
    cross = rr.robust.ChiSquareSet(pd.crosstab(respondents.sex, respondents.race))
    assert cross.pairs == rr.Pairs(["f", "m"], ["a", "b", "w"])


def test_a_counter_alone_may_leave_out_what_it_never_saw() -> None:
    seen = Counter({"a": 5, "c": 7})
    assert estimated(MECHANISM.estimate(seen)) == estimated(MECHANISM.estimate({"a": 5, "b": 0, "c": 7}))
    with pytest.raises(rr.InputError, match="'b' is missing"):
        MECHANISM.estimate(dict(seen))


@pytest.mark.parametrize("given", [{1, 2, 3}, frozenset("abc"), np.ones((2, 2)), "abc", b"abc", 7, None])
def test_what_has_neither_labels_nor_an_order_is_refused(given: object) -> None:
    for call in (rr.Prior.from_counts, MECHANISM.estimate, rr.Invariant):
        with pytest.raises(rr.InputError):
            call(given)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (None, "is missing (None)"),
        ("", "is missing ('')"),
        (math.nan, "is missing (nan)"),
        (True, "is not a label (True)"),
    ],
)
def test_a_label_that_is_missing_is_told_apart_from_what_is_no_label(label: object, said: str) -> None:
    with pytest.raises(rr.InputError, match=re.escape(f"label 2 {said}")):
        rr.Prior.uniform(["a", label])
