"""Steps: `problem` rewritten as JSON, one step after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from flint import fmpq

from .boxes import read_cuts, row_of_cut
from .claims import CONVEX, Problem, down, read_problem, up
from .forms import Unlimited, form_at, rational, read_points, read_tangent, split
from .lifts import lift
from .reading import Reader, bad, distinct, increasing, index, items, keys, must
from .reals import high, log, low, need, with_bits

MOST = 64
KEYS = ("entropy", "approximate", "identification_risk", "structure", "limits", "divergences")
PARTS = ("cone", "cone_rows", "rows", *KEYS, "outputs")
Afford = Callable[[int], None]  # of so many steps, the last one read and not yet made


def after_steps(problem: dict[str, Any], steps: Any, afford: Afford = lambda _: None) -> dict[str, Any]:
    """The last problem, at full precision wherever it is asked for; each on the way is read, as section 4 asks."""
    made: dict[str, Any] = with_bits(_after_steps, problem, steps, afford)
    return made


def _after_steps(problem: dict[str, Any], steps: Any, afford: Afford) -> dict[str, Any]:
    must(isinstance(steps, list) and 1 <= len(steps) <= MOST, "limit: steps")
    for i, step in enumerate(steps):
        kind = step.get("kind") if isinstance(step, dict) else bad("no step")
        must(isinstance(kind, str) and kind in KINDS, "kind of a step")
        problem = KINDS[kind](problem, step, partial(afford, i + 1))
        must(sum(len(row["terms"]) for row in problem["rows"]) <= 10**7, "limit: row terms")
        read_problem(Unlimited(), problem, whole=False)
    return problem


def _drop(problem: dict[str, Any], step: dict[str, Any], _: Callable[[], None]) -> dict[str, Any]:
    keys(step, ["kind", "parts"], ["which"])
    parts = items(step["parts"], lambda part: part if part in PARTS else bad("no such part"), least=1)
    distinct(parts, "part")
    made, cone = dict(problem), problem["cone"]
    if "which" in step:
        must("rows" in parts, "which without rows")
        which = items(step["which"], index(len(problem["rows"])), least=1)
        increasing(which, "rows")
        made["rows"] = [row for i, row in enumerate(problem["rows"]) if i not in which]
    for part in parts:
        if part == "cone":
            must(cone["kind"] != "free", "no cone to drop")
            made["cone"] = {"kind": "free"}
        elif part == "cone_rows":
            must(cone["kind"] == "polyhedral" and "cone" not in parts, "no cone rows to drop")
            made["cone"] = cone["base"]
        elif part == "rows":
            must(problem["rows"] != [], "no rows to drop")
            if "which" not in step:
                made["rows"] = []
        elif part == "outputs":
            must(problem["outputs"] is not None, "no outputs to drop")
            made["outputs"] = None
        else:
            must(part in problem, f"no {part} to drop")
            del made[part]
    return made


def _gibbs(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """-c Q <= -h with c rounded up and h down to the grid."""
    keys(step, ["kind", "points"])
    must("entropy" in problem, "no floor")
    floor, k, m = problem["entropy"], len(problem["inputs"]), len(problem["outputs"])
    big = Reader().big_from(1)
    points = items(step["points"], lambda one: items(one, lambda row: items(row, big, m), k), least=1)
    afford()
    shares = [int(share) for share in floor["shares"]]
    height = sum(
        (share * low(log(fmpq(size))) for share, size in zip(shares, floor["sizes"], strict=True) if size > 1), fmpq(0)
    )
    rhs = -fmpq(*map(int, split(floor["at_least"]))) * (down(height) if height != 0 else height)
    taken = {row["name"] for row in problem["rows"]}
    rows = []
    for point in points:
        terms = []
        for x, (share, row) in enumerate(zip(shares, point, strict=True)):
            for y, n in enumerate(row):
                code = up(share * high(log(fmpq(sum(row), n)))) if share and sum(row) != n else fmpq(0)
                if code != 0:
                    terms.append([x, y, rational(-code)])
        name = f"gibbs {len(taken)}"
        while name in taken:
            name += "'"
        taken.add(name)
        rows.append({"name": name, "sense": "<=", "rhs": rational(rhs), "terms": terms})
    made = {key: value for key, value in problem.items() if key != "entropy"}
    made["rows"] = [*problem["rows"], *rows]
    return made


def _cut(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """The cuts as rows of a polyhedral cone; whether they count, `check_cuts` says."""
    keys(step, ["kind", "ratio", "cuts"])
    must(problem["cone"]["kind"] == "confidence", "no confidence cone")
    ratio = Reader().rat(step["ratio"])
    own = read_problem(Unlimited(), problem, whole=False)
    cuts = read_cuts(Reader(), own, step["cuts"])
    must(cuts != [] and common_of_cuts(step).bit_length() <= (1 << 17) + 1, "limit: sums of weights")
    afford()
    rows = []
    for s, z, first, second in cuts:
        row = [fmpq(0)] * own.k
        for block, weights in ((s, first), (z, [-ratio * weight for weight in second])):
            for x, weight in zip(own.cone.blocks[block], weights, strict=True):
                row[x] = weight
        rows.append([rational(number) for number in row])
    return {**problem, "cone": {"kind": "polyhedral", "base": {"kind": "free"}, "rows": rows}}


def common_of_cuts(step: dict[str, Any]) -> int:
    """The least common multiple of the sums of the weights."""
    return math.lcm(*(sum(map(int, cut[side])) for cut in step["cuts"] for side in ("first", "second")))


def check_cuts(problem: Problem, steps: list[dict[str, Any]]) -> None:
    """Every cut counts, and the ratio is not below that of the cone, which no step before it has changed."""
    for step in steps:
        if step["kind"] == "cut":
            assert problem.cone.ratio is not None
            need(problem.cone.ratio.high <= Reader().rat(step["ratio"]), "the ratio of the cuts")
            for cut in read_cuts(Reader(), problem, step["cuts"]):
                row_of_cut(problem, cut)


def _convex(problem: dict[str, Any]) -> bool:
    return problem["sense"] == "minimize" and problem["utility"]["kind"] in CONVEX


def _limited(problem: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """Utility and weights that a minorant or a majorant is of."""
    parts = problem["utility"].get("parts", [])
    of: dict[str, Any] = (
        problem["limits"][step["of"]] if "of" in step else parts[step["part"]] if "part" in step else problem
    )
    return of


def _bends(problem: dict[str, Any], part: dict[str, Any]) -> bool:
    return (part["weight"][0] == "-") == (problem["sense"] == "minimize")


def _is_part(problem: dict[str, Any], step: dict[str, Any], bends: bool) -> None:
    must(problem["utility"]["kind"] == "sum", "no sum")
    parts = problem["utility"]["parts"]
    must(_bends(problem, parts[index(len(parts))(step["part"])]) == bends, "a part that bends, or does not")


def _added(problem: dict[str, Any], step: dict[str, Any], forms: dict[tuple[int, int], fmpq]) -> dict[str, Any]:
    """The problem without a part, the forms in its place."""
    utility = problem["utility"]
    weight = fmpq(*map(int, split(utility["parts"][step["part"]]["weight"])))
    cost = {(x, y): fmpq(*map(int, split(c))) for x, y, c in utility["cost"]}
    for cell, number in forms.items():
        cost[cell] = cost.get(cell, fmpq(0)) + weight * number
    terms = [[x, y, rational(c)] for (x, y), c in sorted(cost.items()) if c != 0]
    parts = [part for i, part in enumerate(utility["parts"]) if i != step["part"]]
    made = {"kind": "sum", "cost": terms, "parts": parts} if parts else {"kind": "linear", "cost": terms}
    return {**problem, "utility": made}


def _majorant(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """mu of the unit vectors, rounded up to the grid."""
    keys(step, ["kind", "part"])
    _is_part(problem, step, True)
    must(problem["outputs"] is not None, "a majorant of free outputs")
    of, k, m = _limited(problem, step), len(problem["inputs"]), len(problem["outputs"])
    must(k * m <= 10**7, "limit: k * m of a majorant")
    afford()
    weights, utility = [int(weight) for weight in of["weights"]], of["utility"]
    p, found = [fmpq(weight, sum(weights)) for weight in weights], []
    joint = [[int(w) for w in row] for row in utility.get("given", [[weight] for weight in weights])]
    for x in range(k):
        if utility["kind"] == "bayes":
            found.append(p[x] * max(fmpq(*map(int, split(own[x]))) for own in utility["gain"]))
        elif utility["kind"] == "chi_square":
            found.append(1 - p[x] if p[x] > 0 else fmpq(0))
        else:
            sums = [sum(column) for column in zip(*joint, strict=True)]
            logs = [
                fmpq(w, sum(weights)) * high(log(fmpq(whole, w)))
                for w, whole in zip(joint[x], sums, strict=True)
                if 0 < w < whole
            ]
            found.append(sum(logs, fmpq(0)))
    exact = utility["kind"] != "mutual_information"
    rounded = [up(number, exact) if number != 0 else number for number in found]
    return _added(problem, step, {(x, y): rounded[x] for x in range(k) for y in range(m)})


def _minorant(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """Forms that touch mu, rounded down to the grid."""
    keys(step, ["kind", "points"], ["of", "part"])
    flat = problem["utility"]["kind"] == "sum" and not any(
        _bends(problem, part) for part in problem["utility"]["parts"]
    )
    if "of" in step or "part" in step:
        must(not ("of" in step and "part" in step), "of and part")
        if "of" in step:
            index(len(problem.get("limits", [])))(step["of"])
        else:
            _is_part(problem, step, False)
        must(problem["outputs"] is not None or flat or _convex(problem), "a limit of free outputs")
    else:
        must(_convex(problem), "a minorant of what")
    of, k = _limited(problem, step), len(problem["inputs"])
    outputs = ["any"] if problem["outputs"] is None else problem["outputs"]
    points = read_points(step["points"], of["utility"], k, len(outputs))
    afford()
    terms = []
    for y, point in enumerate(points):
        for x, number in enumerate(form_at(of, point)):
            if number != 0:
                terms.append([x, y, rational(number)])
    terms.sort(key=lambda term: term[:2])
    if "part" in step:
        forms = {(x, y): fmpq(*map(int, split(number))) for x, y, number in terms}
        return _added({**problem, "outputs": outputs}, step, forms)
    if "of" not in step:
        return {**problem, "outputs": outputs, "utility": {"kind": "linear", "cost": terms}}
    limits, name = list(problem["limits"]), f"limit {len(problem['rows'])}"
    while name in {row["name"] for row in problem["rows"]}:
        name += "'"
    row = {"name": name, "sense": "<=", "rhs": limits.pop(step["of"])["at_most"], "terms": terms}
    made = {**problem, "outputs": outputs, "rows": [*problem["rows"], row], "limits": limits}
    return made if limits else {key: value for key, value in made.items() if key != "limits"}


def _tangents(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """The rows as they stand; whether they hold, `check_tangents` says."""
    keys(step, ["kind", "of", "rows"])
    known = list(problem.get("divergences", []))
    own = known.pop(index(len(known))(step["of"]))
    must(own["kind"] != "capacity", "tangents of a capacity")
    must(problem["outputs"] is not None, "tangents of free outputs")
    k, m = len(problem["inputs"]), len(problem["outputs"])
    tangents = items(step["rows"], lambda row: read_tangent(row, own, k, m), least=1)
    must(2 * m * len(tangents) <= 10**7, "limit: forms of tangents")
    afford()
    rows, taken = [], {row["name"] for row in problem["rows"]}
    for i, (_, (x, z), forms, at_most) in enumerate(tangents):
        terms = [[x, y, s] for y, (s, _) in enumerate(forms) if s != 0]
        terms += [[z, y, -b] for y, (_, b) in enumerate(forms) if b != 0]
        name = f"tangent {i}"
        while name in taken:
            name += "'"
        taken.add(name)
        stated = [[*cell, rational(number)] for *cell, number in sorted(terms, key=lambda term: term[:2])]
        rows.append({"name": name, "sense": "<=", "rhs": rational(at_most), "terms": stated})
    made = {**problem, "rows": [*problem["rows"], *rows], "divergences": known}
    return made if known else {key: value for key, value in made.items() if key != "divergences"}


def _prior(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """The information at one prior in the place of a capacity."""
    keys(step, ["kind", "weights"], ["of"])
    weights = items(step["weights"], Reader().big_from(0), len(problem["inputs"]))
    must(sum(weights) > 0, "weights sum to 0")
    afford()
    if "of" not in step:
        must(problem["utility"]["kind"] == "capacity", "a prior of no capacity")
        return {**problem, "utility": {"kind": "mutual_information"}, "weights": step["weights"]}
    known = list(problem.get("divergences", []))
    own = known.pop(index(len(known))(step["of"]))
    must(own["kind"] == "capacity", "a prior of no capacity")
    limit = {"utility": {"kind": "mutual_information"}, "weights": step["weights"], "at_most": own["at_most"]}
    made = {**problem, "limits": [*problem.get("limits", []), limit], "divergences": known}
    return made if known else {key: value for key, value in made.items() if key != "divergences"}


def takes_gibbs(problem: Problem, steps: list[dict[str, Any]]) -> bool:
    """Whether a step rests on Gibbs' inequality."""
    limits, parts = [limit.kind for limit, _ in problem.limits], [part.kind for part, _ in problem.parts]
    for step in steps:
        if step["kind"] == "drop" and "limits" in step["parts"]:
            limits = []
        if step["kind"] == "majorant":
            parts.pop(step["part"])
        if step["kind"] == "prior":
            limits += ["mutual_information"] if "of" in step else []
        if step["kind"] == "lift" and "points" in step and limits.pop(step["of"]) == "mutual_information":
            return True
        if step["kind"] == "minorant":
            kind = "mutual_information" if problem.kind == "capacity" else problem.kind
            if "of" in step or "part" in step:
                kind = limits.pop(step["of"]) if "of" in step else parts.pop(step["part"])
            if kind == "mutual_information":
                return True
        if step["kind"] == "gibbs":
            return True
    return False


