"""The `mixtures` route: weights of permutations that linear rows on the matrix alone do not bound, or not all."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.assignments import Places
from rropt.cones import FloatArray
from rropt.errors import Refusal
from rropt.mixtures import Mixture
from rropt.programs import Program, Row
from rropt.routes.base import Answer, Effort, MixedWeights, Route, SolverClaim
from rropt.routes.linear import LinearRoute
from rropt.routes.milp import solve_milp
from rropt.routes.mixture_master import ELASTIC, Master, Mixed, linear, whole

CHOICES = 1_000
"""Permutations that the integer programme chooses from, at most."""
LEAST = 1e-9
"""A weight below this is taken for none."""


class MixturesRoute(Route):
    """Column generation over permutations; which of them, where their number is limited, by an integer programme."""

    name = "mixtures"
    concave = True  # it says itself what it does not know
    because = "permutations have bounds that rows on the matrix do not say: their weights are the variables"

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if program.mixture is None:
            return Refusal("mixtures is for bounded weights of permutations", "use route auto")
        if solver not in (None, "highs"):
            return Refusal(f"mixtures knows the solver highs only, not {solver!r}", "leave the solver out")
        if not linear(program):
            return Refusal(
                "mixtures takes linear objectives without an entropy floor",
                "maximise trace or expected_gain, or list the permutations that may be used",
            )
        return None

    def solve(self, program: Program, effort: Effort) -> Answer:
        mixture = program.mixture
        assert mixture is not None
        begun = time.monotonic()
        loose = Master(program, mixture).solve(effort)
        relaxed = replace(program, mixture=None)
        if loose is None or loose.given > ELASTIC:
            claim = SolverClaim("highs", "no mixture was found", None, time.monotonic() - begun)
            proved = LinearRoute().solve(relaxed, effort)
            unproved = () if proved.farkas is not None else ("no mixture was found; that none exists is not proved",)
            return Answer(claim, outputs=program.outputs, farkas=proved.farkas, notes=unproved)
        notes: list[str] = []
        if mixture.bounds:
            relaxed, note = self._with_cut(relaxed, mixture, loose.scores)
            notes.append(note)
        bound = LinearRoute().solve(relaxed, effort)
        chosen, claimed = loose, ""
        if mixture.max_terms is not None and (loose.weights > LEAST).sum() > mixture.max_terms:
            found, claimed = self._fewer(program, mixture, loose, effort)
            notes.append(
                "the bound is that of any number of permutations"
                + (f"; HiGHS claims {claimed}, which nobody proved" if claimed else "")
            )
            if found is None:
                notes.append("no mixture of so few permutations was found")
                claim = SolverClaim("highs", "no mixture of so few permutations was found", None, bound.claim.seconds)
                return Answer(claim, None, program.outputs, bound.dual, relaxed=relaxed, notes=tuple(notes))
            chosen = found
        used = [j for j, weight in enumerate(chosen.weights) if weight > LEAST]
        permutations = tuple(chosen.permutations[j] for j in used)
        mixing = MixedWeights(permutations, chosen.weights[used], *self._anchor(program, mixture, permutations, effort))
        claim = SolverClaim("highs", chosen.stopped or "optimal", program.sign * chosen.value, time.monotonic() - begun)
        return Answer(
            claim,
            None,
            program.outputs,
            bound.dual,
            stopped=chosen.stopped or bound.stopped,
            notes=tuple(notes),
            mixing=mixing,
            relaxed=relaxed,
        )

    @staticmethod
    def _with_cut(program: Program, mixture: Mixture, scores: FloatArray) -> tuple[Program, str]:
        """The program with the row that the prices of the weights make: true of every mixture, in exact arithmetic,
        and as good for this objective as all weights are."""
        table = whole(scores)
        limit = mixture.most(table)
        assert limit is not None
        terms = tuple((x, y, Fraction(value)) for x, row in enumerate(table) for y, value in enumerate(row) if value)
        scale = max((abs(value) for *_, value in terms), default=Fraction(1))
        terms = tuple((x, y, value / scale) for x, y, value in terms)
        cut = Row("mixture", "<=", limit / scale, terms)
        note = (
            "the certificate holds the one inequality of all such mixtures that this bound needs, derived exactly; "
            "that the mechanism is one is shown by solution.decomposition"
        )
        return replace(program, rows=(*program.rows, cut)), note

    @staticmethod
    def _anchor(
        program: Program, mixture: Mixture, permutations: Sequence[Places], effort: Effort
    ) -> tuple[tuple[Places, ...], FloatArray]:
        """A mixture with slack in the inequalities, of the same permutations where their number is limited."""
        only = permutations if mixture.max_terms is not None else None
        found = Master(program, mixture, only).solve(effort, slack=True)
        if found is None or found.given > ELASTIC:
            return tuple(permutations), np.zeros(0)
        used = [j for j, weight in enumerate(found.weights) if weight > LEAST]
        return tuple(found.permutations[j] for j in used), found.weights[used]

    def _fewer(self, program: Program, mixture: Mixture, loose: Mixed, effort: Effort) -> tuple[Mixed | None, str]:
        """(the best mixture of at most `max_terms` permutations that an integer programme finds, what HiGHS claims to
        be its bound where all permutations were there to choose from)."""
        assert mixture.max_terms is not None
        from itertools import permutations as orders

        if mixture.listed is not None:
            pool, every = list(mixture.listed), True
        elif math.factorial(mixture.size) <= CHOICES:
            pool, every = list(orders(range(mixture.size))), True
        else:
            # Those that the relaxation uses or looked at, the used ones first.
            ranked = sorted(range(len(loose.permutations)), key=lambda j: -loose.weights[j])
            pool, every = [loose.permutations[j] for j in ranked[:CHOICES]], False
        master = Master(program, mixture, pool)
        model, count = master.model, len(pool)
        cells = mixture.size**2
        aux = model.matrix.shape[1] - cells
        table = model.cost[:cells].reshape(mixture.size, -1)
        limits = [mixture.limits(places) for places in pool]
        low = sparse.diags([float(least) for least, _ in limits])
        high = sparse.diags([float(most) for _, most in limits])
        one = np.ones((1, count))
        matrix = sparse.bmat(
            [
                [model.matrix[:, cells:], master.columns(pool), None],
                [None, one, None],
                [None, sparse.identity(count), -high],
                [None, -sparse.identity(count), low],
                [None, None, one],
            ],
            format="csc",
        )
        answer = solve_milp(
            -np.concatenate(
                [
                    model.cost[cells:],
                    [sum(table[x, y] for x, y in enumerate(places)) for places in pool],
                    np.zeros(count),
                ]
            ),
            matrix,
            np.concatenate([model.row_lower, [1.0], np.full(2 * count, -np.inf), [0.0]]),
            np.concatenate([model.row_upper, [1.0], np.zeros(2 * count), [float(mixture.max_terms)]]),
            np.concatenate([np.zeros(aux + count), [float(least > 0) for least, _ in limits]]),
            np.concatenate([np.full(aux, np.inf), np.ones(2 * count)]),
            np.repeat([False, True], [aux + count, count]),
            effort.remaining(),
            effort.interrupted,
        )
        claimed = f"a bound of {-program.sign * answer.bound:.9g}" if every and np.isfinite(answer.bound) else ""
        if every and answer.status == "infeasible":
            claimed = "that there is none of so few"
        if answer.x is None:
            return None, claimed
        picked = [pool[j] for j in np.flatnonzero(answer.x[aux + count :] > 0.5)]
        found = Master(program, mixture, picked).solve(effort)
        return (None if found is None or found.given > ELASTIC else found), claimed
