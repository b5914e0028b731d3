"""Wrong arguments: every public callable answers each of them or raises an error of rropt, and comes to an end.

`CALLS` has one right call of every public constructor, function and method; a public callable without one fails the
first test. The second one puts every kind of wrong value in the place of every argument, one at a time.
"""

from __future__ import annotations

import copy
import datetime
import functools
import inspect
import itertools
import math
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from documented import INTERNAL, callables, documented
from ending import DoesNotEndError, ending

import rropt as rr
from rropt.declare.objectives import WORDS
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.release.storage.places import create

pd = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
Figure = pytest.importorskip("matplotlib.figure").Figure

ABC = ["a", "b", "c"]
SECONDS = 20
"""What one call may take: far more than any needs."""
ROOM = 2 << 30
"""Bytes that a call may have beside what the process has. An interpreter whose memory has an end is no longer whole
there, so no right call comes near it."""
NOT_CALLED = [*INTERNAL, "of_optimum", "of_infeasibility"]


def knot() -> list[object]:
    """A list that holds itself."""
    made: list[object] = []
    made.append(made)
    return made


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


# Each is made anew for each call: iterators are used up.
WRONG: dict[str, Callable[[], object]] = {
    "nothing": lambda: None,
    "true": lambda: True,
    "zero": lambda: 0,
    "a negative integer": lambda: -1,
    "an integer of 400 digits": lambda: 10**400,
    "an integer of 5,000 digits": lambda: 10**5000,
    "half": lambda: 0.5,
    "a large float": lambda: 1e308,
    "not a number": lambda: math.nan,
    "infinity": lambda: math.inf,
    "the smallest float": lambda: 5e-324,
    "a negative fraction": lambda: Fraction(-1, 3),
    "a complex number": lambda: 1j,
    "a signalling decimal": lambda: Decimal("sNaN"),
    "a decimal of a million digits": lambda: Decimal("1e999999"),
    "a fraction of 400 digits": lambda: Fraction(10**400, 3),
    "a small integer of numpy": lambda: np.int8(1),
    "a truth value of numpy": lambda: np.bool_(True),
    "no time": lambda: np.datetime64("NaT"),
    "an empty string": lambda: "",
    "a word": lambda: "nonsense",
    "control characters": lambda: "a\nb\0",
    "a long text": lambda: "x" * 2000,
    "5,000 digits": lambda: "9" * 5000,
    "a number beyond floats": lambda: "1e400",
    "a ratio over zero": lambda: "1/0",
    "half a surrogate": lambda: "\ud800",
    "bytes": lambda: b"\xff",
    "a folder": lambda: Path(),
    "no file": lambda: "no/such",
    "an empty list": list,
    "an empty table": dict,
    "a set": lambda: {1, 2},
    "a list of an empty list": lambda: [[]],
    "a list of nothing": lambda: [None],
    "a ragged list": lambda: [1, [2]],
    "one label twice": lambda: ["a", "a"],
    "a list that holds itself": knot,
    "a list in a list, 2,000 deep": lambda: functools.reduce(lambda inner, _: [inner], range(2000), []),
    "a list of 400 digits": lambda: [10**400, 1],
    "a list of several types": lambda: [1, "a", None],
    "a matrix": lambda: [[0.5, 0.5], [0.5, 0.5]],
    "words for numbers": lambda: {"a": "x", "b": None},
    "a key of odd kind": lambda: {(1, None): object},
    "an array without axes": lambda: np.array(5),
    "an array of three axes": lambda: np.zeros((2, 2, 2)),
    "an array of objects": lambda: np.array([object(), None], dtype=object),
    "an object": object,
    "an object without a text": Mute,
    "a class": lambda: int,
    "a class of this package": lambda: rr.LDP,
    "a function": lambda: lambda *_: None,
    "a date": lambda: datetime.date(2020, 1, 1),
    "a Series of words": lambda: pd.Series(["x"], index=["a"]),
    "an empty frame": pd.DataFrame,
    "a frame of two levels": lambda: pd.DataFrame(
        [[1, 2], [3, 4]], columns=pd.MultiIndex.from_product([["a"], ["b", "c"]])
    ),
    "a used iterator": lambda: iter([]),
    "an iterator without an end": itertools.count,
    "a range of a billion": lambda: range(10**9),
    "an empty graph": nx.Graph,
}


@cache
def right() -> dict[str, Any]:
    """Right values of many kinds."""
    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
    pairs = rr.Pairs(["s", "t"], ["u", "v"])
    joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=pairs)
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=ABC)
    mechanism = rr.Mechanism.from_matrix(
        [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]], inputs=ABC, outputs=ABC
    )
    table = rr.disclosure.QuasiIdentifierTable.of([[3, 1], [1, 2]], {"sex": ["f", "m"], "age": ["x", "y"]})
    return {
        "prior": prior,
        "pairs": pairs,
        "joint": joint,
        "problem": problem,
        "solution": problem.solve(),
        "mechanism": mechanism,
        "set": rr.robust.ChiSquareSet(joint),
        "table": table,
        "population": rr.disclosure.fit_population(table, 0.1),
        "paired": rr.Mechanism.from_matrix(np.full((4, 2), 0.5), inputs=pairs.labels, outputs=["0", "1"]),
    }


