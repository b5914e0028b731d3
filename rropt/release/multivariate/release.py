"""MultiRelease: the attributes of a data set under one budget of entropy, split where it costs least."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from rropt.declare.constraints import Bistochastic, Blocks, SharedEntropyRate
from rropt.declare.objectives import ExpectedLoss
from rropt.errors import Conflict, InputError, Missing, OutOfRange, Refused, TooLarge, UnknownName, WrongType, counted
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.counts import Numbers, in_order, ordered
from rropt.io.tables import Readable
from rropt.io.types import Counts, Label, Number
from rropt.mechanisms.families.bistochastic import beta, entropy_bits
from rropt.mechanisms.families.chains import inversion
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import misleading
from rropt.model.prior import Prior, clean_labels, marked
from rropt.problem import Minimize, Problem, Solution
from rropt.release.multivariate.clusters import as_text, clusters_of, pairwise_information

WHERE = "MultiRelease"
LARGEST = 160
"""Categories of all matrices together: the whole is solved as one matrix with blocks."""


@checked
@dataclass(frozen=True, init=False)
class Attribute(Readable):
    """One matrix of a release: an attribute, or a cluster of several that are treated jointly.

    `prior` is over its categories; `members` names the attributes (itself where there is one), `parts` gives for each
    category its value of each member; `weights`, one per member, say how much a changed value matters.
    """

    name: str
    prior: Prior
    members: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    weights: tuple[Fraction, ...]

    def __init__(
        self,
        name: str,
        prior: Prior,
        *,
        members: Sequence[str] | None = None,
        parts: Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | None = None,
        weights: Counts | None = None,
    ) -> None:
        if not isinstance(prior, Prior):
            raise WrongType(
                f"{type(prior).__name__} is not a Prior", f"attribute {name}", "as rr.Prior.from_counts(...)"
            )
        names = (str(name),) if members is None else clean_labels(list(members), f"attribute {name}")
        split = [(label,) for label in prior.labels]
        if parts is not None:
            given = in_order(parts, prior.labels, f"parts of {name}")
            split = [tuple(map(str, Numbers.read(part, f"a part of {name}").values)) for part in given]
        if len(split) != len(prior) or len(set(split)) < len(split) or any(len(part) != len(names) for part in split):
            raise Conflict(
                "its parts are not one different tuple per category, one value per member",
                f"attribute {name}",
                "correct them",
            )
        worth = [1] * len(names) if weights is None else in_order(weights, names, f"weights of {name}")
        chosen = [rational(weight, f"weight of {name}") for weight in worth]
        if min(chosen) < 0:
            raise OutOfRange("its weights are not one number >= 0 per member", f"attribute {name}", "correct them")
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "members", names)
        object.__setattr__(self, "parts", tuple(split))
        object.__setattr__(self, "weights", tuple(chosen))


@dataclass(frozen=True, eq=False)
class AttributeReport(ByContent):
    """The effect of a release on the attributes of one matrix.

    `bits` of entropy are injected of at most `most_bits` = log2(categories); `beta` is their ratio. `loss` gives for
    each member the probability that a value changes. `die_before` and `die_after` are 2^H of the true and the reported
    distribution: the sides of the imaginary die that an attacker faces. `perfect_secrecy` where reports are independent
    of the values; `warning` where frequencies cannot be recovered, or hardly.
    """

    name: str
    members: tuple[str, ...]
    categories: int
    bits: float
    most_bits: float
    beta: float
    loss: dict[str, float]
    die_before: float
    die_after: float
    perfect_secrecy: bool
    warning: str | None


@checked
@dataclass(frozen=True, eq=False)
class MultiSolution(ByContent):
    """A solved release: `solution` is that of all matrices as the blocks of one (its value the weighted mean loss),
    `mechanisms` the exact blocks by name, `reports` one per attribute or cluster."""

    release: MultiRelease
    solution: Solution
    mechanisms: dict[str, Mechanism]
    reports: tuple[AttributeReport, ...]

    @property
    def beta(self) -> float:
        """The share of the whole budget of entropy that is injected."""
        return sum(one.bits for one in self.reports) / sum(one.most_bits for one in self.reports)

    def randomize(self, columns: Mapping[str, Sequence[Label]], *, force: bool = False) -> dict[str, list[str]]:
        """The records (one sequence of values per attribute) with every value randomised, drawn exactly and securely.

        Raises InputError for attributes that are missing, columns that are not attributes, columns of different lengths
        and values that are not categories; without `force`, also where a category is likelier to be released as another
        one than that one itself, as it may be where the prior of one is 0: the columns would look like the data.
        """
        for name, mechanism in self.mechanisms.items():
            if not force and (why := misleading(mechanism)):
                raise Refused(f"{name} would look like the data and is not: {why}", WHERE, "use force=True, or merge")
        wanted = [name for attribute in self.release.attributes for name in attribute.members]
        ordered([str(name) for name in columns], wanted, f"{WHERE}, columns")
        table = as_text(columns)
        found: dict[str, list[str]] = {}
        for attribute in self.release.attributes:
            label = dict(zip(attribute.parts, attribute.prior.labels, strict=True))
            part = dict(zip(attribute.prior.labels, attribute.parts, strict=True))
            records = list(zip(*(table[name] for name in attribute.members), strict=True))
            if strange := next((record for record in records if record not in label), None):
                raise UnknownName(f"{strange} is not a category of {attribute.name}", WHERE, "declare it in the prior")
            drawn = self.mechanisms[attribute.name].randomize([label[record] for record in records])
            for number, name in enumerate(attribute.members):
                found[name] = [part[value][number] for value in drawn]
        return found


@checked
@dataclass(frozen=True, init=False)
class MultiRelease(Readable):
    """Several attributes, each through its own bistochastic matrix, with one entropy rate for all of them.

    The entropies of the matrices add up to at least `at_least` (beta in [0, 1]) times the sum of log n_j; how the
    budget is split is what `solve` finds: the split with the least mean probability that a value changes, weighed by
    the attributes' weights. A cluster is one matrix over its joint categories. Raises InputError.
    Source: ruiz Definition 2, with Definition 3 inside of clusters.
    """

    attributes: tuple[Attribute, ...]
    at_least: Fraction

    def __init__(self, attributes: Sequence[Attribute], at_least: Number) -> None:
        given = tuple(attributes)
        if not given or not all(isinstance(one, Attribute) for one in given):
            raise Missing("no attributes are given", WHERE, "as [Attribute(name, prior), ...]")
        clean_labels([name for one in given for name in one.members], "names of attributes")
        clean_labels([one.name for one in given], "names of attributes")
        if not sum(weight for one in given for weight in one.weights):
            raise OutOfRange("all weights are zero", WHERE, "give one attribute a weight")
        total = sum(len(one.prior) for one in given)
        if total > LARGEST:
            raise TooLarge(
                f"{counted(total, 'categories')} in all are too many",
                WHERE,
                f"at most {LARGEST}: merge some, or use fewer clusters",
            )
        object.__setattr__(self, "attributes", given)
        object.__setattr__(self, "at_least", SharedEntropyRate(at_least, [["a"]]).at_least)

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, Sequence[Label]],
        at_least: Number,
        *,
        clusters: Sequence[Sequence[str]] | None = None,
        dependence: float = 0.1,
        largest: int = 64,
    ) -> MultiRelease:
        """A release of records, one sequence of values per attribute; categories and priors are those of the data.

        `clusters` groups attributes; None groups those whose pairwise information is at least `dependence` (see
        `clusters_of`), up to `largest` joint categories, whose labels are "a | b" (a bar or a backslash inside of a
        value gets a backslash before it). The domain is taken from the data, which the release reveals. Values are text
        or integers, none missing. Raises InputError.
        """
        table = as_text(columns)
        information = pairwise_information(table)
        values = {name: sorted(set(column)) for name, column in table.items()}
        for name, distinct in values.items():
            if len(distinct) < 2:
                raise OutOfRange(f"{name!r} has one value only", WHERE, "leave it out: it carries no information")
        if clusters is None:
            grouped = clusters_of(
                information,
                {name: len(distinct) for name, distinct in values.items()},
                at_least=dependence,
                largest=largest,
            )
        else:
            grouped = Blocks(clusters).blocks
            Blocks(clusters).members(tuple(table))
        attributes = []
        for members in grouped:
            counts = Counter(zip(*(table[name] for name in members), strict=True))
            parts = list(product(*(values[name] for name in members)))
            labels = [" | ".join(marked(value, "|") for value in part) if part[1:] else part[0] for part in parts]
            prior = Prior.from_counts([counts[part] for part in parts], labels=labels)
            attributes.append(Attribute(" and ".join(members), prior, members=members, parts=parts))
        return cls(attributes, at_least)

    def problem(self) -> Problem:
        """The release as one problem: a block matrix over all categories, labelled "attribute: category"."""
        blocks = [[f"{marked(one.name, ':')}: {label}" for label in one.prior.labels] for one in self.attributes]
        count = len(self.attributes)
        probabilities = [p / count for one in self.attributes for p in one.prior.probabilities]
        labels = [label for block in blocks for label in block]
        prior = Prior.from_probabilities(probabilities, labels=labels)
        total = sum((weight for one in self.attributes for weight in one.weights), Fraction(0))
        loss: list[list[Fraction]] = []
        start = 0
        for one in self.attributes:
            size = len(one.prior)
            for part in one.parts:
                row = [Fraction(0)] * len(labels)
                for y, other in enumerate(one.parts):
                    row[start + y] = count * _change(one, part, other) / total
                loss.append(row)
            start += size
        constraints = [Bistochastic(), SharedEntropyRate(self.at_least, blocks)]
        if count > 1:
            constraints.append(Blocks(blocks))
        return Problem(Minimize(ExpectedLoss(prior, loss)), constraints, name="multi-release")

    def solve(self, gap: float | None = None, *, time_limit: float | None = None) -> MultiSolution:
        """Split the budget and design the matrices, with one certificate for all. Raises InputError and NoMethod."""
        solution = self.problem().solve(gap=gap, time_limit=time_limit)
        if solution.mechanism is None:
            raise InputError("; ".join(solution.warnings) or "no mechanism was found", WHERE, "lower the entropy rate")
        mechanisms, reports, start = {}, [], 0
        for one in self.attributes:
            size = len(one.prior)
            places = range(start, start + size)
            rows = [[solution.mechanism.entry(x, y) for y in places] for x in places]
            labels = one.prior.labels
            mechanisms[one.name] = Mechanism.from_rationals(rows, inputs=labels, outputs=labels)
            reports.append(_report(one, mechanisms[one.name]))
            start += size
        return MultiSolution(self, solution, mechanisms, tuple(reports))


def _change(attribute: Attribute, part: tuple[str, ...], other: tuple[str, ...]) -> Fraction:
    """The weight of the members whose value differs."""
    return sum((weight for weight, a, b in zip(attribute.weights, part, other, strict=True) if a != b), Fraction(0))


def _report(attribute: Attribute, mechanism: Mechanism) -> AttributeReport:
    prior = attribute.prior.probabilities
    size = len(prior)
    reported = [sum((p * q for p, q in zip(prior, mechanism.column(y), strict=True)), Fraction(0)) for y in range(size)]
    loss = {
        name: float(
            sum(
                prior[x] * mechanism.entry(x, y)
                for x in range(size)
                for y in range(size)
                if attribute.parts[x][number] != attribute.parts[y][number]
            )
        )
        for number, name in enumerate(attribute.members)
    }
    return AttributeReport(
        attribute.name,
        attribute.members,
        size,
        float(entropy_bits(mechanism)),
        math.log2(size),
        float(beta(mechanism)),
        loss,
        _die(prior),
        _die(reported),
        all(len(set(mechanism.column(y))) == 1 for y in range(size)),
        inversion(mechanism).warning,
    )


def _die(distribution: Sequence[Fraction]) -> float:
    """2^H of a distribution, H in bits."""
    return math.exp(-sum(float(p) * math.log(float(p)) for p in distribution if p))
