"""`RandomizedColumn` in pipelines: the mechanism's law, its domain, names, and the way back to frequencies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.release import CrossClassification

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

LABELS = ("a", "b", "c")
ABC = RandomizedResponse(LABELS, epsilon=1)


def shifted(labels: Any) -> Mechanism:
    """Gives the next label, always."""
    size = len(labels)
    rows = [[int(y == (x + 1) % size) for y in range(size)] for x in range(size)]
    return Mechanism.from_matrix(rows, inputs=labels, outputs=labels, denominator=1)


def column(values: list[Any]) -> np.ndarray:
    return np.array(values, dtype=object).reshape(-1, 1)


def test_it_draws_from_the_mechanism() -> None:
    made = rr.release.RandomizedColumn(shifted(LABELS)).fit_transform(column(["a", "b", "c"]))
    assert made.tolist() == [["b"], ["c"], ["a"]]
    assert made.dtype == object
    for given in ([["1"], ["2"]], [[1], [2]], np.array([[1], [2]], dtype=np.int8)):
        assert rr.release.RandomizedColumn(shifted(["1", "2"])).fit_transform(given).tolist() == [["2"], ["1"]]


def test_every_transform_draws_anew_and_says_what_it_costs() -> None:
    fitted = rr.release.RandomizedColumn(ABC).fit(column(["a"]))
    first, second = (fitted.transform(column(["a"] * 500)) for _ in range(2))
    assert (first != second).any()
    assert 0.999 < fitted.epsilon_ <= 1


def test_a_problem_is_solved_by_fit_without_a_look_at_the_data() -> None:
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=list(LABELS))
    one = rr.release.RandomizedColumn(problem=problem).fit(column(["b"]))
    other = rr.release.RandomizedColumn(problem=problem).fit(column(["no label at all"]))
    assert one.mechanism_.numerators == other.mechanism_.numerators
    assert one.epsilon_ <= 1
    assert one.mechanism_.inputs == LABELS


def test_a_mechanism_file(tmp_path: Path) -> None:
    shifted(LABELS).save(tmp_path / "mechanism.json")
    for path in (tmp_path, tmp_path / "mechanism.json", str(tmp_path)):
        assert rr.release.RandomizedColumn(path).fit_transform(column(["c"])).tolist() == [["a"]]


def test_the_way_back_is_to_the_frequencies() -> None:
    rng = np.random.default_rng(1)
    truth = np.array([0.7, 0.2, 0.1])
    fitted = rr.release.RandomizedColumn(ABC).fit(column(["a"]))
    made = fitted.transform(column(np.array(LABELS, dtype=object)[rng.choice(3, 50_000, p=truth)].tolist()))
    found = fitted.estimate(made)
    # A right estimate fails here about once in a million runs.
    assert (np.abs(found.values - truth) < 5 * found.standard_errors + 0.01).all()
    counts = [int((made == label).sum()) for label in LABELS]
    assert np.array_equal(found.values, ABC.estimate(counts).values)
    assert fitted.estimate(made, method="projected").method == "projected"
    with pytest.raises(InputError, match="'z' is not an output"):
        fitted.estimate(column(["z"]))


def test_in_a_pipeline_with_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": ["a", "b", "c"] * 100, "n": range(300)})
    work = make_pipeline(
        ColumnTransformer(
            [
                (
                    "noisy",
                    make_pipeline(rr.release.RandomizedColumn(ABC), OneHotEncoder(categories=[list(LABELS)])),
                    ["x"],
                )
            ],
            remainder="passthrough",
        )
    )
    assert work.fit_transform(frame).shape == (300, 4)
    fitted = rr.release.RandomizedColumn(shifted(LABELS)).set_output(transform="pandas").fit(frame[["x"]])
    made = fitted.transform(frame[["x"]])
    assert list(made.columns) == ["x"] == fitted.get_feature_names_out().tolist()
    assert made["x"].tolist() == ["b", "c", "a"] * 100
    copy = clone(fitted)
    assert copy.get_params()["mechanism"] is not None
    with pytest.raises(NotFittedError):
        copy.transform(frame[["x"]])


def test_joint_columns() -> None:
    pandas = pytest.importorskip("pandas")
    cross = CrossClassification({"s": ["m", "f"], "n": [1, 2]}, impossible=[{"s": "m", "n": "2"}])
    frame = pandas.DataFrame({"s": ["m", "f", "f"], "n": [1, 1, 2]})
    made = rr.release.RandomizedColumn(shifted(cross.labels)).fit_transform(frame)
    assert made.ravel().tolist() == ["f, 1", "f, 2", "m, 1"]
    with pytest.raises(InputError, match="1 of 1 is unknown: 'm, 2'"):
        rr.release.RandomizedColumn(shifted(cross.labels)).fit_transform(frame.iloc[:1].assign(n=2))


def test_unknown_and_missing_values_are_counted() -> None:
    with pytest.raises(InputError, match="4 of 5 are unknown"):
        rr.release.RandomizedColumn(ABC).fit_transform(column(["a", "z", None, 1.5, True]))


@pytest.mark.parametrize(
    ("keys", "given", "what"),
    [
        ({}, [["a"]], "either mechanism or problem"),
        ({"mechanism": ABC, "problem": 3}, [["a"]], "either mechanism or problem"),
        ({"problem": 3}, [["a"]], "is not a Problem"),
        ({"mechanism": 3}, [["a"]], "is not a mechanism"),
        ({"mechanism": "none.json"}, [["a"]], "cannot read this mechanism file"),
        ({"mechanism": ABC}, ["a"], r"shape \(1,\)"),
        ({"mechanism": ABC}, np.empty((2, 0)), "shape"),
        ({"mechanism": ABC}, [["a", "b"]], "unknown: 'a, b'"),
    ],
)
def test_bad_use(keys: dict[str, Any], given: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        rr.release.RandomizedColumn(**keys).fit_transform(given)


def test_an_infeasible_problem_has_no_mechanism() -> None:
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.Floor(0.9)], inputs=list(LABELS))
    with pytest.raises(InputError, match="infeasible"):
        rr.release.RandomizedColumn(problem=problem).fit(column(["a"]))


def test_other_columns_than_those_of_fit() -> None:
    fitted = rr.release.RandomizedColumn(ABC).fit(column(["a"]))
    with pytest.raises(InputError, match="it has 2 columns, not 1"):
        fitted.transform([["a", "b"]])


LIVES = ("no, no", "no, yes", "yes, no", "yes, yes")


def lives() -> Any:
    """Two columns with the same values, of which only the names say which is which."""
    return pytest.importorskip("pandas").DataFrame({"smokes": ["yes"] * 4, "drinks": ["no"] * 4})


OTHER_NAMES: dict[str, tuple[Any, str]] = {
    "another order": (
        lambda frame: frame[["drinks", "smokes"]],
        "^X: its columns are 'drinks', 'smokes', and those of fit were 'smokes', 'drinks'; give",
    ),
    "another name": (
        lambda frame: frame.rename(columns={"smokes": "runs"}),
        "its columns are 'runs', 'drinks', and those of fit",
    ),
    "a name that is a number": (lambda frame: frame.rename(columns={"smokes": 1}), "its columns are 1, 'drinks'"),
}


@pytest.mark.parametrize(("change", "what"), OTHER_NAMES.values(), ids=OTHER_NAMES)
def test_columns_with_other_names_than_those_of_fit(change: Any, what: str) -> None:
    """Joint labels are put together by position: exchanged columns exchanged the frequencies of two attributes."""
    frame = lives()
    fitted = rr.release.RandomizedColumn(shifted(LIVES)).fit(frame)
    assert fitted.transform(frame).ravel().tolist() == ["yes, yes"] * 4
    with pytest.raises(ValueError, match=what) as caught:
        fitted.transform(change(frame))
    assert isinstance(caught.value, InputError)
    assert "fit" in str(caught.value)


def test_names_on_one_side_only_are_warned_of() -> None:
    """As scikit-learn does, which cannot compare them."""
    frame = lives()
    named = rr.release.RandomizedColumn(shifted(LIVES)).fit(frame)
    with pytest.warns(UserWarning, match="X has no names of columns; fit had 'smokes', 'drinks'"):
        named.transform(frame.to_numpy())
    bare = rr.release.RandomizedColumn(shifted(LIVES)).fit(frame.to_numpy())
    with pytest.warns(UserWarning, match="X has names of columns; fit had none"):
        bare.transform(frame)
    again = named.fit(frame.to_numpy())
    assert not hasattr(again, "feature_names_in_"), "fit forgets the names of an earlier one"


def test_estimates_of_another_column() -> None:
    """Two columns have the same labels: only its name tells one released column from the other."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"smokes": ["a", "b", "c"] * 20})
    fitted = rr.release.RandomizedColumn(ABC).fit(frame)
    made = fitted.transform(frame)
    for name in ("smokes", "noisy__smokes"):
        found = fitted.estimate(pandas.DataFrame(made, columns=[name]))
        assert np.array_equal(found.values, fitted.estimate(made).values)
    with pytest.raises(InputError, match="its column is 'drinks', not 'smokes'"):
        fitted.estimate(pandas.DataFrame(made, columns=["drinks"]))
    with pytest.raises(InputError, match="input_features"):
        fitted.get_feature_names_out(["drinks"])