Calls = dict[str, tuple[Callable[..., object], dict[str, Any]]]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Calls:
    """A right call of everything that is public: (callable, arguments)."""
    folder = tmp_path_factory.mktemp("calls")
    r = right()
    mechanism, prior, found = r["mechanism"], r["prior"], r["solution"]
    respondents = folder / "people.csv"
    respondents.write_text("id,ans\n" + "".join(f"{at},{ABC[at % 3]}\n" for at in range(30)), encoding="utf-8")
    mechanism.save(folder / "mechanism.json")
    found.certificate.save(folder / "certificate.json")
    found.save(folder / "solution.json")
    (folder / "problem.toml").write_text(rr.problem_file.problem_to_toml(r["problem"]), encoding="utf-8")
    column = rr.release.ProtectedColumn("ans", mechanism)
    release = rr.release.Release(column)
    product = rr.mechanisms.ProductMechanism([mechanism, mechanism], names=["first", "second"])
    level = {"epsilon": 1, "gamma": None}
    polytope = rr.robust.Polytope([[1, 0, 0, -1]], [1], pairs=r["pairs"], center=r["joint"])
    made: Calls = {}

    def add(where: str, /, **arguments: Any) -> None:
        first, *rest = where.split(".")
        target: Any = documented()[first]
        for name in rest:
            target = getattr(target, name)
        made[where] = target, arguments

    drawing = {"ax": Figure().subplots()}

    def add_methods(one: object, /, **methods: dict[str, Any]) -> None:
        for name, arguments in methods.items():
            made[f"{type(one).__name__}.{name}"] = getattr(one, name), arguments

    add("Prior", labels=("a", "b"), weights=(1, 2), declared="counts", pairs=None, source=None)
    add("Prior.from_counts", counts=[1, 2], labels=["a", "b"], pairs=None)
    add("Prior.from_probabilities", probabilities=[0.5, 0.5], labels=["a", "b"], pairs=None)
    add("Prior.uniform", categories=3)
    add("Prior.from_csv", path=respondents, pairs=None, column="ans", delimiter=None, null=None)
    add("Pairs", sensitive=2, other=["u", "v"])
    add_methods(r["pairs"], block={"s": 0}, flattened={"table": [[1, 2], [3, 4]], "what": "counts"})
    add("ChiSquareSet", counts=r["joint"], alpha=0.05)
    bounds = {
        "lower": {"s": 0, "u": 1},
        "upper": {"s": 0, "u": 1},
        "mean": {"s": 0, "values": [Fraction(1), Fraction(2)]},
        "subset": {"s": 0, "members": [0]},
        "radius": {"s": 0, "paper": False},
        "distance": {"paper": False},
        "contains": {"distribution": r["joint"]},
    }
    for one in (r["set"], rr.robust.KnownDistribution(r["joint"]), rr.robust.EveryDistribution(r["pairs"]), polytope):
        add_methods(one, **bounds)
    add_methods(
        r["set"],
        cell={"x": 0},
        cuts={"number": 2},
        contains={"distribution": r["joint"], "surely": False},
        support={"direction": [1, 2, 3, 4]},
        support_bound={"direction": [Fraction(n) for n in (1, 2, 3, 4)]},
    )
    add("KnownDistribution", prior=r["joint"])
    add("EveryDistribution", of=r["pairs"])
    add("Polytope", D=[[1, 0, 0, -1]], d=[1], E=(), e=(), pairs=r["pairs"], center=r["joint"])
    add_methods(polytope, completed={"known": {}}, corners={"s": 0}, corner_pairs={"s": 0, "z": 1})
    add("Joint", of=r["set"])
    # objectives
    add("MutualInformation", prior=prior, units="nats", given=None, worst_case=None, secret=None)
    add("Trace", prior=prior)
    for name in ("ExpectedLoss", "ExpectedGain"):
        add(name, prior=prior, matrix=np.eye(3), actions=["x", "y", "z"])
    add("BayesSuccess", prior=prior, gain=np.eye(3), actions=["x", "y", "z"], secret=None)
    add("MinimaxRisk", prior=prior, queries=[[1, 0, 0]])
    add("MinimaxLoss", priors=[prior, rr.Prior.uniform(prior.labels)], matrix=np.eye(3), actions=["x", "y", "z"])
    for name in ("HockeyStick", "TotalVariation"):
        add(name, first="a", second=prior, **({"gamma": 2} if name == "HockeyStick" else {}))
    for kind in WORDS.values():
        if kind.__name__ not in {*made, "Sum"}:  # which + and * make
            example = kind.examples(prior)[""]
            add(kind.__name__, **{name: getattr(example, name) for name in inspect.signature(kind).parameters})
    add("Maximize", objective=rr.Trace())
    add("Minimize", objective=rr.MinimaxRisk(prior))
    # constraints
    add("UtilityOptimisedLDP", epsilon=1, gamma=None, sensitive=["a"])
    add_methods(rr.privacy.UtilityOptimisedLDP(1, sensitive=["a"]), split={"mechanism": mechanism})
    add("LDP", epsilon=1, gamma=None, criterion=None, properties=None, population=None)
    add("ApproximateLDP", epsilon=1, delta=0.1, gamma=None)
    add("MaximalLeakage", epsilon=1, gamma=None, prior=None, secret=None)
    add("PointwiseMaximalLeakage", prior=r["prior"], epsilon=1, gamma=None, secret=None)
    add("PointwiseMaximalLeakage.from_keys", epsilon=1, gamma=None, counts=None, prior=r["prior"], secret=None)
    add("RenyiLDP", order=2, epsilon=1)
    add("ZeroConcentratedLDP", rho=1)
    add("response_on_bins", prior=r["prior"], loss=[[0, 1], [1, 0], [2, 1]], outputs=["u", "v"], epsilon=1, gamma=None)
    add("MetricDP", graph=[("a", "b"), ("b", "c")], epsilon=1, connected=True)
    add("MetricDP.from_keys", epsilon=1, distances=None, graph=[["a", "b"]], directed=False, connected=True)
    add("MaximalRLDP", epsilon=1, groups=["s", "t", "s"], gamma=None)
    add("RLDP", epsilon=1, confidence=r["set"], form="polytope", gamma=None)
    add(
        "RLDP.from_keys",
        epsilon=1,
        gamma=None,
        alpha=0.05,
        form="polytope",
        confidence="counts",
        counts=[[3, 4], [5, 6]],
        sensitive=["s", "t"],
        other=["u", "v"],
        sees="pairs",
        D=None,
        d=None,
        E=(),
        e=(),
        prior=None,
    )
    for name in ("Bistochastic", "Circulant", "Symmetric", "Tridiagonal", "UniformOffDiagonal"):
        add(name)
    add("Blocks", blocks=[["a", "b"], ["c"]])
    add_methods(rr.patterns.Blocks([["a", "b"], ["c"]]), members={"inputs": tuple(ABC)})
    add("PermutationMixture", permutations=["identity", ABC], weights=None, max_terms=3)
    mixed = rr.Mechanism.from_rationals([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"], outputs=["a", "b"])
    add_methods(rr.patterns.PermutationMixture(["identity", ["b", "a"]]), decompose={"mechanism": mixed})
    add("EntropyRate", at_least=0.5)
    add("SharedEntropyRate", at_least=0.5, blocks=[["a", "b"], ["c"]])
    add("Forbidden", cells=[("a", "b")])
    add("IdentificationRisk", counts=[5, 3, 2], at_most=0.5, categories=["0"], blocks=None)
    add("IdentificationRisk.from_keys", at_most=0.5, counts=[5, 3], categories=None, blocks=None, prior=None)
    add("Invariant", counts=[1, 2, 3])
    add("Invariant.from_keys", counts=[1, 2, 3], prior=None)
    for name in ("AtMost", "AtLeast"):
        add(name, objective=rr.Trace(), number=0.5)
        own = {"prior": r["prior"], "counts": None, "sensitive": None, "other": None}
        add(f"{name}.from_keys", objective="trace", number=0.5, **own)
    add("Floor", diagonal=0.1)
    add("LinearConstraint", coefficients=np.eye(3), sense="<=", rhs=1, name="own")
    add("ConeConstraint", matrix=np.eye(3))
    # criteria
    for name in ("Level", "Level.or_secrecy"):
        add(name, epsilon=Fraction(1), gamma=None)
    for name in ("BetaFactor", "BayesFactor", "PreciseBoundary"):
        add(name, **{"beta" if name == "BetaFactor" else "gamma": 3})
    add("CanonicalSIP", upper="2*p/(1+p)")
    for name in ("BetaFactor", "BayesFactor", "CanonicalSIP"):
        add(f"{name}.guaranteed", gamma=3)
    add("StrictInformationPrivacy", lower="p/2", upper="2*p/(1+p)")
    add("RhoToRho", rho1=0.2, rho2=0.5)
    add("RhoToRho.guaranteed", gamma=3, rho1=0.2, rho2=None)
    add_methods(
        rr.privacy.PreciseBoundary(3),
        upper={"prior": 0.5},
        lower={"prior": 0.5},
        breached={"prior": 0.5, "posterior": 0.6},
    )
    # mechanisms
    plain = rr.Mechanism.from_rationals([[1], [1]])
    add(
        "Mechanism",
        input_labels=("a", "b"),
        outputs=("x",),
        columns=plain.columns,
        denominators=plain.denominators,
    )
    for name in ("from_matrix", "from_column_stochastic"):
        add(f"Mechanism.{name}", matrix=np.eye(2), inputs=["a", "b"], outputs=["x", "y"], denominator=None)
    add("Mechanism.from_rationals", rows=[["1/2", "1/2"], [1, 0]], inputs=["a", "b"], outputs=["x", "y"])
    add("Mechanism.load", path=folder / "mechanism.json")
    add("Mechanism.parse", text=mechanism.to_json(), where="mechanism")
    drawn = {
        "sample": {"codes": [0, 1, 2], "source": None},
        "randomize": {"labels": ABC, "source": None},
        "mutual_information": {"prior": prior, "units": "nats"},
        "estimate": {"counts": [5, 6, 7], "method": "unbiased", "prior": None},
    }
    add_methods(
        mechanism,
        **drawn,
        column={"y": 0},
        entry={"x": 0, "y": 0},
        extremes={"y": 0},
        kron={"other": mechanism},
        payload={},
        to_json={},
        relabelled={"outputs": ("x", "y", "z")},
        save={"path": folder / "out.json"},
        to_csv={"path": folder / "out.csv", "quote_formulas": False},
        to_column_stochastic={},
        to_frame={},
        plot=drawing,
    )
    add_methods(rr.RandomizedResponse(ABC, epsilon=1), **drawn, to_mechanism={})
    for name in (
        "RandomizedResponse",
        "HadamardResponse",
        "UnaryEncoding",
        "Rappor",
        "SubsetSelection",
        "LocalHashing",
    ):
        own = {"UnaryEncoding": {"kind": "symmetric", "present": None, "absent": None}, "Rappor": {"trimmed": False}}
        own |= {"SubsetSelection": {"t": 1}, "LocalHashing": {"buckets": 3}}
        add(name, categories=3, **level, **own.get(name, {}))
    hadamard, subsets, hashing = (
        rr.mechanisms.HadamardResponse(ABC, epsilon=1),
        rr.mechanisms.SubsetSelection(ABC, epsilon=1),
        rr.mechanisms.LocalHashing(ABC, epsilon=1),
    )
    add_methods(
        hadamard,
        **(drawn | {"estimate": {"counts": [5, 6, 7, 8], "method": "unbiased", "prior": None}}),
        to_mechanism={},
        covariance={"frequencies": np.full(3, 1 / 3)},
    )
    reports = hashing.sample([0, 1, 2])
    add_methods(
        hashing,
        **(drawn | {"estimate": {"counts": reports, "method": "unbiased", "prior": None}}),
        to_mechanism={},
        covariance={"frequencies": np.full(3, 1 / 3)},
    )
    add("SubsetMixture", labels=("a", "b"), ratio=Fraction(3), weights=(Fraction(0), Fraction(1), Fraction(0)))
    packed = subsets.sample([0, 1, 2])
    for name, arguments in (
        drawn
        | {
            "estimate": {"counts": packed, "method": "unbiased", "prior": None},
            "count": {"reports": packed},
            "covariance": {"frequencies": np.full(3, 1 / 3)},
            "inside": {"t": 1},
            "low": {"t": 1},
            "minimax_risk": {},
            "to_mechanism": {},
        }
    ).items():
        made[f"SubsetMixture.{name}"] = getattr(subsets, name), arguments
    add("ProductMechanism", items=[mechanism], names=["first"])
    add("ProductMechanism.of", items={"first": mechanism})
    add_methods(
        product,
        item_privacy_ratio={"item": "first"},
        posterior={"priors": [prior, prior], "reports": ["a", "b"]},
        sample={"codes": [[0, 1], [1, 2]]},
        estimate={"reports": [[0, 1], [1, 2]], "item": "first", "method": "unbiased"},
        estimate_pair={"reports": [[0, 1], [1, 2]], "first": "first", "second": "second", "method": "unbiased"},
    )
    protocols = {"calibration": "exact", "sub": "krr"}
    add("SecretRandomizedResponse", pairs=r["pairs"], **level)
    parts = {"epsilon_1": None, "epsilon_2": None}
    add("ConditionalReporting", confidence=r["set"], **level, **protocols, **parts)
    numbers = {"kappa": None, "lambda_": None, **parts}
    add("UnaryConditionalReporting", confidence=r["set"], **level, **protocols, **numbers)
    add("IndependentReporting", confidence=r["set"], **level, **protocols, sub_sensitive="krr")
    add_methods(rr.robust.SecretRandomizedResponse(r["pairs"], epsilon=1), formula={})
    for name in ("ConditionalReporting", "UnaryConditionalReporting", "IndependentReporting"):
        add_methods(getattr(rr.robust, name)(r["set"], epsilon=1), formula={})
    add("warner", truth=0.8, categories=("yes", "no"))
    add("unrelated_question", sensitive=0.7, yes=0.5, categories=("yes", "no"))
    add("forced_response", truth=0.7, yes=0.5, categories=("yes", "no"))
    add("crosswise", share=0.3, categories=("yes", "no"))
    add("triangular", share=0.3, categories=("yes", "no"))
    add("chance_device", mechanism=rr.mechanisms.warner(0.75))
    add_methods(rr.mechanisms.chance_device(rr.mechanisms.warner(0.75)), answer={"number": 1, "truth": "yes"})
    samples = {"counts": ((3, 4), (5, 6)), "sensitive": (0.7, 0.3)}
    add("estimate_two_samples", **samples)
    two = rr.estimation.estimate_two_samples(**samples)
    add_methods(two, intervals={"level": 0.95}, plot={"level": 0.95, "ax": None})
    add("generalization", groups={"x": ["a", "b"], "y": ["c"]})
    add("design_precision", channel=mechanism, records=100, error=0.01, frequencies=prior)
    add_methods(rr.estimation.design_precision(mechanism, 100), to_dict={})
    add("plan_survey", design=mechanism, half_width=0.05, frequencies=prior, level=0.95)
    add("plan_two_samples", sensitive=[0.7, 0.3], share=0.1, innocuous=0.25, half_width=0.05, level=0.95)
    add_methods(rr.estimation.plan_survey(mechanism, 0.05), to_dict={})
    add("sample_size", channel=mechanism, half_width=0.1, level=0.95, frequencies=prior, simultaneous=False)
    # problems
    add(
        "Problem",
        goal=rr.Maximize(rr.Trace()),
        constraints=[rr.LDP(1)],
        inputs=ABC,
        outputs=None,
        name="own",
        options=None,
    )
    solver = {"solver": None, "solver_options": {}, "threads": None}
    add("SolveOptions", method="auto", gap=1e-6, time_limit=None, workers=2, absolute_gap=0, **solver)
    limits = ("method", "gap", "time_limit", "absolute_gap", *solver)
    options = dict.fromkeys((*limits, "workers"))
    add_methods(
        r["problem"],
        compile={},
        extreme_rays={},
        methods={"solver": None},
        save={"path": folder / "own.toml"},
        vertices={"by": "exact"},
        to_cvxpy={},
        to_dict={},
        to_highs={},
        warnings={},
        write={"path": folder / "model.mps"},
        solve=options | {"verbose": False},
        with_constraints={"constraints": [rr.Floor("0.1")]},
        with_options=options,
    )
    add("Problem.load", path=r["problem"].save(folder / "saved.toml"))
    add("Solution.load", path=folder / "solution.json", problem=r["problem"])
    add_methods(found, save={"path": folder / "again.json"}, sensitivity={}, to_dict={}, plot=drawing)
    two = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"]).solve()
    add_methods(two, plot_plane=drawing)
    add("Certificate", document=dict(found.certificate.document))
    add("Certificate.load", path=folder / "certificate.json")
    add("Certificate.parse", text=found.certificate.to_json(), where="certificate")
    add_methods(
        found.certificate,
        save={"path": folder / "again.json"},
        to_json={},
        differences={"program": r["problem"].compile()},
        mechanism={"where": "certificate"},
    )
    add_methods(found.verdict, report={})
    add("load_problem", path=folder / "problem.toml", prior=None)
    add("read_problem", path=folder / "problem.toml", prior=None)
    add("parse_problem", text=(folder / "problem.toml").read_text(encoding="utf-8"), source="problem", given=None)
    add("problem_to_toml", problem=r["problem"])
    # comparing
    for name in ("dominates", "equivalent", "deficiency"):
        add(name, a=mechanism, b=mechanism)
    for name in ("less_noisy", "more_capable"):
        add(name, a=mechanism, b=mechanism, pieces=50)
    for name in ("admissible", "improve"):
        add(name, mechanism=mechanism, **level)
    add("attained_region", channel=mechanism)
    add("merge_proportional", channel=mechanism)
    add("birkhoff", mechanism=mechanism, method="bottleneck", denominator=None, time_limit=1)
    add("delta_of", mechanism=mechanism, epsilon=1)
    add("composed_delta", mechanisms=[mechanism, mechanism], epsilon=1)
    add("shuffled_delta", mechanism=mechanism, respondents=10, epsilon=1)
    people = [{"age": at % 2, "ill": at} for at in range(4)]
    add("anatomise", records=people, keys=["age"], k=2, time_limit=5)
    split = {"records": tuple(people), "keys": ("age",), "k": 2, "classes": ((0, 2), (1, 3)), "value": 0, "bound": 0}
    add("Anatomy", **split)
    add_methods(rr.ordering.Anatomy(**split), combination={"record": 1}, keeps={"record": 1}, tables={})
    add("shuffled_epsilon", mechanism=mechanism, respondents=10, delta="1e-3")
    add("renyi_divergence", mechanism=mechanism, order=2)
    add(
        "audit",
        matrix=mechanism.matrix,
        problem=None,
        epsilon=2,
        prior=prior,
        orientation=None,
        renormalise=False,
        delimiter=None,
        time_limit=1,
    )
    claim = folder / "claims" / "claim.toml"
    claim.parent.mkdir()
    text = rr.problem_file.problem_to_toml(r["problem"])
    (claim.parent / "problem.toml").write_text(text, encoding="utf-8")
    stated = 'schema = 1\nproblem = "problem.toml"\nclaimed = "bound"\nvalue = "2"\n'
    claim.write_text(stated, encoding="utf-8")
    add("read_claim", path=claim)
    add("least_epsilon", problem=r["problem"], target=rr.AtLeast(rr.Trace(), "1.5"), tolerance="0.5")
    add("frontier", problem=r["problem"], first=rr.Maximize(rr.Trace()), second=rr.Maximize(rr.Trace()), points=1)
    add("own_claims", path=claim.parent)
    add(
        "verify_claim",
        problem=r["problem"],
        matrix=mechanism,
        claimed="optimal",
        value="1.5",
        orientation=None,
        time_limit=1,
    )
    add("detectable_epsilon", epsilon=1, trials=1000, inputs=3, confidence=0.9, delta=0)
    add(
        "audit_sampler",
        sampler=mechanism.randomize,
        epsilon=2,
        confidence=0.9,
        inputs=list(mechanism.inputs),
        trials=100,
        delta="0.1",
    )
    audited = rr.audit(mechanism.matrix, epsilon=2, time_limit=1)
    add_methods(audited, to_dict={})
    add("identifying", mechanism=mechanism, with_=None, share=0.1, risk=None, prior=prior)
    # robustness and strategies
    add("robust_level", mechanism=r["paired"], confidence=r["set"])
    add("robust_audit", mechanism=r["paired"], confidence=r["set"])
    add_methods(rr.robust.robust_audit(r["paired"], r["set"]), holds={"epsilon": 1})
    add("worst_information", mechanism=r["paired"], confidence=r["set"], gap=1e-2, boxes=5, time_limit=1)
    add("minimax_strategy", constraints=[rr.LDP(1)], categories=ABC, gap=1e-3, rounds=1, time_limit=2)
    # estimating and disclosure
    estimate = mechanism.estimate([5, 6, 7])
    add_methods(
        estimate,
        intervals={"level": 0.95, "kind": "wilson", "simultaneous": False},
        sums={"groups": {"x": ["a", "b"]}},
        to_dict={"level": 0.95, "kind": "wilson"},
        within={"values": estimate.values, "method": "projected"},
        plot={"truth": None, "level": 0.95, **drawing},
    )
    add(
        "QuasiIdentifierTable.of",
        counts=[[3, 1], [1, 2]],
        categories={"sex": ["f", "m"], "age": ["x", "y"]},
        possible=None,
    )
    add("QuasiIdentifierTable.from_csv", path=respondents, columns=["ans"], delimiter=None, null=None)
    add_methods(r["table"], labels_of={"cells": np.array([0, 1])})
    add("fit_population", table=r["table"], fraction=0.1, margins="independence", family="poisson")
    # releases
    add("CrossClassification", columns={"x": ["a", "b"], "y": ["c", "d"]}, impossible=[{"x": "a", "y": "c"}])
    add_methods(rr.release.CrossClassification({"x": ["a", "b"], "y": ["c", "d"]}), counts={"table": [[1, 2], [3, 4]]})
    add("ProtectedColumn", columns="ans", mechanism=mechanism, by=(), null=None, other=None, name=None, where=())
    add("Release", columns=column, drop=(), learned=())
    add_methods(release, public={"column": column})
    reports = folder / "reports.csv"  # not the data of a release, from which nothing is estimated
    lines = (f"{at},{ABC[at % 3]},{at % 2}\n" for at in range(60))
    reports.write_text("id,ans,two\n" + "".join(lines), encoding="utf-8")
    add("counts_of", file=reports, column="ans", mechanism=mechanism, where=None, delimiter=None)
    add("table_of", file=reports, columns={"ans": mechanism}, where=None, delimiter=None)
    add("estimate_file", file=reports, columns={"ans": mechanism}, method="unbiased", where=None, delimiter=None)
    score = {"method": "unbiased", "prior": None}
    more = {"separator": "=", "delimiter": None, "force": True, "monitor": None}
    add("score_file", file=reports, columns={"ans": mechanism}, output=folder / "scores.csv", **score, **more)
    tabled = {"weights": None, "where": None, "null": "none", "method": "unbiased", "delimiter": None}
    add("estimate_table", file=reports, columns={"ans": mechanism}, table=("ans", "two"), **tabled)
    add("estimate_shares", file=reports, columns={"ans": mechanism}, column="ans", by="two", **tabled)
    crossed = rr.release.estimate_table(reports, {"ans": mechanism}, ("ans", "two"))
    add_methods(
        crossed,
        intervals={"level": 0.95},
        independence={},
        odds_ratio={"rows": ("a", "b"), "columns": ("0", "1"), "level": 0.95},
        cramers_v={"level": 0.95},
        to_dict={"level": 0.95},
    )
    tabled.pop("null")
    add("estimate_means", file=reports, columns={"ans": mechanism}, column="ans", of="two", **tabled)
    means = rr.release.estimate_means(reports, {"ans": mechanism}, "ans", "two")
    add_methods(means, intervals={"level": 0.95}, to_dict={"level": 0.95})
    shares = rr.release.estimate_shares(reports, {"ans": mechanism}, "ans")
    for one in (means, shares, crossed):
        add_methods(one, plot={"level": 0.95, "ax": None})
    add_methods(shares, intervals={"level": 0.95}, to_dict={"level": 0.95})
    asked: dict[str, Any] = {"response": "two", "covariates": ["ans"], "event": None, "model": "linear", **tabled}
    add("estimate_regression", file=reports, columns={"ans": mechanism}, **asked)
    fit = rr.release.estimate_regression(reports, {"ans": mechanism}, "two", ["ans"])
    add_methods(fit, intervals={"level": 0.95}, to_dict={"level": 0.95}, plot={"level": 0.95, "ax": None})
    rules = {"D": 1, "V": "1/2", "js": 0, "monotone": True}
    add("CellKey", **rules)
    add_methods(rr.CellKey(**rules), problem={}, solve={"gap": "1e-6", "time_limit": None}, support={"count": 1})
    noise = rr.CellKey(**rules).solve()
    add("PerturbationTable", rows=noise.rows, rules=noise.rules, solution=None)
    add_methods(noise, row={"count": 1}, mean={"count": 1}, variance={"count": 1}, entropy={"count": 1}, to_dict={})
    add_methods(noise, perturb={"counts": [1, 2], "keys": np.zeros(2, dtype=np.uint64)})
    add_methods(noise, save={"path": folder / "ptable.csv", "form": "SAS"})
    add("load_perturbation_table", path=noise.save(folder / "noise.csv"))
    keyed = {"identity": None, "key": None, "record_key": "key", "totals": True, "null": None, "delimiter": None}
    people = pd.DataFrame({"region": ABC * 3, "key": [0.25] * 9})
    add("count_with_noise", data=people, table=noise, by=["region"], **keyed)
    noisy = rr.release.count_with_noise(people, noise, ["region"], record_key="key")
    add("NoisyCounts", by=noisy.by, cells=noisy.cells, counts=noisy.counts)
    add_methods(noisy, count={"values": {"region": "a"}}, to_dict={}, save={"path": folder / "c.csv", "total": "all"})
    add(
        "release_table",
        table=pd.DataFrame({"ans": ABC}),
        release=release,
        source=None,
        force=False,
        unidentified=False,
        warn=None,
    )
    create(folder / "kept", Fraction(10_000), "person", None)
    planned: dict[str, Any] = {"identity": "id", "accountant": folder / "kept", "population": "others"}
    add(
        "plan_release",
        schema=pyarrow.schema([("id", pyarrow.int64()), ("ans", pyarrow.string())]),
        release=release,
        output="elsewhere",
        force=True,
        unidentified=False,
        **planned,
    )
    learned = rr.release.RandomizedColumn(mechanism).fit([["a"], ["b"]])
    add("RandomizedColumn", mechanism=mechanism, problem=None)
    add_methods(
        learned,
        fit={"X": [["a"], ["b"]], "y": None},
        transform={"X": [["a"], ["b"]]},
        estimate={"X": [["a"], ["b"]], "method": "unbiased"},
        get_feature_names_out={"input_features": None},
    )
    encoder = rr.release.RandomizedEncoder(columns=[0], categories={0: ABC}).fit([["a"], ["b"]])
    add("RandomizedEncoder", epsilon=1, columns=[0], categories={0: ABC})
    add_methods(
        encoder,
        fit={"X": [["a"], ["b"]], "y": None},
        transform={"X": [["a"], ["b"]]},
        get_feature_names_out={"input_features": None},
    )
    # what the documentation imports from rooms
    add("weight_range", mechanism=mixed, permutation=["b", "a"], denominator=None)
    add("majorisation", before=[7, 2, 1], after=[4, 4, 2])
    add("entropy_change", mechanism=mechanism, prior=prior)
    add("reverse_map", original=[3, 1, 2], anonymised=[1, 2, 3], order=None)
    add("inversion", mechanism=mechanism)
    add("anatomy", blocks=[["a", "b"], ["c"]], categories=ABC, repeated=False)
    add("beta", mechanism=mixed)
    add("microaggregate", values=[1, 5, 2], least=2)
    add("averaged", mechanism=mixed, values=[1, 2])
    add("scores", mechanism=mechanism, answers=ABC, method="unbiased", prior=None)
    add("estimated_information", counts=[[9, 2], [3, 7]], level=0.95)
    add("variance_split", mechanism=mechanism, prior=prior)
    add("projected_risk", mechanism=mechanism, prior=prior, respondents=5, method="nearest", draws=10, seed=1)
    add("psi", count=2, theta="1/2")
    add("closed_theta", count=2, at_most="0.1")
    add("special_uniques", data={"x": ABC, "y": ["d", "d", "e"]}, keys=["x", "y"], most=2)
    add("ladder", counts=[1, 5, 7], at_most="0.15", category=0)
    records = {"x": ["a", "b", "a"], "y": ["c", "d", "d"]}
    add("pairwise_information", columns=records)
    add("clusters_of", information={("x", "y"): 0.5}, sizes={"x": 2, "y": 2}, at_least=0.1, largest=64)
    pair = rr.Prior.from_counts({"f": 1, "m": 2})
    add("Attribute", name="x", prior=pair, members=["x"], parts=[["f"], ["m"]], weights=[1])
    several = documented()["MultiRelease"]
    add("MultiRelease", attributes=[documented()["Attribute"]("x", pair)], at_least=0.5)
    add(
        "MultiRelease.from_columns",
        columns=records,
        at_least=0.5,
        clusters=[["x"], ["y"]],
        dependence=0.1,
        largest=64,
    )
    add_methods(several.from_columns(records, 0.5), problem={}, solve={"gap": None, "time_limit": 1})
    add_methods(several.from_columns(records, 0.5).solve(), randomize={"columns": records, "force": True})
    # whole studies, as small as they can be
    known = r["set"]
    for one in (known, polytope, rr.robust.KnownDistribution(r["joint"]), rr.robust.EveryDistribution(r["pairs"])):
        add_methods(one, lower_bounds={})
    for protocol in (
        rr.robust.SecretRandomizedResponse(r["pairs"], epsilon=1),
        *(
            getattr(rr.robust, name)(known, epsilon=1)
            for name in ("ConditionalReporting", "UnaryConditionalReporting", "IndependentReporting")
        ),
    ):
        add_methods(protocol, to_mechanism={}, utility={"prior": r["joint"]})
    rough = {"gap": 0.1, "rounds": 1, "time_limit": 2}
    add("maximin_information", confidence=known, constraints=[rr.LDP(1)], boxes=3, **rough)
    add("correlated_optimum", joint=rr.robust.Joint(known), prior=None, **level, **rough)
    add(
        "optimal_reporting",
        family=rr.robust.ConditionalReporting,
        confidence=known,
        points=3,
        steps=1,
        gap=0.1,
        **level,
    )
    add(
        "calibrate",
        population=r["population"],
        at_most=0.11,
        column="sex",
        family=None,
        measure="tau2",
        intruder="best",
        low=0.1,
        high=5,
        steps=2,
        tolerance=0.1,
    )
    add(
        "solve_many",
        problems=[r["problem"]],
        workers=1,
        **dict.fromkeys(("method", "gap", "time_limit", "absolute_gap", "solver", "threads")),
        solver_options={},
    )
    small = {"methods": ["linear"], "solvers": None, "gap": None, "time_limit": 2}
    add("compare", problem=r["problem"], repeats=1, **small)
    tables = {name: {} for name in ("to_list", "to_frame", "to_csv", "to_markdown", "to_latex", "profile")}
    add_methods(
        rr.compare(r["problem"], methods=["linear"]), **tables, save={"path": folder / "compared.csv"}, plot=drawing
    )
    swept = {"given": r["problem"], "over": {"epsilon": [1, 2]}, "out": None, "workers": 1, "scheduler": None}
    swept |= {"keep": None, "method": None, "gap": None, "time_limit": 2, "solver": None}
    add("sweep", **swept)
    add_methods(
        rr.sweep(**swept),
        column={"name": "value"},
        save={"path": folder / "swept.csv"},
        to_frame={},
        plot={"columns": ["value"], **drawing},
    )
    add("write_report", source=found, out=folder / "report.html")
    drawn_file = {
        "data": respondents,
        "release": column,
        "output": folder / "out.csv",
        "accountant": None,
        "population": None,
    }
    add(
        "release_file",
        **drawn_file,
        force=True,
        delimiter=None,
        quote_formulas=True,
        identity=None,
        key=None,
        unidentified=False,
    )
    unforced = {"force": True, "delimiter": None, "identity": None, "key": None, "unidentified": False}
    add("preview_file", **(drawn_file | {"output": folder / "preview.csv"}), **unforced)
    add(
        "protect",
        data=pd.DataFrame({"ans": ABC, "two": ["x", "y", "x"]}),
        columns="ans",
        epsilon=1,
        categories={"ans": ABC},
        impossible=(),
        categories_from_data=False,
        by=(),
        joint=(),
        separate=False,
        where=(),
        drop=(),
        errors=None,
        null=None,
        public_counts=None,
        public_epsilon=None,
        output=None,
        designs=None,
        dry_run=True,
        accountant=None,
        population=None,
        monitor=None,
        warn=None,
        **{name: one for name, one in unforced.items() if name != "unidentified"},
    )
    add("Pram", pd="0.8", alpha="0.5", invariant=True, forbidden=[("a", "b")])
    add_methods(rr.Pram(), problem={"counts": prior}, strata={"counts": {"f": prior}, "time_limit": 5})
    released = rr.release.release_file(respondents, column, folder / "described.csv", force=True)
    add("describe_release", file=released.output, designs=None)
    add("draft_registry_entry", file=released.output, model="Local")
    (folder / "parts").mkdir()
    pd.DataFrame({"ans": ABC}).to_parquet(folder / "parts" / "one.parquet")
    add(
        "release_folder",
        **(drawn_file | {"data": folder / "parts", "output": folder / "drawn"}),
        workers=1,
        scheduler=None,
        identity=None,
        key=None,
        unidentified=False,
    )
    (folder / "plan").mkdir()
    mechanism.save(folder / "plan" / "mechanism.json")
    (folder / "plan.toml").write_text(
        'schema = 1\ndata = "people.csv"\n[[column]]\nname = "ans"\nmechanism = "plan/mechanism.json"\n',
        encoding="utf-8",
    )
    add("load_release", path=folder / "plan.toml", check=True)
    (folder / "mixture.csv").write_text("weight,a,b\n1/2,a,b\n1/2,b,a\n", encoding="utf-8")
    add("load_mixture", path=folder / "mixture.csv", mechanism=None)
    return made


# Nouns that only this package makes: what they hold was read where they were made.
MADE_HERE = [
    "AttributeReport",
    "MultiSolution",
    "Audit",
    "ChanceDevice",
    "Comparison",
    "DesignPrecision",
    "Estimate",
    "EstimatedInformation",
    "EstimatedMeans",
    "EstimatedShares",
    "EstimatedTable",
    "Identified",
    "Measure",
    "Microaggregation",
    "ProjectedRisk",
    "VarianceSplit",
    "WaldTest",
    "QuasiIdentifierTable",
    "Regression",
    "RobustAudit",
    "SamplerAudit",
    "Scores",
    "Solution",
    "Strategy",
    "SurveyPlan",
    "Swept",
    "TwoSampleEstimate",
    "Verdict",
    "Objective",
    "Constraint",
]
# The checker is a program of its own, and reads what it is given as any program does.
# `check` is the checker's own; `is_shown_by` is asked by the solver only, with its own weights.
APART = ["check", "PermutationMixture.is_shown_by"]
# What these raise is the caller's own.
CALLBACKS = ["monitor", "report", "warn"]
UNWRITTEN = ("a list in a list, 2,000 deep", "an object without a text")
SLOW = ("a range of a billion", "an iterator without an end")


def test_every_public_callable_has_a_right_call(calls: Calls) -> None:
    assert sorted({where for where, _ in callables(NOT_CALLED)} - set(calls) - set(MADE_HERE) - set(APART)) == []
    for where, (call, arguments) in calls.items():
        names = [one.name for one in inspect.signature(call).parameters.values() if one.kind is not one.VAR_KEYWORD]
        assert set(names) - set(arguments) <= set(CALLBACKS), where
        call(**arguments)


def test_two_that_are_made_alike_are_equal_and_so_are_copies(calls: Calls) -> None:
    """One of each public class that a right call gives, and some that are parts of these."""
    found: dict[str, list[Any]] = {}
    for call, arguments in calls.values():
        if inspect.isclass(call) or type(kept := call(**arguments)).__name__ in MADE_HERE:
            one = call(**arguments) if inspect.isclass(call) else kept
            # Those that hold times and draws differ.
            again = [] if type(one).__name__ in ("Comparison", "SamplerAudit") else [call(**arguments)]
            found.setdefault(type(one).__name__, [one, *again])
    r, protected = right(), found["MultiSolution"][0]
    solution, problem = r["solution"], r["problem"]
    parts = [solution.duals, solution.verdict, solution.sensitivity()[0], problem.methods()[0], problem.goal]
    parts += [r["population"], r["population"].risk(), r["table"], protected.reports[0]]
    parts += [2 * rr.Trace() - rr.MutualInformation(r["prior"])]
    found |= {type(one).__name__: [one] for one in parts}
    public = {name: thing for name, thing in documented().items() if inspect.isclass(thing)}
    tried = {name for name, thing in public.items() if not (inspect.isabstract(thing) or issubclass(thing, Exception))}
    # A transformer of scikit-learn has its identity.
    assert tried - {"RandomizedColumn", "RandomizedEncoder"} <= found.keys(), tried - found.keys()
    for name, (one, *made) in found.items():
        if name in ("RandomizedColumn", "RandomizedEncoder"):
            continue
        for other in (*made, copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            assert type(other) is type(one)
            assert other == one, name
            assert hash(other) == hash(one), name
        assert one != name
        if isinstance(one, ByContent):
            for field in fields(one):
                changed = copy.copy(one)
                object.__setattr__(changed, field.name, "another")
                assert (changed != one) == field.compare, (name, field.name)


def failures(
    call: Callable[..., object], arguments: dict[str, Any], where: str, kinds: Iterable[str] = tuple(WRONG)
) -> Iterator[str]:
    """Each kind in the place of each argument, where the others are right, and of all that must be given."""
    found = [one for one in inspect.signature(call).parameters.values() if one.default is one.empty]
    needed = [one.name for one in found if one.name in arguments]
    for names in (*([name] for name in arguments), *([needed] if len(needed) > 1 else [])):
        for kind in kinds:
            given = {**arguments, **{name: WRONG[kind]() for name in names}}
            told = f"{where}({', '.join(names)}: {kind})"
            try:
                with ending(SECONDS, ROOM):
                    answer = call(**given)
                    # A record that is made by hand believes what it is given.
                    if not inspect.isclass(call) and kind not in UNWRITTEN:
                        repr(answer)
            except rr.RroptError as error:
                line = str(error)
                if not line.isprintable() or len(line) >= 500:
                    yield f"{told}: a message of {len(line)} characters"
            except (Exception, DoesNotEndError) as error:
                yield f"{told}: {type(error).__name__}: {error}"[:200]


def test_a_few_wrong_arguments_of_everything(calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three kinds a callable, others for each, all of them over all callables."""
    monkeypatch.chdir(tmp_path)
    turn = itertools.cycle(kind for kind in WRONG if kind not in SLOW)
    found: list[str] = []
    for where, (call, arguments) in calls.items():
        found += failures(call, arguments, where, [next(turn) for _ in range(3)])
    assert found == []


def test_the_root_is_no_file_to_write(calls: Calls) -> None:
    """Readers of folders would walk through the whole machine, so the root is not among the odd values."""
    tried = []
    for where, (call, arguments) in calls.items():
        for name in {"path", "output", "out"} & arguments.keys():
            if where.endswith((".save", ".to_csv", "release_file", "score_file", "write_report")):
                tried.append(where)
                with pytest.raises(rr.RroptError):
                    call(**{**arguments, name: Path("/")})
    assert len(tried) >= 8, tried


def test_bytes_alone_are_checked() -> None:
    assert {rr.checker.check_bytes(make()).status for make in WRONG.values()} == {"UNREADABLE"}


def test_a_call_that_does_not_bind_is_told_how_it_is_written(calls: Calls) -> None:
    """One argument is missing, one unknown, or there are too many: a line with the name, and the call to write."""
    found = []
    for where, (call, arguments) in calls.items():
        if where in (*APART, "Verdict.report"):
            continue
        needed = [one for one in inspect.signature(call).parameters.values() if one.default is one.empty]
        wrong: list[tuple[list[object], dict[str, Any]]] = [([None] * 40, {}), ([], {**arguments, "nonsense": 1})]
        wrong += [([], {name: arguments[name] for name in arguments if name != one.name}) for one in needed]
        for given, named in wrong:
            if any(one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) for one in needed):
                continue
            try:
                call(*given, **named)
            except rr.RroptError as error:
                last = error.where.rpartition(".")[2]
                if last != where.rpartition(".")[2] or f"; write {error.where}(" not in str(error):
                    found.append(f"{where}: {error}")
            except Exception as error:
                found.append(f"{where}: {type(error).__name__}: {error}")
            else:
                found.append(f"{where} takes {len(given)} arguments, {sorted(named)}")
    assert found == [], "\n".join(found)


def test_a_family_stands_where_a_mechanism_does(calls: Calls) -> None:
    """Randomised response: some functions asked for its to_mechanism(), others did not."""
    family = rr.RandomizedResponse(ABC, epsilon=1)
    taken = {}
    for where, (call, arguments) in calls.items():
        for name, value in arguments.items():
            if isinstance(value, rr.Mechanism) and value.inputs == value.outputs == tuple(ABC):
                taken[where] = call(**{**arguments, name: family})
    size, arguments = calls["sample_size"]
    assert taken["sample_size"] == size(**{**arguments, "channel": family.to_mechanism()})
    assert {"delta_of", "birkhoff", "inversion", "variance_split", "projected_risk"} <= set(taken)


def test_what_cannot_be_called_is_refused_before_anything_is_done(calls: Calls) -> None:
    """A monitor may be called late, or not at all: 3 was accepted."""
    found = []
    for where, (call, arguments) in calls.items():
        for name in inspect.signature(call).parameters.keys() & set(CALLBACKS):
            with pytest.raises(rr.InputError, match=rf"\w, {name}: expected a function, got 3"):
                call(**{**arguments, name: 3})
            found.append(where)
    assert {"Problem.solve", "release_file", "release_folder", "sweep", "compare", "solve_many"} <= set(found)


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_wrong_arguments_are_errors_of_this_package(
    part: int, calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found: list[str] = []
    for where in sorted(calls)[part::8]:
        found += failures(*calls[where], where)
    assert found == []


def test_a_fault_of_this_package_is_not_blamed_on_right_arguments(calls: Calls) -> None:
    """Each public callable with its body replaced by a fault: the fault arrives as it is."""
    errors = (IndexError, KeyError, TypeError, ValueError, OverflowError, AssertionError)
    faults = [error("a fault within") for error in errors]
    blamed = []
    for where, (call, arguments) in calls.items():
        left = iter(faults)

        def broken(*given: object, left: Iterator[Exception] = left, **named: object) -> None:
            raise next(left)

        read = checked(functools.wraps(call)(broken))
        for fault in faults:
            with pytest.raises(Exception) as seen:
                read(**arguments)
            if seen.value is not fault:
                blamed.append(f"{where}: {seen.value}")
    assert blamed == []
