"""Linear and logistic regression where the response, covariates or both were randomised: corrected estimating equations.

Let x be the values of the randomised columns of a record, and s_i(x) the scores of record i: their expectation, given
the true values, is 1 for the true x and 0 for all others (`rropt.estimation.scoring`). A regression on true values
solves sum_i w_i psi(x_i, z_i; b) = 0 with psi = z (y - mean(z'b)). Here b solves

    sum_i w_i psi_i(b) = 0,   psi_i(b) = sum_x s_i(x) psi(x, z_i; b).

Given the true values, the expectation of psi_i is psi at these. So the equation is unbiased at the coefficients of the
regression on true values, whatever the distribution of the covariates is. The covariance is that of an estimating
equation (sandwich): J^-1 M J^-T with J = sum_i w_i d psi_i / db and M = n / (n - 1) sum_i w_i^2 psi_i psi_i'.

Source: Nakamura 1990, "Corrected score function for errors-in-variables models"; Akazawa, Kinukawa and Nakamura 1998, "A
note on the corrected score function adjusting for misclassification".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

from rropt.errors import InputError, counted
from rropt.estimation.normal import NormalEstimates
from rropt.io.arguments import checked
from rropt.io.tables import MOST, Table, further

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Regression"]

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Model = Literal["linear", "logistic"]
STEPS = 100
"""Steps of Newton's method at most; a few suffice where there is a solution."""
SOLVED = 1e-10
"""The last step, in units of covariates with variance 1."""
SINGULAR = 1e-10
"""Eigenvalues below this share of the largest are taken for zero."""


