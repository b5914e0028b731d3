"""Two constraints of one description are told apart wherever constraints are named."""

from __future__ import annotations

import pytest

import rropt as rr

ABC = ("a", "b", "c")
EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_a_conflict_says_which_of_two_unnamed_rows_it_is_of() -> None:
    rules = [rr.LinearConstraint(EYE, "<=", "2.9"), rr.LinearConstraint(EYE, "<=", "0.1"), rr.Floor("0.5")]
    solution = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=ABC).solve()
    assert solution.conflict == ("linear constraint (2)", "diagonal at least 0.5")


def test_duals_and_sensitivities_name_one_of_two() -> None:
    rules = [rr.LDP(1), rr.LinearConstraint(EYE, "<=", "2.9"), rr.LinearConstraint(EYE, "<=", "1.1")]
    solution = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=ABC).solve()
    assert [solution.duals.of(rule).keys() for rule in rules] == [set(), {"linear"}, {"linear (2)"}]
    slopes = {one.constraint: one.slope for one in solution.sensitivity()}
    assert slopes.keys() == {"LDP at epsilon 1", "linear constraint", "linear constraint (2)"}
    assert (slopes["linear constraint"], slopes["linear constraint (2)"]) == (0.0, 1.0)


def test_a_named_row_is_named() -> None:
    rules = [rr.LinearConstraint(EYE, "<=", 1, name="at most one"), rr.Floor("0.5")]
    solution = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=ABC).solve()
    assert solution.conflict == ("linear constraint 'at most one'", "diagonal at least 0.5")


def test_a_definition_that_differs_from_its_form_is_named() -> None:
    class Wrong(rr.LinearConstraint):
        def violation(self, mechanism: rr.Mechanism) -> object:
            return super().violation(mechanism) + 1

    rules = [rr.LinearConstraint(EYE, "<=", "2.9"), Wrong(EYE, "<=", "1.1")]
    with pytest.raises(rr.InputError, match=r"linear constraint \(2\): its definition and its form disagree"):
        rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=ABC).solve()
