"""Transformers of scikit-learn: `RandomizedColumn` is a mechanism, `RandomizedEncoder` encodes randomised columns."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import Conflict, InputError, Missing, OutOfRange, UnknownName, WrongType, counted, shown
from rropt.exact import exp_enclosure, rational
from rropt.io.arguments import checked
from rropt.io.counts import clean_labels
from rropt.io.extras import need
from rropt.io.types import Label
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.garbling import explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import misleading
from rropt.mechanisms.sampling.labels import codes_of, label_of, relabel
from rropt.problem import Problem
from rropt.release.plans.cross import joined
from rropt.release.plans.provenance import load_mechanism
from rropt.solve.designs.symmetric import even_mechanism

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


@checked
class RandomizedEncoder(*_BASES):  # type: ignore[misc]
    """Randomise categorical columns and encode them without bias, in a scikit-learn pipeline.

    `epsilon` is for all `columns` of a record together, divided alike; `columns` are names or positions (None: all). Each
    column with k categories becomes k numbers, unbiased indicators of the true category (`rr.estimation.scores`); they
    come first, and the other columns follow as they are. The design of a column has the least estimation risk at equal
    frequencies. `categories` maps columns to their categories. With "auto" they are read from the X of `fit`, which
    epsilon does not cover; `learned_` then lists these columns.

    After `fit`: `mechanisms_` and `categories_` by column, `epsilon_` (of one transform of a record, rounded up),
    `learned_`, `n_features_in_`, `feature_names_in_` where X has names. Every call of `transform` draws anew, with secure
    randomness and no seed, and reveals `epsilon_` again. A value that is not a category is an error.

        >>> import rropt as rr
        >>> encoder = rr.release.RandomizedEncoder(epsilon=2, columns=[0], categories={0: ["no", "yes"]})
        >>> encoder.fit_transform([["no", 31.0], ["yes", 45.5]]).shape
        (2, 3)
    """

    def __init__(self, epsilon: Any = 1, *, columns: Any = None, categories: Any = "auto") -> None:
        if BaseEstimator is None:
            need("sklearn", "learn", "release")
        self.epsilon = epsilon
        self.columns = columns
        self.categories = categories

    def fit(self, X: Any, y: Any = None) -> RandomizedEncoder:
        """Make the designs; the values of X are read for categories that are not declared only. Raises InputError."""
        from rropt.estimation.scoring import scores
        from rropt.release.plans.odds import epsilon_above

        epsilon = rational(self.epsilon, "epsilon")
        if not 0 < epsilon <= MOST_EPSILON:
            raise OutOfRange(f"it is {shown(self.epsilon)}, not in (0, {MOST_EPSILON}]", "epsilon", "give such as 1")
        read, names = _read(X), _names(X)
        self.n_features_in_ = len(read)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._places = self._positions(names)
        given = {} if isinstance(self.categories, str) and self.categories == "auto" else self.categories
        if not isinstance(given, Mapping):
            raise WrongType(f"{shown(given)} is not a mapping", "categories", 'give {column: labels}, or "auto"')
        known = {one for place in self._places for one in (place, self._named(names)[place])}
        if strange := [one for one in given if one not in known]:
            raise UnknownName(f"{shown(strange[0])} is not encoded", "categories", "name the columns that are encoded")
        self.categories_, self.mechanisms_, self.learned_ = {}, {}, []
        self._tables, ratio = {}, Fraction(1)
        for place in self._places:
            name = self._named(names)[place]
            own = given.get(name, given.get(place))
            if own is None:
                self.learned_.append(name)
            labels = tuple(dict.fromkeys(_texts(read[place], name))) if own is None else clean_labels(own, "categories")
            mechanism = _least_risk(tuple(sorted(labels)) if own is None else labels, epsilon / len(self._places))
            self.categories_[name], self.mechanisms_[name] = mechanism.inputs, mechanism
            self._tables[place] = (
                scores(mechanism, mechanism.outputs).table if len(mechanism.inputs) > 1 else np.ones((1, 1))
            )
            ratio *= Fraction(mechanism.privacy_ratio)
        self.epsilon_ = epsilon_above(ratio)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Draw: n rows of scores and of the other columns, floats, or objects where another column is not of numbers.
        Raises InputError that counts and lists values that are no categories."""
        if not hasattr(self, "mechanisms_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this RandomizedEncoder is not fitted; call fit first")
        read, names = _read(X), _names(X)
        RandomizedColumn._compare_names(self, names)  # type: ignore[arg-type]
        if len(read) != self.n_features_in_:
            what = f"X has {len(read)} features, but RandomizedEncoder is expecting {self.n_features_in_} features as input"
            raise Conflict(what, "RandomizedEncoder", "give the columns of fit")
        parts = []
        for place, mechanism in zip(self._places, self.mechanisms_.values(), strict=True):
            codes = codes_of(_texts(read[place], place), mechanism.inputs)
            parts.append(self._tables[place][:, mechanism.sample(codes)].T)
        others = [one for place, one in enumerate(read) if place not in self._places]
        try:
            parts += [np.asarray(one, dtype=np.float64).reshape(-1, 1) for one in others]
        except (TypeError, ValueError):
            parts += [np.asarray(one, dtype=object).reshape(-1, 1) for one in others]
        return np.hstack(parts)

    def get_feature_names_out(self, input_features: Sequence[Label] | None = None) -> np.ndarray:
        """The names: "column=category" of the scores, then those of the other columns."""
        own = getattr(self, "feature_names_in_", None)
        names = self._named(None if own is None else own.tolist())
        if input_features is not None and list(map(str, input_features)) != [str(one) for one in names]:
            raise Conflict("they are not those of fit", "input_features", f"give {_listed(names)}, or leave them out")
        made = [
            f"{names[place]}={label}"
            for place, one in zip(self._places, self.categories_.values(), strict=True)
            for label in one
        ]
        return np.array(
            [*made, *(str(one) for place, one in enumerate(names) if place not in self._places)], dtype=object
        )

    def _named(self, names: list[str] | None) -> list[Any]:
        """The names of the columns; x0, x1 and so on where X has none."""
        return [f"x{at}" for at in range(self.n_features_in_)] if names is None else list(names)

    def _positions(self, names: list[str] | None) -> list[int]:
        if self.columns is None:
            return list(range(self.n_features_in_))
        if isinstance(self.columns, (str, bytes)) or not isinstance(self.columns, Sequence) or not len(self.columns):
            raise WrongType(f"{shown(self.columns)} is not a list of columns", "columns", 'as ["sex"], or None for all')
        known = self._named(names)
        found = []
        for one in self.columns:
            whole = isinstance(one, (int, np.integer)) and not isinstance(one, bool)
            if not (one in known or (whole and 0 <= one < len(known))):
                raise UnknownName(f"{shown(one)} is not a column", "columns", f"they are {_listed(known)}")
            found.append(known.index(one) if one in known else int(one))
        if len(set(found)) < len(found):
            raise Conflict("a column is named twice", "columns", "name each once")
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.requires_fit = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


