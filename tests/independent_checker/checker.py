"""The verdict on a file: `check` reads all of it, then checks the mechanism, its value, the proof and the bound."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from .cases import Cases
from .claims import DESIGNS, Problem, read_problem
from .cornerforms import CornerForms
from .curves import CURVES
from .designs import Design, FormTree
from .forms import Unlimited, check_tangents, each_tangent
from .levels import Levels
from .lines import Lines
from .offdiagonal import OffDiagonal
from .reading import Reader, bad, items, keys, load, must, string
from .reals import Refuted, Unreadable, high, need, with_bits
from .riskproofs import RiskBranch, Thresholds
from .steps import after_steps, check_cuts, majorised, takes_gibbs
from .values import check_limits, check_value
from .witness import check_mechanism, read_mechanism
from .work import limit_steps, limit_work, most_operations

CONVEX = {"mutual_information": "mi-column-convex", "chi_square": "chi-square-column-convex"}
KINDS = ("lines", "column-dual", "branch-tree", "thresholds", "risk-branch", "corner-tree")


INFORMATION = ("mutual_information",)
# The classes of proof and the utilities (all where there are none) that take a lemma.
PLAIN = (OffDiagonal, Levels, Cases)
USED: dict[str, tuple[tuple[type, ...], tuple[str, ...]]] = {
    "v-log-v-convex": (PLAIN, INFORMATION),
    "off-diagonal-convex": ((OffDiagonal,), ()),
    "robust-vertices": ((Levels,), ()),
    "newton-inequalities": ((Thresholds,), ()),
    "marcus-lopes": ((RiskBranch,), ()),
}
# The same of a mechanism, by the utility that it is worth.
OF_VALUE = {
    "regular-by-approximate-inverse": DESIGNS,
    "log-det-below-trace": ("inverse_determinant",),
    "schur-complement": ("inverse_eigenvalue",),
    "eigenvalue-of-densities": ("inverse_eigenvalue",),
}
NAMES = [
    *CONVEX.values(),
    "uniform-choice-among-matches",
    *USED,
    *OF_VALUE,
    "gibbs-inequality",
    "quadratic-over-linear-convex",
    "cauchy-schwarz-membership",
    "cumulant-convex",
    "young-inequality",
    "capacity-below-divergences",
]


def _is_one(proof: Any, kinds: tuple[type, ...], utility: str, utilities: tuple[str, ...]) -> bool:
    return isinstance(proof, kinds) and (not utilities or utility in utilities)


def verdict(data: bytes) -> tuple[str, str]:
    """PROVED, REFUTED or UNREADABLE, and why."""
    try:
        with_bits(_check, data)
    except Unreadable as error:
        return "UNREADABLE", str(error)
    except Refuted as error:
        return "REFUTED", str(error)
    return "PROVED", ""


def check(data: bytes) -> str:
    """PROVED, REFUTED or UNREADABLE."""
    return verdict(data)[0]


def _check(data: bytes) -> None:
    reader = Reader()
    file = keys(load(data), ["format", "problem", "mechanism", "value", "bound", "proof", "assumptions"])
    must(file["format"] == "rropt-certificate", "format")
    has_steps = isinstance(file["proof"], dict) and "steps" in file["proof"]
    grouped = isinstance(file["mechanism"], dict) and "groups" in file["mechanism"]
    of_lines = isinstance(file["proof"], dict) and file["proof"].get("kind") == "lines"
    whole = not (has_steps or of_lines)
    problem = last = read_problem(reader, file["problem"], whole=whole, grouped=grouped)
    steps, rest, stated = [], file["proof"], file["problem"]
    if has_steps:
        steps = file["proof"]["steps"]
        rest = {key: value for key, value in file["proof"].items() if key != "steps"}
        stated = after_steps(file["problem"], steps, limit_steps(file, len(data)))
        last = read_problem(Unlimited(), stated, whole=not of_lines, grouped=grouped)
        for step in steps:
            if step["kind"] == "cut":
                reader.rat(step["ratio"])
    tangents = each_tangent(file["problem"], steps, reader)
    kind = file["proof"].get("kind") if isinstance(file["proof"], dict) else bad("no proof")
    must(isinstance(kind, str) and kind in KINDS, "proof kind")
    infeasible = kind == "lines" and file["bound"] is None
    for key in ("mechanism", "value"):
        must((file[key] is None) == infeasible, f"{key}: null exactly for infeasibility")
    if kind == "lines":
        least = None if infeasible else Reader().rat(file["bound"])
        proof: Any = Lines(stated, rest, least, most_operations(len(data)))
    else:
        proof = read_proof(reader, last, rest)
    names = items(file["assumptions"], string)
    must(all(name in NAMES for name in names), "an assumption that the text does not know")
    if infeasible:
        limit_work(file, reader.common, len(data), getattr(proof, "cost", None))
        _assumptions(problem, last, steps, proof, names, False)
        check_cuts(problem, steps)
        check_tangents(tangents)
        proof.check()
        return
    mechanism = read_mechanism(reader, file["mechanism"], problem)
    value = keys(file["value"], ["lower", "upper"])
    claimed = reader.rat(value["lower"]), reader.rat(value["upper"])
    bound = reader.rat(file["bound"])
    limit_work(file, reader.common, len(data), getattr(proof, "cost", None))
    _assumptions(problem, last, steps, proof, names, True)
    check_cuts(problem, steps)
    check_tangents(tangents)
    check_mechanism(problem, mechanism)
    check_limits(problem, mechanism)
    own = check_value(problem, mechanism, claimed)
    sign = 1 if problem.sense == "maximize" else -1
    worth, side = (own[0], "below") if sign > 0 else (-own[1], "above")
    need(sign * bound >= worth, f"the bound is {side} the mechanism's value")
    reached: fmpq = high(proof.check())
    need(sign * bound >= reached, f"the bound is {side} what the proof yields")


def _assumptions(
    problem: Problem, last: Problem, steps: list[Any], proof: Any, names: list[str], witnessed: bool
) -> None:
    """Of the mechanism and the risk by `problem`, of the proof by the last one."""
    convex = isinstance(proof, Levels)
    wanted = {CONVEX[last.kind]} if convex else set()
    if problem.risk is not None:
        wanted.add("uniform-choice-among-matches")
    wanted |= {name for name, (kinds, utilities) in USED.items() if _is_one(proof, kinds, last.kind, utilities)}
    if isinstance(proof, Thresholds) and last.kind == "mutual_information":
        wanted.add("mi-column-convex")
    if isinstance(proof, CornerForms) or (isinstance(proof, Design) and isinstance(proof.cover, FormTree)):
        wanted.add("quadratic-over-linear-convex")
    if witnessed:
        wanted |= {name for name, utilities in OF_VALUE.items() if problem.kind in utilities}
        wanted |= {"cauchy-schwarz-membership"} if problem.cone.kind == "confidence" else set()
        wanted |= {"cumulant-convex"} if any(order is None for order, _ in problem.divergences) else set()
        wanted |= {"capacity-below-divergences"} if problem.has_capacity else set()
    wanted |= {CONVEX[kind] for kind in majorised(problem, steps) if kind in CONVEX}
    of_rows = [step for step in steps if step["kind"] in ("tangents", "lift") and "rows" in step]
    wanted |= {"young-inequality"} if of_rows else set()
    if takes_gibbs(problem, steps):
        wanted.add("gibbs-inequality")
    need(len(set(names)) == len(names) and set(names) == wanted, "assumptions")


def read_proof(reader: Reader, problem: Problem, proof: dict[str, Any]) -> Any:
    """Section 6: which proofs go with which problem."""
    kind = proof["kind"]
    if problem.risk is not None:
        must(kind == ("risk-branch" if problem.risk["blocks"] is None else "thresholds"), "proof kind of a risk")
        return (RiskBranch if kind == "risk-branch" else Thresholds)(reader, problem, proof)
    if problem.structure:
        must(kind == "branch-tree", "proof kind of off-diagonals")
        return OffDiagonal(reader, problem, proof)
    must(problem.entropy is None and problem.approximate is None, "proof kind with these constraints")
    must(problem.kind in (*CURVES, *DESIGNS), "proof kind for this utility")
    if kind == "corner-tree":
        return CornerForms(reader, problem, proof)
    must(kind == "column-dual", "proof kind for this utility")
    must(not problem.rows, "column-dual with rows")
    if problem.kind in DESIGNS:
        return Design(reader, problem, proof)
    if problem.cone.kind == "robust":
        return Levels(reader, problem, proof)
    must(problem.cone.kind == "confidence", "column-dual of this cone")
    return Cases(reader, problem, proof)
