"""Several answers of one respondent, each randomised by its own mechanism: never multiplied out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import Conflict, Duplicate, UnknownName, WrongType, counted, shown
from rropt.exact import Interval, log_enclosure
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.frames import array_of
from rropt.io.types import Label
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior, clean_labels, pair_label

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate


@checked
@dataclass(frozen=True)
class ProductMechanism:
    """Items 1, ..., d answered independently: P(y | x) = prod_i Q_i[x_i, y_i], for a tuple x of answers.

    `items` are d mechanisms, `names` their labels. Source: Chai and Nayak chapter 8. Raises InputError.

        >>> import rropt as rr
        >>> one = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> rr.mechanisms.ProductMechanism([one, one], names=["first", "second"]).privacy_ratio
        Fraction(9, 1)
    """

    items: tuple[Mechanism, ...]
    names: tuple[str, ...]

    def __init__(self, items: Sequence[Mechanism], *, names: Sequence[Label] | None = None) -> None:
        given = tuple(items)
        if not given or not all(isinstance(item, Mechanism) for item in given):
            raise WrongType("they are not mechanisms", "items", "give explicit ones; a family has to_mechanism()")
        object.__setattr__(self, "items", given)
        labels = range(1, len(given) + 1) if names is None else names
        object.__setattr__(self, "names", clean_labels([str(name) for name in labels], "names"))
        if len(self.names) != len(given):
            raise Conflict(f"{len(self.names)} names for {counted(len(given), 'items')}", "names", "give one each")

    def _item(self, name: object) -> int:
        """An item by its name; by its number from 0 unless a name is a number, which would be ambiguous."""
        if isinstance(name, (str, int)) and not isinstance(name, bool):
            if not isinstance(name, str) and not any(own.isdecimal() for own in self.names):
                if 0 <= name < len(self.items):
                    return name
            elif shown(name) in (shown(own) for own in self.names) or shown(name) in self.names:
                return self.names.index(str(name))
        raise UnknownName(f"{shown(name)} is not an item", "item", f"they are {', '.join(self.names)}")

    # -- privacy and information --------------------------------------------------------------------------

    @property
    def privacy_ratio(self) -> Fraction | float:
        """The largest ratio over all pairs of answer tuples: the product of the items' privacy ratios, exact."""
        parities = [item.privacy_ratio for item in self.items]
        exact = [own for own in parities if isinstance(own, Fraction)]
        return math.prod(exact, start=Fraction(1)) if len(exact) == len(parities) else math.inf

    @property
    def epsilon(self) -> Interval:
        """log of the privacy ratio, nats: the privacy of a whole tuple of answers."""
        ratio = self.privacy_ratio
        return log_enclosure(ratio) if isinstance(ratio, Fraction) else Interval(ratio, ratio)  # type: ignore[arg-type]

    def item_privacy_ratio(self, item: str | int) -> Fraction | float:
        """The privacy ratio of the whole report about one item if the answers are independent: that of the item's
        mechanism, since posterior odds given all reports are those given its own. Where answers depend on each other
        the other reports are informative about it too, and only `privacy_ratio` bounds them."""
        return self.items[self._item(item)].privacy_ratio

    def posterior(self, priors: Sequence[Prior], reports: Sequence[str]) -> tuple[tuple[Fraction, ...], ...]:
        """For each item P(answer | all reports) under independent `priors`, exact; zero rows where a report is
        impossible raise InputError."""
        if len(priors) != len(self.items) or len(reports) != len(self.items):
            raise Conflict("give one prior and one report per item", "posterior")
        found = []
        for name, item, prior, report in zip(self.names, self.items, priors, reports, strict=True):
            same_labels(prior.labels, item.inputs, f"prior of item {name!r}")
            if report not in item.outputs:
                raise UnknownName(
                    f"{report!r} is not an output", f"item {name!r}", f"they are {list(item.outputs[:6])}"
                )
            joint = [p * q for p, q in zip(prior.probabilities, item.column(item.outputs.index(report)), strict=True)]
            if not sum(joint):
                raise Conflict(f"report {report!r} cannot occur", f"item {name!r}", "check the prior's zeros")
            found.append(tuple(value / sum(joint) for value in joint))
        return tuple(found)

    # -- drawing and estimating ----------------------------------------------------------------------

    def sample(self, codes: Any) -> np.ndarray:
        """Draw a report for each respondent, exactly and securely: n x d codes of answers to n x d codes of outputs."""
        given = array_of(codes, "codes")
        if given.ndim != 2 or given.shape[1] != len(self.items):
            raise Conflict(
                f"shape {given.shape}", "codes", f"give n x {counted(len(self.items), 'codes')}, one column per item"
            )
        drawn = [item.sample(given[:, at]) for at, item in enumerate(self.items)]
        return np.column_stack(drawn) if drawn else given

    def estimate(self, reports: Any, item: str | int, *, method: str = "unbiased") -> Estimate:
        """The frequencies of one item from n x d codes of outputs, by any method of `Mechanism.estimate`."""
        at = self._item(item)
        return self.items[at].estimate(self._column(reports, at), method=method)

    def estimate_pair(self, reports: Any, first: str | int, second: str | int, *, method: str = "unbiased") -> Estimate:
        """The joint frequencies of two items from n x d codes of outputs: categories "a, b" as `Pairs` writes them, the
        first major."""
        one, two = self._item(first), self._item(second)
        if one == two:
            raise Duplicate("they are the same item", "estimate_pair", "give two")
        from rropt.mechanisms.estimators.recover import recover

        a, b = self.items[one], self.items[two]
        left, right = self._codes(reports, one), self._codes(reports, two)
        counts = np.bincount(left * len(b.outputs) + right, minlength=len(a.outputs) * len(b.outputs))
        labels = tuple(pair_label(x, z) for x in a.inputs for z in b.inputs)
        outputs = tuple(pair_label(y, w) for y in a.outputs for w in b.outputs)
        return recover(np.kron(a.matrix, b.matrix), counts, labels, outputs, method)

    def _codes(self, reports: Any, at: int) -> np.ndarray:
        given = array_of(reports, "reports")
        if given.ndim != 2 or given.shape[1] != len(self.items) or given.dtype.kind not in "iu":
            raise Conflict(f"shape {given.shape}", "reports", f"give n x {counted(len(self.items), 'integers')}")
        own = given[:, at].astype(np.int64)
        if own.size and (own.min() < 0 or own.max() >= len(self.items[at].outputs)):
            raise UnknownName("a code is not an output", f"item {self.names[at]!r}", "they come from another mechanism")
        return own

    def _column(self, reports: Any, at: int) -> np.ndarray:
        return np.bincount(self._codes(reports, at), minlength=len(self.items[at].outputs))

    @classmethod
    def of(cls, items: Mapping[str, Mechanism]) -> ProductMechanism:
        """From a mapping of names to mechanisms."""
        return cls(tuple(items.values()), names=tuple(items))