MOST_EPSILON = 200
"""A larger epsilon leaves the answers as they are."""


def _least_risk(labels: tuple[str, ...], epsilon: Fraction) -> Mechanism:
    """The design of least risk at equal frequencies (subset selection), or k-RR where its sets are not found."""
    if len(labels) == 1:
        return Mechanism.from_rationals([[1]], inputs=labels, outputs=labels)
    made = even_mechanism(labels, exp_enclosure(epsilon).lower)
    return RandomizedResponse(labels, epsilon=epsilon).mechanism if made is None else made


def _read(X: Any) -> list[np.ndarray]:
    """The columns of X, which has records. Raises InputError."""
    if hasattr(X, "toarray"):
        raise WrongType("sparse matrices are not supported", "X", "give X.toarray()")
    shape = getattr(X, "shape", (0, 1))
    if len(shape) == 1:
        raise Conflict("it has one axis", "X", "Reshape your data: X.reshape(-1, 1) is one column")
    if len(shape) == 2 and shape[1] == 0:
        what = f"0 feature(s) (shape=({shape[0]}, 0)) while a minimum of 1 is required"
        raise Conflict(what, "X", "give at least one column")
    read = _columns(X)
    if any(np.iscomplexobj(one) for one in read):
        raise WrongType("Complex data not supported", "X", "give labels or numbers")
    if not len(read[0]):
        raise Conflict("0 sample(s): it has no records", "X", "give at least one")
    return read


def _texts(values: np.ndarray, name: object) -> list[str]:
    """The labels of a column's values: text, and the shortest text of a number. Raises InputError."""
    found = []
    for value in values.tolist():
        label = label_of(value)
        if label is None and isinstance(value, (float, np.floating)) and math.isfinite(value):
            label = str(int(value)) if float(value).is_integer() else repr(float(value))
        if not label:
            raise Missing(
                f"{shown(value)} is missing, or is no label (NaN and inf are none)", f"column {name}", "recode it"
            )
        found.append(label)
    return found


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