# -- RandomizedEncoder ---------------------------------------------------------------------------------

CATEGORIES = {"ans": ["a", "b", "c"], "two": ["u", "v"]}


def people(n: int, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    frame = pytest.importorskip("pandas").DataFrame
    ans = np.array(LABELS, dtype=object)[rng.choice(3, n, p=[0.5, 0.3, 0.2])]
    return frame({"ans": ans, "age": rng.normal(size=n), "two": np.where(rng.random(n) < 0.3, "u", "v")})


def encoder(**keys: Any) -> Any:
    return rr.release.RandomizedEncoder(**{"columns": ["ans", "two"], "categories": CATEGORIES, **keys})


def test_encoded_columns_are_unbiased_indicators_of_the_declared_level() -> None:
    """The expectation of a score over the exact matrix is the indicator; the ratios of both designs keep the total."""
    made = encoder(epsilon=3).fit(people(10))
    assert list(made.get_feature_names_out()) == ["ans=a", "ans=b", "ans=c", "two=u", "two=v", "age"]
    ratio = 1.0
    for mechanism, table in zip(made.mechanisms_.values(), made._tables.values(), strict=True):
        np.testing.assert_allclose(mechanism.matrix @ table.T, np.eye(len(mechanism.inputs)), atol=1e-12)
        ratio *= float(mechanism.privacy_ratio)
    assert 2.99 < np.log(ratio) <= made.epsilon_ <= 3
    frame = people(40_000)
    coded = made.transform(frame)
    np.testing.assert_array_equal(coded[:, 5], frame["age"])
    np.testing.assert_allclose(coded[:, :3].sum(axis=1), 1, atol=1e-9)
    for at, name in enumerate(("a", "b", "c")):
        assert abs(coded[:, at].mean() - (frame["ans"] == name).mean()) < 6 * coded[:, at].std() / 200
    assert (made.transform(frame) != coded).any(), "every transform draws anew"


def test_the_search_over_epsilon_makes_other_designs() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    frame = people(400)
    pipe = make_pipeline(encoder(), LogisticRegression())
    search = GridSearchCV(pipe, {"randomizedencoder__epsilon": [0.5, 5]}, cv=2).fit(frame, frame["ans"] == "a")
    assert search.best_params_ == {"randomizedencoder__epsilon": 5}
    assert search.cv_results_["mean_test_score"][1] > 0.7
    again = clone(search.best_estimator_[0])
    assert again.get_params() == {"epsilon": 5, "columns": ["ans", "two"], "categories": CATEGORIES}
    with pytest.raises(NotFittedError):
        again.transform(frame)


def test_nothing_is_learned_unless_categories_are_left_out() -> None:
    one, other = (encoder().fit(people(20, seed)) for seed in (1, 2))
    assert one.learned_ == other.learned_ == []
    assert all(one.mechanisms_[name].numerators == other.mechanisms_[name].numerators for name in CATEGORIES)
    assert encoder(categories="auto").fit(people(50)).learned_ == ["ans", "two"]
    assert encoder(categories={"two": ["u", "v"]}).fit(people(50)).learned_ == ["ans"]


def test_scikit_learn_accepts_the_encoder() -> None:
    """All its checks that apply; draws differ from call to call, so two that compare them cannot pass."""
    # Older versions do not ask an estimator whether it is deterministic.
    pytest.importorskip("sklearn", minversion="1.6")
    from sklearn.utils.estimator_checks import estimator_checks_generator

    anew = ("check_estimators_pickle", "check_fit_idempotent")
    failed, checked = [], 0
    for one, check in estimator_checks_generator(rr.release.RandomizedEncoder()):
        name = getattr(check, "func", check).__name__
        if name in anew:
            continue
        checked += 1
        try:
            check(one)
        except Exception as error:
            if type(error).__name__ != "SkipTest":
                failed.append((name, str(error)[:200]))
    assert not failed
    assert checked > 30


@pytest.mark.parametrize(
    ("keys", "change", "what"),
    [
        ({"epsilon": 0}, None, "epsilon"),
        ({"columns": "ans"}, None, "is not a list of columns"),
        ({"columns": ["nobody"]}, None, "'nobody' is not a column"),
        ({"columns": ["ans", 0]}, None, "named twice"),
        ({"categories": ["a"]}, None, "is not a mapping"),
        ({"categories": {"age": ["1"]}}, None, "'age' is not encoded"),
        ({}, lambda frame: frame.assign(ans="z"), "unknown"),
        ({}, lambda frame: frame.assign(ans=None), "is missing"),
        ({}, lambda frame: frame[["ans", "two"]], "those of fit were"),
    ],
)
def test_bad_use_of_the_encoder(keys: dict[str, Any], change: Any, what: str) -> None:
    frame = people(10)
    with pytest.raises(InputError, match=what):
        encoder(**keys).fit(frame).transform(frame if change is None else change(frame))
