"""Informations about the input that the output keeps."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from flint import arb

from rropt.declare.objective import Objective, check_domain, check_prior
from rropt.errors import Conflict, Missing, OutOfRange, UnknownName, WrongType, named
from rropt.exact import Interval, ball, cleared, enclosure, rational
from rropt.io.arguments import checked
from rropt.io.counts import Table, same_labels
from rropt.io.types import Matrix
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.distributions import ChiSquareSet, Confidence, KnownDistribution
from rropt.model.prior import Pairs, Prior
from rropt.model.secret import SECRET, Secret
from rropt.program.programs import ChiSquare, Information, Utility
from rropt.program.secrets import OfSecret, mechanism_of
from rropt.program.worst_case import LeastInformation, worst_information

BOXES, SMALLEST = 400, 1e-7
"""Boxes that the least information over a set is enclosed with at most, and the least width of it that is tried."""


@checked
@dataclass(frozen=True, init=False)
class MutualInformation(Objective):
    """Mutual information of input and output at `prior`; `units` "nats" (default) or "bits".

    `given` is the joint of the input with other variables that are released as they are (or known to readers of the
    release): a k x J table of counts or probabilities, rows in the order of the inputs and in the proportions of the
    prior. The objective is then I(input; output | others); what the release states about all variables is that plus the
    entropy of the others, which no mechanism changes.

    `secret` is P(S | input), inputs x values, of a variable S that the release tells of through the input alone. The
    objective is then I(S; output): minimised at a given utility it is the privacy funnel, maximised or limited it
    states the information bottleneck (Makhdoumi et al. 2014; Tishby, Pereira and Bialek 1999).

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"a": 2, "b": 1, "c": 1})
        >>> tells = rr.MutualInformation(prior, secret=[["0.9", "0.1"], ["0.5", "0.5"], ["0.2", "0.8"]])
        >>> best = rr.Problem(rr.Maximize(tells), [rr.LDP(1)]).solve()
        >>> best.status, len(best.mechanism.inputs)
        ('certified', 3)

    `worst_case` is a set of distributions of the inputs, which are pairs: a `ChiSquareSet`, or the one
    `KnownDistribution`, which then is the prior. The objective is the least mutual information over that set, whatever
    the prior; what is shown as its value holds for every distribution of the set. A problem file gives a word,
    "counts" or "known", or a table { confidence, alpha, counts, sensitive, other }, as for RLDP. Raises InputError.

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"never": 60, "seldom": 30, "often": 10})
        >>> solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior, units="bits")), [rr.LDP(1)]).solve()
        >>> round(solution.value, 4)
        0.1539
    """

    kind: ClassVar[str] = "mutual_information"
    words: ClassVar[Mapping[str, str]] = {
        "units": '`"nats"` or `"bits"`',
        "given": "inputs x values, counts: the joint with other variables that are released as they are",
        **SECRET,
        "worst_case": 'a set of distributions, for the least over it: `"counts"`, `"known"`, or `{ confidence = '
        '"counts", alpha = 0.05 }` (also `counts`, `sensitive`, `other`, as for `rldp`; [robust.md](robust.md))',
    }
    sentence: ClassVar[str] = "the information (Shannon's) about the true answer that the released one keeps"

    prior: Prior
    units: str
    given: tuple[tuple[int, ...], ...] | None
    worst_case: ChiSquareSet | KnownDistribution | None
    secret: Secret | None

    def __init__(
        self,
        prior: Prior,
        *,
        units: str = "nats",
        given: Matrix | None = None,
        worst_case: Confidence | Mapping[str, Any] | str | None = None,
        secret: Matrix | None = None,
    ) -> None:
        check_prior(prior, "MutualInformation")
        if units not in ("nats", "bits"):
            raise UnknownName(f"{units!r} is not a unit of information", "MutualInformation", "use nats or bits")
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "given", None if given is None else _joint(given, prior))
        over = None if worst_case is None else _set(worst_case, prior, given)
        object.__setattr__(self, "worst_case", over)
        if secret is not None and (given is not None or worst_case is not None):
            other = "given" if worst_case is None else "worst_case"
            raise Conflict(f"secret is declared together with {other}", "MutualInformation", "give one of them")
        object.__setattr__(self, "secret", None if secret is None else Secret.read(secret, prior, "MutualInformation"))
        if isinstance(over, KnownDistribution):
            object.__setattr__(self, "prior", over.center)

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        return super().read_keys(prior, {**keys, "units": str(keys.get("units", "nats"))}, where)

    @classmethod
    def examples(cls, prior: Prior) -> Mapping[str, Self]:
        shares = [(weight // (2 + x % 3), weight) for x, weight in enumerate(prior.weights)]
        given = [[weight - share, share] for share, weight in shares]
        return {"": cls(prior), "given": cls(prior, given=given)}

    def value(self, mechanism: Mechanism) -> Interval:
        return self._in(mechanism, self.units)

    def own_value(self, mechanism: Mechanism) -> Interval:
        return self._in(mechanism, "nats")

    def enclosed(self, mechanism: Mechanism, gap: float, seconds: float | None) -> Interval:
        if self.worst_case is None:
            return self.own_value(mechanism)
        return worst_information(
            mechanism, self.worst_case, gap=max(gap, SMALLEST), boxes=BOXES, time_limit=seconds
        ).value

    def _in(self, mechanism: Mechanism, units: str) -> Interval:
        if self.worst_case is not None:
            found = worst_information(mechanism, self.worst_case).value
            return found if units == "nats" else _bits(found)
        if self.secret is not None:
            check_domain(mechanism, self.prior.labels, "MutualInformation")
            own = mechanism_of(self.secret, mechanism, self.prior)
            return own.mutual_information(self.secret.prior(self.prior), units=units)
        if self.given is None:
            return mechanism.mutual_information(self.prior, units=units)
        total = sum(map(sum, self.given))
        lower, upper = Fraction(0), Fraction(0)
        for column in zip(*self.given, strict=True):
            if mass := sum(column):
                inside = mechanism.mutual_information(Prior(self.prior.labels, column), units=units)
                lower += Fraction(mass, total) * inside.lower
                upper += Fraction(mass, total) * inside.upper
        return Interval(lower, upper)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        if isinstance(self.worst_case, ChiSquareSet):
            return LeastInformation(self.worst_case)
        if self.secret is not None:
            return of_secret(Information, self.secret, self.prior)
        if self.given is None:
            return Information(self.prior.weights)
        return Information(tuple(map(sum, self.given)), self.given)

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {} if self.units == "nats" else {"units": self.units}
        if self.worst_case is not None:
            return {**keys, "worst_case": _set_keys(self.worst_case)}
        if self.secret is not None:
            return keys | self.secret.keys()
        return keys if self.given is None else {**keys, "given": [list(row) for row in self.given]}

    def explain(self) -> str:
        if self.secret is not None:
            return f"the information (Shannon's) about a secret that the released answer gives, {_through(self.secret)}"
        if self.given is not None:
            return (
                "the information (Shannon's) that the released answer gives about the true one to a reader who knows "
                "another variable already"
            )
        if isinstance(self.worst_case, ChiSquareSet):
            place = self.worst_case.describe()
            return f"the least information{self.sentence.removeprefix('the information')}, over {place}"
        return self.sentence if self.worst_case is None else f"{self.sentence}, at one known distribution"

    def describe(self) -> str:
        own = super().describe()
        if isinstance(self.worst_case, ChiSquareSet):
            return f"least {own} over {self.worst_case.describe()}"
        own += "" if self.secret is None else " about a secret"
        place = "" if self.worst_case is None else f" at {self.worst_case.describe()}"
        return own + (place if self.given is None else " given another variable")


def of_secret(make: type[Information] | type[ChiSquare], secret: Secret, prior: Prior) -> OfSecret:
    """The utility of a mechanism whose information about the secret this is."""
    return OfSecret(make(secret.prior(prior).weights), secret.inputs(prior), secret.values)


def _through(secret: Secret) -> str:
    return f"whose values are {named(secret.values)} and which depends on the true answer"


def _bits(nats: Interval) -> Interval:
    lower = enclosure(lambda: ball(nats.lower) / arb(2).log()).lower
    return Interval(lower, enclosure(lambda: ball(nats.upper) / arb(2).log()).upper)


def _set(
    declared: Confidence | Mapping[str, Any] | str, prior: Prior, given: object
) -> ChiSquareSet | KnownDistribution:
    """The set that `worst_case` means: one as it is, or in the words of a problem file."""
    where = "MutualInformation worst_case"
    if given is not None:
        raise Conflict("given is declared together with it", where, "give one of them")
    table = {"confidence": declared} if isinstance(declared, str) else declared
    if isinstance(table, Mapping):
        declared = _declare_set(dict(table), prior, where)
    if not isinstance(declared, ChiSquareSet | KnownDistribution):
        named = declared.describe() if isinstance(declared, Confidence) else repr(declared)
        raise WrongType(f"{named} is not a set that it takes", where, "give a ChiSquareSet, or a KnownDistribution")
    same_labels(prior.labels, declared.pairs.labels, f"{where}, prior")
    return declared


def _declare_set(table: dict[Any, Any], prior: Prior, where: str) -> ChiSquareSet | KnownDistribution:
    known = ("confidence", "alpha", "counts", "sensitive", "other")
    if unknown := set(table) - set(known):
        raise UnknownName(f"unknown key {sorted(map(str, unknown))[0]!r}", where, f"known keys: {', '.join(known)}")
    word, alpha = table.get("confidence", "counts"), table.get("alpha")
    if word not in ("counts", "known"):
        raise UnknownName(f"confidence is {word!r}", where, "use one of: counts, known")
    if alpha is not None and word != "counts":
        raise Conflict(f"alpha does not apply to confidence = {word!r}", where, "leave it out")
    sensitive, other = table.get("sensitive"), table.get("other")
    if (sensitive is None) != (other is None):
        raise WrongType("give both sensitive and other, or neither", where, "they name the values of a pair")
    pairs = prior.pairs if sensitive is None else Pairs(sensitive, other)  # type: ignore[arg-type]
    if pairs is None:
        raise Missing("it is not given which inputs are pairs", where, "give sensitive and other, here or in [input]")
    counts = table.get("counts")
    own = prior if counts is None else Prior.from_counts(counts, pairs=pairs)
    return (
        KnownDistribution(own)
        if word == "known"
        else ChiSquareSet(own, alpha=Fraction(1, 20) if alpha is None else alpha)
    )


def _set_keys(over: ChiSquareSet | KnownDistribution) -> dict[str, object]:
    pairs, weights = over.pairs, over.center.weights
    keys: dict[str, object] = {"confidence": "known"}
    if isinstance(over, ChiSquareSet):
        keys = {"confidence": "counts", "alpha": over.alpha}
    keys["counts"] = [list(weights[pairs.block(s)]) for s in range(len(pairs.sensitive))]
    return {**keys, "sensitive": list(pairs.sensitive), "other": list(pairs.other)}


def _joint(given: object, prior: Prior) -> tuple[tuple[int, ...], ...]:
    """The joint as the smallest integers in its proportions, one row per input."""
    where = "MutualInformation given"
    rows = Table.read(given, where).of(prior.labels, None, where, ("inputs", "values"))
    numbers = [[rational(entry, f"{where}[{x}][{z}]") for z, entry in enumerate(row)] for x, row in enumerate(rows)]
    if any(number < 0 for row in numbers for number in row):
        raise OutOfRange("it has negative entries", where, "give counts or probabilities")
    whole = sum(map(sum, numbers), Fraction(0))
    for label, row, p in zip(prior.labels, numbers, prior.probabilities, strict=True):
        if whole == 0 or sum(row, Fraction(0)) / whole != p:
            raise OutOfRange(
                f"the row of {label!r} does not sum to the prior's proportion",
                where,
                "take the prior from its row sums",
            )
    flat = cleared([number for row in numbers for number in row])
    width = len(rows[0])
    return tuple(flat[x * width : (x + 1) * width] for x in range(len(rows)))


@checked
@dataclass(frozen=True, init=False)
class ChiSquareInformation(Objective):
    """Chi-square information at `prior`: the sum over inputs and outputs of p_x Q[x, y]^2 / m_y, less one, where m_y is
    the probability of the output (0 where the output is independent of the input, at most k - 1). With `secret`,
    P(S | input) as for `MutualInformation`, it is that of the secret and the output.

        >>> import rropt as rr
        >>> prior = rr.Prior.uniform(["a", "b"])
        >>> about = rr.ChiSquareInformation(prior, secret=[["3/4", "1/4"], ["1/4", "3/4"]])
        >>> str(about.value(rr.Mechanism.from_rationals([[1, 0], [0, 1]], inputs=["a", "b"])).lower)
        '1/4'
    """

    kind: ClassVar[str] = "chi_square"
    words: ClassVar[Mapping[str, str]] = SECRET
    sentence: ClassVar[str] = "the chi-square information about the true answer that the released one keeps"

    prior: Prior
    secret: Secret | None

    def __init__(self, prior: Prior, *, secret: Matrix | None = None) -> None:
        object.__setattr__(self, "prior", check_prior(prior, "ChiSquareInformation"))
        object.__setattr__(
            self, "secret", None if secret is None else Secret.read(secret, prior, "ChiSquareInformation")
        )

    def value(self, mechanism: Mechanism) -> Interval:
        check_domain(mechanism, self.prior.labels, "ChiSquareInformation")
        total, prior = Fraction(-1), self.prior
        if self.secret is not None:
            mechanism, prior = mechanism_of(self.secret, mechanism, prior), self.secret.prior(prior)
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            joint = [p * q for p, q in zip(prior.probabilities, column, strict=True)]
            if mass := sum(joint, Fraction(0)):
                total += sum((pq * q for pq, q in zip(joint, column, strict=True)), Fraction(0)) / mass
        return Interval.point(total)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        if self.secret is not None:
            return of_secret(ChiSquare, self.secret, self.prior)
        return ChiSquare(self.prior.weights)

    def keys(self) -> dict[str, object]:
        return {} if self.secret is None else self.secret.keys()

    def explain(self) -> str:
        if self.secret is None:
            return self.sentence
        return f"the chi-square information about a secret that the released answer gives, {_through(self.secret)}"

    def describe(self) -> str:
        return super().describe() + ("" if self.secret is None else " about a secret")