@checked
@dataclass(frozen=True, eq=False)
class Regression(NormalEstimates):
    r"""The q coefficients of a regression, estimated from n records of a release.

    `names` are the terms: "intercept", a column of numbers, or "COLUMN=CATEGORY" for a category other than the first.
    `values` (q) are the coefficients (of a "logistic" `model` differences of log odds), `covariance` (q x q) is theirs,
    `standard_errors` (q) and `intervals(level)` (q x 2) follow from it.
    `response` is the column, or "COLUMN=CATEGORY" for the indicator of one category. `notes` are remarks.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     fit = rr.release.estimate_regression(file, {"answer": response}, "age", ["answer"])
        ...     fit.names, fit.n
        (('intercept', 'answer=yes'), 80)
    """

    model: Model
    response: str
    names: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray
    n: int
    _: KW_ONLY
    notes: tuple[str, ...] = ()

    @property
    def probabilities(self) -> FloatArray:
        """For each coefficient the probability of an estimate farther from 0 if it is 0 (two-sided, normal)."""
        return np.asarray(2 * scipy.special.ndtr(-np.abs(self.values / self.standard_errors)))

    def plot(self, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw each coefficient with its interval (extra `plot`) into `ax`, by default into a new figure. Raises
        InputError."""
        from rropt.plots import intervals_picture

        said = (f"coefficient ({self.model}, {self.response})", "term", counted(self.n, "released answers"), level, ())
        return intervals_picture(self.names, self.values, self.intervals(level), *said, ax)

    def to_dict(self, level: float = 0.95) -> dict[str, object]:
        """Plain data: the fields, with standard_error, interval and probability."""
        return {
            "model": self.model,
            "response": self.response,
            "names": list(self.names),
            "estimate": self.values.tolist(),
            "standard_error": self.standard_errors.tolist(),
            "interval": self.intervals(level).tolist(),
            "probability": self.probabilities.tolist(),
            "covariance": self.covariance.tolist(),
            "n": self.n,
            "notes": list(self.notes),
        }

    def _tables(self, level: float = 0.95, most: int | None = MOST) -> Iterator[Table]:
        heads = ["term", "estimate", "standard error", f"{100 * level:g} % from", "to", "p"]
        numbers = np.column_stack([self.values, self.standard_errors, self.intervals(level)]).tolist()
        rows = [
            [name, *(f"{one:.6g}" for one in row), f"{p:.3g}"]
            for name, row, p in zip(self.names, numbers, self.probabilities.tolist(), strict=True)
        ]
        title = f"{self.model.capitalize()} regression of {self.response} ({counted(self.n, 'records')})"
        yield Table(title, rows[:most], heads, range(1, len(heads)))

    def _remarks(self) -> Iterator[str]:
        yield from further(len(self.names), "further terms")
        yield from (f"note: {line}" for line in self.notes)


@dataclass(frozen=True)
class Combination:
    """One combination x of values of the randomised columns: the `scores` of the n records, the terms that it decides
    (`constant`, one number for each column of dummies), and the response if that is randomised (else None)."""

    scores: FloatArray
    constant: FloatArray
    response: float | None


def fitted(
    model: Model,
    known: FloatArray,
    combinations: Callable[[], Iterator[Combination]],
    response: FloatArray | None,
    weights: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """(q coefficients, their covariance) of the terms `known` (n x a, the first one the intercept) and then those that
    the combinations decide, by the corrected equations. `response` (n) is None where it is randomised. Raises InputError
    where they have no solution."""
    n = len(known)
    centre, scale = known.mean(axis=0), known.std(axis=0)
    centre[0], scale[0] = 0.0, 1.0
    if not scale.all():
        raise _no_solution("a covariate has one value only", "leave it out")
    z = (known - centre) / scale
    dummies = len(next(combinations()).constant)
    q = z.shape[1] + dummies

    def equations(b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """psi (n x q) and the Jacobian (q x q) of its weighted sum, with the sign of a covariance."""
        psi, jacobian = np.zeros((n, q)), np.zeros((q, q))
        part = z @ b[: z.shape[1]]
        for one in combinations():
            eta = part + one.constant @ b[z.shape[1] :]
            mean, slope = (scipy.special.expit(eta), None) if model == "logistic" else (eta, np.ones(n))
            slope = mean * (1 - mean) if slope is None else slope
            off = one.scores * ((response if one.response is None else one.response) - mean)
            psi[:, : z.shape[1]] += off[:, None] * z
            psi[:, z.shape[1] :] += off[:, None] * one.constant
            terms = np.column_stack([z, np.broadcast_to(one.constant, (n, dummies))])
            jacobian += (terms * (weights * one.scores * slope)[:, None]).T @ terms
        return psi, jacobian

    b = np.zeros(q)
    psi, jacobian = equations(b)
    for _ in range(STEPS):
        step = _solve(jacobian, weights @ psi)
        size, before = 1.0, np.abs(weights @ psi).sum()
        while True:
            new_psi, new_jacobian = equations(b + size * step)
            # A full step may leave the region where the equations have a solution.
            if np.abs(weights @ new_psi).sum() < before or size < 1e-6 or np.abs(step).max() < SOLVED:
                break
            size /= 2
        b, psi, jacobian = b + size * step, new_psi, new_jacobian
        if np.abs(step).max() < SOLVED * max(1.0, float(np.abs(b).max())):
            break
    else:
        raise _no_solution("the corrected equations have no solution that Newton's method finds")
    eigen = np.linalg.eigvalsh(jacobian)
    if eigen[0] <= SINGULAR * eigen[-1]:
        raise _no_solution("the corrected equations have no stable solution")
    inverse = np.linalg.inv(jacobian)
    moved = psi * weights[:, None]
    covariance = inverse @ (moved.T @ moved) @ inverse.T * n / (n - 1)
    # Back to the units of the covariates.
    back = np.diag(np.concatenate([1 / scale, np.ones(dummies)]))
    back[0, : len(scale)] -= centre / scale
    back[0, 0] = 1.0
    return back @ b, back @ covariance @ back.T


def _solve(jacobian: FloatArray, gradient: FloatArray) -> FloatArray:
    singular = _no_solution("the covariates are collinear, or determined by too few records")
    try:
        found = np.linalg.solve(jacobian, gradient)
    except np.linalg.LinAlgError:
        raise singular from None
    spread = np.abs(np.linalg.eigvalsh(jacobian))
    if not np.isfinite(found).all() or spread.min() <= 1e-13 * spread.max():
        raise singular
    return np.asarray(found)


def _no_solution(what: str, remedy: str = "leave covariates out, merge categories, or use more records") -> InputError:
    return InputError(what, "regression", remedy)


def terms_of(column: str, categories: Sequence[str]) -> list[str]:
    """The names of the terms of a column of categories: all but the first."""
    return [f"{column}={label}" for label in categories[1:]]
