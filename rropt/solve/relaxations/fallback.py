"""The `fallback` method, for what no other method takes whole: any objective with any constraints.

Without some of its constraints another method takes the problem, and its bound is a bound here too: the best of several
such bounds is kept. Mechanisms come from those relaxations, as far as the constraints allow, and from local searches.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np

from rropt.errors import NoMethod, Refusal
from rropt.io.clock import LATE
from rropt.program.cones import Cone, FreeCone, PolyhedralCone
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.design_utilities import DesignUtility
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.extras import Extra
from rropt.program.limits import Convex, PosteriorRisk, Sum
from rropt.program.permutation_mixtures import Mixture
from rropt.program.programs import (
    BayesGain,
    ChiSquare,
    ColumnSum,
    Information,
    Linear,
    Program,
    RowEntropy,
    Sense,
    Utility,
)
from rropt.prove.minorant import Majorant, Minorant
from rropt.prove.steps import EXTRAS, PARTS, Step, drop, relax
from rropt.solve.engine.budget import RISE
from rropt.solve.engine.curves import has_curve
from rropt.solve.engine.method import AUTO, Answer, Dual, Method, SolveLimits, SolverClaim, solve_part
from rropt.solve.engine.polyhedral import farkas_candidate
from rropt.solve.entropy.conic import no_mechanism
from rropt.solve.relaxations.composed import BOUNDING, LONGEST, SEARCHING, SHORTEST, ComposedMethod, left_from_now
from rropt.solve.relaxations.local import LocalSearch
from rropt.solve.risk.blocks import answer_blocks

LEVEL = 1e-9
"""Bounds that differ by less, relative to their size, are as good: a proof that is machine-checked is preferred."""

MIXTURE, OBSERVED = "weights of permutations", "all distributions of the set but the observed one"
WORDS = {
    "entropy": "the entropy floor",
    "approximate": "approximate privacy",
    "identification_risk": "the bound on identification risk",
    "structure": "one number off the diagonal",
    "limits": "limits on mutual information",
    MIXTURE: "bounds on " + MIXTURE,
    "rows": "constraints on the whole matrix",
    OBSERVED: OBSERVED,
    "cone_rows": "further rows of the cone",
    "cone": "constraints on single columns",
}
"""The constraints that may be left out, and their names in messages."""
ALONE = {OBSERVED, "cone_rows", "cone"}
"""The constraints on every column by itself."""


@dataclass(frozen=True)
class Relaxation:
    """A program without the constraints `dropped`, and the method that takes it. `entropy_floor` leads to it, as in an
    answer."""

    dropped: frozenset[str]
    program: Program
    method: Method
    relaxed: tuple[Program | Step, ...]


class FallbackMethod(ComposedMethod):
    """A local search, and the best bound without some of the constraints."""

    name = "fallback"
    because = (
        "no other method takes it whole: the bound is that without some constraints, and a local search finds a "
        "mechanism"
    )
    takes = (Extra, Cone, Utility)
    goals = "takes mutual information, Bayes gains and their sums, maximises entropy, and minimises risks of estimation"
    solvers = ()

    def takes_goal(self, program: Program) -> bool:
        utility = program.utility
        if isinstance(utility, Sum):
            signs = [(program.sign * weight, part) for weight, part in utility.parts]
            return all(self.takes_goal(replace(program, sense=_SENSE[sign > 0], utility=part)) for sign, part in signs)
        if isinstance(utility, (ColumnSum, RowEntropy)):
            return program.sense == "maximize" or isinstance(utility, (Information, ChiSquare, BayesGain))
        return isinstance(utility, Linear) or (isinstance(utility, DesignUtility) and program.sense == "minimize")

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if isinstance(program.utility, ColumnSum) and program.utility.gradient(np.ones((program.size, 1))) is None:
            return Refusal("fallback needs the objective's gradient", "give UserColumnSum a slope")
        with suppress(NoMethod):
            return Refusal(
                f"fallback is for problems that no other method takes, and {self._choose(program).name} takes this one",
                AUTO,
            )
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        begun, left = time.monotonic(), left_from_now(effort, LONGEST / BOUNDING)
        bound, answer, offered = np.inf, None, []
        dropped: frozenset[str] = frozenset()
        loose = program
        relaxations = self._relaxations(program)
        for number, one in enumerate(relaxations):
            if number and left(BOUNDING) <= 0:
                break
            reached, tried = _bounded(one, effort, max(left(BOUNDING) / (len(relaxations) - number), SHORTEST))
            if tried.farkas is not None:
                return tried
            offered += [] if tried.matrix is None else [tried.matrix]
            # The universal bound of LDP is proved without multipliers.
            if (tried.dual is not None or has_curve(one.program)) and _is_below(reached, bound):
                bound, answer, dropped, loose = reached, tried, one.dropped, one.program
        # Beside rows alone no known bound is below that of the columns under LDP, and it may take as long.
        settled = answer is not None and not program.extras and dropped == {"rows"} and has_curve(loose)
        known = None if settled else self._relaxed_bound(program)
        plain = np.inf if known is None else program.sign * float(known[0])
        if _is_below(plain, bound):
            bound, answer = plain, None
        effort.monitor(None, program.sign * bound if np.isfinite(bound) else None)
        return self._searched(program, effort, begun, offered, lambda: left(SEARCHING) <= 0, answer, dropped, bound)

    def _searched(
        self,
        program: Program,
        effort: SolveLimits,
        begun: float,
        offered: list[np.ndarray],
        over: Callable[[], bool],
        answer: Answer | None,
        dropped: frozenset[str],
        bound: float,
    ) -> Answer:
        risk = program.extra(PosteriorRisk)
        if risk is not None and risk.blocks is not None:
            blocks = answer_blocks(program)
            return replace(blocks, dual=None) if answer is None else replace(answer, draft=blocks.draft)
        # A mechanism that reaches the bound needs no search.
        search = LocalSearch(program, effort, lambda: over() or search.worth >= bound - RISE * abs(bound))
        # What was found before its end is kept: one step may take longer than what is left.
        effort.clock.within(LATE / 2, lambda: search.run(offered))
        if search.draft is None:
            return _without_mechanism(program, effort, answer)
        value = program.sign * search.worth
        notes = ["a local search found the mechanism"]
        if answer is not None:
            without = " and ".join(words for part, words in WORDS.items() if part in dropped)
            notes = [f"{notes[0]}; the bound is that " + (f"without {without}" if without else "of linear costs")]
        stopped = effort.stopped() or ("" if answer is None else answer.claim.stopped)
        claim = SolverClaim("rropt", stopped or "a local optimum", value, time.monotonic() - begun, tuple(notes))
        if answer is None:
            return Answer(claim, search.draft)
        return Answer(claim, search.draft, answer.dual, answer.relaxed)

    def _takes(self, program: Program) -> bool:
        """Whether another method takes a program."""
        with suppress(NoMethod):
            self._choose(program)
            return True
        return False

    def _relaxations(self, program: Program) -> list[Relaxation]:
        """The least relaxations that a method takes, then those without any constraint between the columns."""
        parts = _parts(program)
        found: list[Relaxation] = []
        for count in range(0 if isinstance(program.utility, Sum) else 1, len(parts) + 1):
            for dropped in map(frozenset, combinations(parts, count)):
                least = not any(one.dropped <= dropped for one in found)
                if least or set(parts) - dropped <= ALONE:
                    found += self._relaxation(program, dropped)
        return found

    def _relaxation(self, program: Program, dropped: frozenset[str]) -> list[Relaxation]:
        """The relaxation without these parts, where another method takes it."""
        loose, cone = program.without(Mixture) if MIXTURE in dropped else program, program.cone
        if OBSERVED in dropped:
            if "cone" in dropped:
                return []
            assert isinstance(cone, ConfidenceCone)
            loose = replace(loose, cone=observed(cone))
        parts = [part for part in PARTS if part in dropped]
        steps = drop(loose, parts)
        last = relax(loose, steps)
        if not last.rows and not last.extras and isinstance(last.utility, (ColumnSum, DesignUtility)):
            # Labels that nothing names are left free, and so is their number.
            steps = drop(loose, [*parts, "outputs"])
            last = relax(loose, steps)
        if isinstance(last.utility, Sum) and not self._takes(last):
            straight = _straight(last)
            steps, last = (*steps, *straight), relax(last, straight)
        try:
            method = self._choose(last)
        except NoMethod:
            return []
        # What no step leaves out is left out of the certificate's problem, whose objective is that of `program`.
        return [Relaxation(dropped, last, method, steps if loose is program else (loose, *steps))]


_SENSE: tuple[Sense, Sense] = ("minimize", "maximize")


def _straight(program: Program) -> tuple[Step, ...]:
    """Steps that put linear costs in the place of the parts of a sum; none where the outputs, or a part, forbid it."""
    utility = program.utility
    assert isinstance(utility, Sum)
    if program.outputs is None or not all(isinstance(part, Convex) for _, part in utility.parts):
        return ()
    found: list[Step] = []
    for weight, part in utility.parts:
        assert isinstance(part, Convex)
        count = len(part.gain) if isinstance(part, BayesGain) else program.size
        ones = ((1,) * count,) * len(program.outputs)
        bends = program.sign * weight > 0
        found.append(Majorant(part, 0) if bends else Minorant(part, ones, part=0))
    return tuple(found)


def _parts(program: Program) -> list[str]:
    """The constraints that can be left out, those first that are expected to matter least."""
    cone = program.cone
    parts = [part for part, kind in EXTRAS.items() if program.extra(kind) is not None]
    parts += [MIXTURE] if program.extra(Mixture) is not None else []
    parts += ["rows"] if program.rows else []
    if isinstance(cone, ConfidenceCone):
        return [*parts, OBSERVED, "cone"]
    if isinstance(cone, PolyhedralCone) and not isinstance(cone.base, FreeCone):
        return [*parts, "cone_rows"]
    return parts if isinstance(cone, FreeCone) else [*parts, "cone"]


def observed(cone: ConfidenceCone) -> Cone:
    """The polyhedral cone around an exact one that the observed conditional distributions alone make: they are among
    those of every set."""
    size, gamma = len(cone.counts), cone.level.ratio.upper
    rows = tuple(
        tuple(
            cone.conditional[x] if x in one else -gamma * cone.conditional[x] if x in other else Fraction(0)
            for x in range(size)
        )
        for (s, one), (z, other) in permutations(enumerate(cone.blocks), 2)
        if cone.masses[s] and cone.masses[z]
    )
    return PolyhedralCone(FreeCone(), rows) if rows else FreeCone()


def _is_below(one: float, other: float) -> bool:
    """Whether a bound is better than another one by more than LEVEL."""
    return one < other - (LEVEL * abs(other) if np.isfinite(other) else 0.0)


def _bounded(one: Relaxation, effort: SolveLimits, seconds: float) -> tuple[float, Answer]:
    """(the bound in floats, in the sense of a maximisation, the answer) of a relaxation in so much time."""
    answer, reached = solve_part(one.method, one.program, effort, seconds)
    if answer.stated is not None:
        return reached, answer
    return reached, replace(answer, relaxed=(*one.relaxed, *answer.steps))


def _without_mechanism(program: Program, effort: SolveLimits, answer: Answer | None) -> Answer:
    """The answer without a mechanism: the bound, or the proof that linear constraints and a floor leave none."""
    floor = tuple(extra for extra in program.extras if isinstance(extra, ConcaveFloor))
    cone = observed(program.cone) if isinstance(program.cone, ConfidenceCone) else program.cone
    plain = replace(program, sense="maximize", utility=Linear(()), extras=floor, cone=cone)
    farkas: Dual | None = None
    if program.outputs is not None and not effort.stopped():
        farkas = no_mechanism(plain, effort) if floor else farkas_candidate(plain, effort)
    claim = SolverClaim("rropt", effort.stopped() or "no mechanism was found", None, 0.0)
    if farkas is not None:
        return Answer(claim, farkas, relaxed=plain)
    return Answer(claim) if answer is None else Answer(claim, None, answer.dual, answer.relaxed)