def majorised(problem: Problem, steps: list[dict[str, Any]]) -> set[str]:
    """The kinds of what majorants are of."""
    parts, found = [part.kind for part, _ in problem.parts], set()
    for step in steps:
        kind = parts.pop(step["part"]) if "part" in step else ""
        found |= {kind} if step["kind"] == "majorant" else set()
    return found


def count_steps(problem: dict[str, Any], steps: list[dict[str, Any]]) -> tuple[int, int]:
    """The logarithms of all steps, one a term that is not 0 and one an input for `gibbs`; and products."""
    logs, products, limits, k = 0, 0, list(problem.get("limits", [])), len(problem["inputs"])
    parts = list(problem["utility"].get("parts", []))
    for step in steps:
        if step["kind"] == "majorant" or ("points" in step and step["kind"] != "gibbs"):
            own = parts.pop(step["part"]) if "part" in step else limits.pop(step["of"]) if "of" in step else problem
            utility = own["utility"]
            if utility["kind"] == "capacity":
                utility = {"kind": "mutual_information"}
            wide = len(step["points"]) if "points" in step else len(problem["outputs"])
            products += 16 * k * wide if "part" in step else 0
            cells = k if step["kind"] == "majorant" else k * wide
            if utility["kind"] == "mutual_information":
                logs += cells * (len(utility["given"][0]) if "given" in utility else 1)
            elif utility["kind"] == "chi_square":
                products += (60 if step["kind"] == "majorant" else 8) * cells
            else:
                gains = sum(gain != "0" for own in utility["gain"] for gain in own)
                products += 60 * (gains * cells // k + cells)
        if step["kind"] == "drop" and "limits" in step["parts"]:
            limits = []
        if step["kind"] == "prior":
            limits += [{"utility": {"kind": "mutual_information"}}] if "of" in step else []
        if step["kind"] == "gibbs":
            shares = problem["entropy"]["shares"]
            logs += len(shares) + sum(
                share != "0" and sum(map(int, row)) != int(n)
                for point in step["points"]
                for share, row in zip(shares, point, strict=True)
                for n in row
            )
        if "rows" in step:
            logs += 3 * sum(len(row["forms"]) for row in step["rows"])
        if step["kind"] == "lift":
            pairs = 0 if "points" in step or "rows" in step else k * (k - 1)
            products += pairs
            k += pairs or len(step.get("rows", ["one"]))
        if step["kind"] == "cut":
            products += 2 * k * len(step["cuts"])
    return logs, products


KINDS = {
    "drop": _drop,
    "gibbs": _gibbs,
    "cut": _cut,
    "minorant": _minorant,
    "majorant": _majorant,
    "tangents": _tangents,
    "prior": _prior,
    "lift": lift,
}
