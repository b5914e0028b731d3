"""The guarantee of a declared problem, and whether a certificate states this problem, or one whose bound holds for it:
derived again here, exactly.

Some methods certify a larger problem: without a constraint that no proof takes, or with rows that this constraint
implies. The certificate's own description is not trusted: each part of its problem is one of the declaration's or
follows from it, or it is named as a difference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any

from rropt.errors import counted
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import declared_names
from rropt.model.guarantees import privacy_statement
from rropt.problem import Problem
from rropt.program.cones import CompleteCone, GraphCone, base_cone, cone_rows
from rropt.program.permutation_mixtures import Mixture, mixed
from rropt.program.programs import Program
from rropt.program.worst_of import whole
from rropt.prove.certificates import Certificate
from rropt.prove.problem_digest import canonical, differences
from rropt.solve.relaxations.merge_outputs import one_output_an_action

Terms = tuple[tuple[int, int, Fraction], ...]
Weights = Mapping[tuple[str, ...], Fraction]

LEFT_OUT = {
    "entropy": "the floor on the entropy",
    "identification_risk": "the bound on the identification risk",
    "approximate": "approximate LDP",
}
"""Constraints that have a key of their own in a certificate, by that key."""
FREE, MERGED, MIXTURE = (
    "the number of outputs is left free",
    "one output for each action",
    "the weights of permutations",
)


@dataclass(frozen=True)
class Statement:
    """The relation of the problem of a certificate to a declared one.

    `differences` are parts of it that do not follow from the declaration, one line each: where there are any, the
    certificate proves another problem than the declared one. `derived` are its parts in place of what was
    declared, and follow from it. `left_out` is what was declared and is not in it: its bound holds all the more, but
    the checker has not verified that the mechanism keeps these.
    """

    differences: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def is_declared(self) -> bool:
        """Whether the certificate states the declared problem itself."""
        return not (self.differences or self.derived or self.left_out)


def guarantee_of(problem: Problem, mechanism: Mechanism | None) -> str:
    """The privacy guarantee of the problem, the notion and its level first, then the plain LDP of the mechanism; ""
    without a mechanism."""
    return "" if mechanism is None else privacy_statement(problem.compile().payload(), mechanism.privacy_ratio)


def statement(problem: Problem, certificate: Certificate) -> Statement:
    """The relation of an accepted certificate to `problem`."""
    program = problem.compile()
    exact = certificate.differences(program)
    if not exact and program.extra(Mixture) is None:
        return Statement()
    stated = certificate.document["problem"]
    infeasible = certificate.document.get("mechanism") is None
    own = program.payload()
    left_out = {key: name for key, name in LEFT_OUT.items() if key in own and key not in stated}
    kept = tuple(extra for extra in program.extras if not extra.payload().keys() & left_out.keys())
    forms = _forms(replace(program, extras=kept))
    found = [_follows(one, note, stated, infeasible, list(left_out.values())) for one, note in forms]
    return next((one for one in found if not one.differences), found[0])


def breaches(problem: Problem, mechanism: Mechanism, weights: Weights | None = None) -> tuple[str, ...]:
    """The constraints that a mechanism violates, or is not shown to keep, one line each; exact. `weights` of
    permutations (by the outputs of the inputs) make it up where the problem bounds these."""
    program = problem.compile()
    if mechanism.inputs != problem.inputs:
        return ("the mechanism has other inputs than those declared",)
    if program.outputs is not None and declared_names(mechanism, program.outputs) != program.outputs:
        return ("the mechanism has other outputs than those declared",)
    missed = list(program.excess(whole(program, mechanism)))
    more = f", and {len(missed) - 1:,} more" if missed[1:] else ""
    found = [f"the mechanism does not keep what was declared: {missed[0]}{more}"] if missed else []
    if (mixture := program.extra(Mixture)) is not None:
        found += _unmix(mixture, mechanism, weights)
    return tuple(found)


def _unmix(mixture: Mixture, mechanism: Mechanism, weights: Weights | None) -> list[str]:
    if weights is None:
        return ["weights of permutations are missing: it is not shown that the mechanism is a declared mixture"]
    inputs = mechanism.inputs
    places = {tuple(inputs.index(name) for name in outputs): weight for outputs, weight in weights.items()}
    broken = mixture.breach(places)
    made = mixed(places, inputs)
    if not broken and any(made.column(y) != mechanism.column(y) for y in range(len(inputs))):
        broken = "they make another matrix"
    return [f"the weights of permutations do not show that the mechanism is a declared mixture: {broken}"] * bool(
        broken
    )


def _forms(program: Program) -> Iterator[tuple[Program, str]]:
    """The program in the forms that have its optimum, each with a note on what was done."""
    yield program, ""
    linear = program.linearised()
    if linear is not program:
        yield linear, ""
    merged = one_output_an_action(program)
    if merged is not None:
        yield merged, MERGED


def _follows(
    program: Program, note: str, stated: Mapping[str, Any], infeasible: bool, left_out: list[str]
) -> Statement:
    own = program.payload()
    same, derived, left_out = dict(stated), [note] if note else [], [*left_out]
    # Infeasibility does not depend on the objective. The weights are those of its utility: whatever constraint has a
    # prior has numbers of its own, in the cone, in rows or in another key (section 4 of the format).
    free = ("sense", "utility", "weights") if infeasible else ()
    for key in free:
        same[key] = own[key]
    if stated.get("outputs", 0) is None and program.outputs is not None and stated.get("rows") == []:
        same["outputs"] = own["outputs"]
        derived.append(FREE)
    declared = {canonical(row.payload()): row.payload() for row in program.rows}
    rows = {canonical(row): row for row in stated.get("rows", [])}
    missed = [row for text, row in declared.items() if text not in rows]
    strange, reasons = [], dict[str, int]()
    for row in (row for text, row in rows.items() if text not in declared):
        reason = _imply(program, row)
        if reason is None:
            strange.append(row)
        else:
            reasons[reason] = reasons.get(reason, 0) + 1
    # Only rows that do not follow are differences; what is derived or missing is listed apart.
    same["rows"] = own["rows"]
    derived += [f"{counted(count, 'rows')} that rropt derived from {reason}" for reason, count in reasons.items()]
    if missed:
        left_out.append(f"{counted(len(missed), 'rows')} on the whole matrix (the first is {missed[0]['name']!r})")
    if program.extra(Mixture) is not None:
        left_out.append(MIXTURE)
    found = differences(own, same)
    if strange:
        found += _row_differences(missed, strange, len(stated["rows"]))
    return Statement(tuple(found), tuple(derived), tuple(left_out))


def _row_differences(missed: list[dict[str, Any]], strange: list[Mapping[str, Any]], size: int) -> list[str]:
    """The number of the `size` rows of a certificate that do not follow, that of declared ones that are not in it, and
    a text on how the first one differs from the declared row of its name."""
    several, first = len(strange) > 1, strange[0]
    words = "are not declared, nor do they follow" if several else "is not declared, nor does it follow"
    line = f"rows: {len(strange):,} of the {counted(size, 'rows')} of the certificate {words} from what is"
    if missed:
        line += f"; {counted(len(missed), 'declared rows')} {'are' if missed[1:] else 'is'} not in it"
    alike = next((row for row in missed if row["name"] == first["name"]), None)
    if alike is None:
        return [f"{line} (the first is {first['name']!r})"]
    return [line, *(f"row {first['name']!r}, {one}" for one in differences(alike, first))]


def _imply(program: Program, row: Mapping[str, Any]) -> str | None:
    """From which constraint of the program a row follows; None where it follows from none of the known kinds."""
    if row["sense"] != "<=":
        return None
    terms = tuple((x, y, Fraction(value)) for x, y, value in row["terms"])
    limit = Fraction(row["rhs"])
    if (mixture := program.extra(Mixture)) is not None and _of_mixture(mixture, terms, limit):
        return MIXTURE
    return "the conditions on every column" if _of_cone(program, terms, limit) else None


def _of_mixture(mixture: Mixture, terms: Terms, limit: Fraction) -> bool:
    """Whether the largest sum over all mixtures is at most `limit`."""
    scale = lcm(*(value.denominator for *_, value in terms))
    scores = [[0] * mixture.size for _ in range(mixture.size)]
    for x, y, value in terms:
        scores[x][y] = int(value * scale)
    most = mixture.most(scores)
    return most is not None and most <= limit * scale


def _of_cone(program: Program, terms: Terms, limit: Fraction) -> bool:
    """Whether the row is one inequality of the cone on one column, or a weaker one."""
    if limit < 0 or len({y for _, y, _ in terms}) != 1:
        return False
    own = {x: value for x, _, value in terms}
    if any(own == {x: value for x, value in enumerate(row) if value} for row in cone_rows(program.cone)):
        return True
    above, below = ([x for x, value in own.items() if sign * value > 0] for sign in (1, -1))
    if len(above) != 1 or len(below) != 1:
        return False
    base = base_cone(program.cone)
    ratio = None
    if isinstance(base, CompleteCone):
        ratio = base.level.ratio
    elif isinstance(base, GraphCone):
        both = zip(base.edges, base.ratios, strict=True)
        ratio = next((ratio for (x, z, _), ratio in both if (x, z) == (above[0], below[0])), None)
    return ratio is not None and own[above[0]] * ratio.upper <= -own[below[0]]
