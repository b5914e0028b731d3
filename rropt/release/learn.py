"""`RandomizedColumn`: a mechanism as a transformer of scikit-learn."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import Conflict, InputError, UnknownName, WrongType, counted, shown
from rropt.io.arguments import checked
from rropt.io.extras import need
from rropt.io.types import Label
from rropt.mechanisms.garbling import explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import misleading
from rropt.mechanisms.sampling.labels import relabel
from rropt.problem import Problem
from rropt.release.plans.cross import joined
from rropt.release.plans.provenance import load_mechanism

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError:  # raised when one is made, so that the name can be imported without scikit-learn
    BaseEstimator = TransformerMixin = None

_BASES: tuple[type, ...] = (object,) if BaseEstimator is None else (TransformerMixin, BaseEstimator)


@checked
class RandomizedColumn(*_BASES):  # type: ignore[misc]
    """Randomise one categorical column, or several jointly, in a scikit-learn pipeline.

    `mechanism`: a `Mechanism`, a family, or the path of a file that `rropt solve` wrote; or `problem`: a `Problem` that
    `fit` solves (the prior is the problem's own: learning it from the data would leak). X is n x 1 for a mechanism of
    single labels (an array, a list of rows, a frame), n x j for one of joint labels "s, u". What comes out are labels
    of the mechanism's outputs, one column, as objects.

    After `fit`: `mechanism_`, `epsilon_` (of one draw, nats, rounded up), `n_features_in_`, `feature_names_in_` where X
    has names. Every call of `transform` draws anew, with secure randomness and no seed, and leaks `epsilon_` again:
    transform a record once and keep the result. Names of columns must be those of `fit`, in its order; where only X or
    only `fit` had names, a UserWarning states it.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> column = rr.release.RandomizedColumn(response).fit([["no"], ["yes"]])
        >>> len(column.transform([["no"], ["yes"]]))
        2
    """

    def __init__(self, mechanism: Any = None, *, problem: Problem | None = None) -> None:
        if BaseEstimator is None:
            need("sklearn", "learn", "release")
        self.mechanism = mechanism
        self.problem = problem

    def fit(self, X: Any, y: Any = None) -> RandomizedColumn:
        """Find the mechanism and note the columns of X; its values are not used. Raises InputError."""
        from rropt.release.plans.odds import epsilon_above

        if (self.mechanism is None) == (self.problem is None):
            raise Conflict("give either mechanism or problem", "RandomizedColumn", "exactly one of the two is needed")
        if self.problem is not None:
            if not isinstance(self.problem, Problem):
                raise WrongType(
                    f"{type(self.problem).__name__} is not a Problem", "RandomizedColumn", "give rr.Problem(...)"
                )
            solution = self.problem.solve()
            if solution.mechanism is None:
                raise InputError(f"the problem is {solution.status}", "RandomizedColumn", "loosen its constraints")
            self.mechanism_: Mechanism = solution.mechanism
        elif isinstance(self.mechanism, (str, os.PathLike)):
            self.mechanism_ = load_mechanism(self.mechanism)
        else:
            self.mechanism_ = explicit(self.mechanism, "RandomizedColumn")
        if why := misleading(self.mechanism_):
            warnings.warn(f"the column would look like the data and is not: {why}", stacklevel=2)
        self.epsilon_ = epsilon_above(self.mechanism_.privacy_ratio)
        self.n_features_in_ = len(_columns(X))
        names = _names(X)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Draw: an n x 1 array of output labels. Raises InputError that counts and lists unknown and missing values."""
        return self._draw(self._fit(), X)

    def _fit(self) -> Mechanism:
        if not hasattr(self, "mechanism_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this RandomizedColumn is not fitted; call fit first")
        return self.mechanism_

    def _draw(self, mechanism: Mechanism, X: Any) -> np.ndarray:
        columns = _columns(X)
        self._compare_names(_names(X))
        if len(columns) != self.n_features_in_:
            raise Conflict(
                f"it has {counted(len(columns), 'columns')}, not {self.n_features_in_}", "X", "give those of fit"
            )
        if len(columns) == 1:
            labels = columns[0]
        else:
            labels = np.empty(len(columns[0]), dtype=object)
            labels[:] = [_joint(parts) for parts in zip(*(column.tolist() for column in columns), strict=True)]
        drawn = relabel(labels, mechanism.inputs, mechanism.outputs, mechanism.sample)
        return np.asarray(drawn, dtype=object).reshape(-1, 1)

    def _compare_names(self, names: list[str] | None) -> None:
        """The rules of scikit-learn: values of a record are taken by position, and only names distinguish columns."""
        known = getattr(self, "feature_names_in_", None)
        fitted = None if known is None else known.tolist()
        if names == fitted:
            return
        if names is not None and fitted is not None:
            raise Conflict(
                f"its columns are {_listed(names)}, and those of fit were {_listed(fitted)}",
                "X",
                "give the columns of fit, in their order",
            )
        said = (
            "X has names of columns; fit had none"
            if fitted is None
            else f"X has no names of columns; fit had {_listed(fitted)}"
        )
        warnings.warn(f"{said}: whether the columns are the same cannot be compared", stacklevel=4)

    def estimate(self, X: Any, *, method: str = "unbiased", **options: Any) -> Estimate:
        """The frequencies of the true values, with errors, from transformed ones: the inverse in expectation, which
        does not exist for single records. `X` is n x 1, as `transform` returns it, and its name, if it has one, that
        of `get_feature_names_out`, also after a "step__"; `method` and `options` as `Mechanism.estimate`."""
        mechanism = self._fit()
        columns = _columns(X)
        if len(columns) != 1:
            raise Conflict(f"it has {counted(len(columns), 'columns')}", "X", "give the one that transform returned")
        names, own = _names(X), self.get_feature_names_out()[0]
        if names is not None and hasattr(self, "feature_names_in_") and not f"__{names[0]}".endswith(f"__{own}"):
            raise Conflict(f"its column is {names[0]!r}, not {own!r}", "X", "give the one that transform returned")
        place = {label: y for y, label in enumerate(mechanism.outputs)}
        unknown = sorted({str(value) for value in columns[0].tolist() if value not in place})
        if unknown:
            raise UnknownName(f"{unknown[0]!r} is not an output of the mechanism", "X", "give what transform returned")
        found = np.array([place[value] for value in columns[0].tolist()], dtype=np.intp)
        return mechanism.estimate(np.bincount(found, minlength=len(place)), method=method, **options)

    def get_feature_names_out(self, input_features: Sequence[Label] | None = None) -> np.ndarray:
        """The name of the one output column: that of the input, or of all inputs joined by "_"."""
        self._fit()
        own = getattr(self, "feature_names_in_", None)
        names = [f"x{at}" for at in range(self.n_features_in_)] if own is None else own.tolist()
        if input_features is not None:
            given = list(map(str, input_features))
            if len(given) != len(names) or (own is not None and given != names):
                raise Conflict(f"they are {_listed(given)}", "input_features", f"give those of fit: {_listed(names)}")
            names = given
        return np.array(["_".join(map(str, names))], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.requires_fit = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _columns(X: Any) -> list[np.ndarray]:
    """The columns of X, each an array of n values. Raises InputError unless X has two axes."""
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        # Column by column: a frame's types must not be made one.
        return [np.asarray(X[name], dtype=object) for name in X.columns]
    array = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
    if array.ndim != 2 or array.shape[1] == 0:
        raise Conflict(f"it has shape {array.shape}", "X", "give n x 1: X[[name]] of a frame, reshape(-1, 1)")
    return list(array.T)


def _names(X: Any) -> list[str] | None:
    """The names of the columns of a frame; None where X has none that are text. Raises InputError if only some are."""
    names = list(X.columns) if hasattr(X, "columns") and hasattr(X, "to_numpy") else []
    texts = [name for name in names if isinstance(name, str)]
    if texts and len(texts) < len(names):
        raise WrongType(f"its columns are {_listed(names)}, which are not all text", "X", "name them as those of fit")
    return texts or None


def _listed(names: Sequence[object], most: int = 6) -> str:
    return ", ".join(map(shown, names[:most])) + (", ..." if len(names) > most else "")


def _joint(parts: tuple[Any, ...]) -> str | None:
    """The joint label of one record; None, which is unknown, where a part can be not a label."""
    plain = [
        part if isinstance(part, str) else str(int(part))
        for part in parts
        if isinstance(part, (str, int, np.integer)) and not isinstance(part, (bool, np.timedelta64))
    ]
    return joined(plain) if len(plain) == len(parts) and all(plain) else None
