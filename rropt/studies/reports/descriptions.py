"""Descriptions of problems for readers of reports: one sentence for each objective and constraint."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

from rropt.declare.constraint import Constraint, described
from rropt.declare.objective import Sum
from rropt.declare.objectives import MinimaxLoss
from rropt.errors import counted, named
from rropt.exact import declared_text
from rropt.io.counts import Numbers
from rropt.model.distributions import ChiSquareSet, EveryDistribution, Joint, KnownDistribution
from rropt.model.guarantees import frequencies
from rropt.model.prior import DataColumn, Prior
from rropt.model.secret import Secret
from rropt.problem import Problem
from rropt.problem.display import counted_from

__all__ = ["CONSTRAINTS", "goal_sentence", "prior_sentence", "rule_sentences"]


def _ratio(rule: Any) -> str:
    """The largest ratio, in the word in which the level was declared."""
    return "exp(epsilon)" if rule.level.gamma is None else "gamma"


def _people(labels: Sequence[str], weights: Sequence[Any]) -> str:
    return f"the frequencies {frequencies(labels, weights)}"


def _properties(rule: Any) -> str:
    listed = "; ".join(f"to be one of {named(labels)}" for labels in rule.properties[:FEW])
    more = f"; and {len(rule.properties) - FEW:,} more" if len(rule.properties) > FEW else ""
    return f" {'The properties are' if rule.properties[1:] else 'The property is'} {listed}{more}."


def _ldp(rule: Any, problem: Problem) -> str:
    ratio = _ratio(rule)
    if rule.population:
        return (
            f"On average over the people of a population with {_people(*zip(*rule.population, strict=True))} who have "
            f"a property, every output is at most {ratio} times as likely as on average over the others, and the "
            f"reverse.{_properties(rule)} Single answers are not protected: an output may exclude some of them."
        )
    if rule.properties:
        return (
            f"Every output is at most {ratio} times as likely under a true answer with a property as under one without "
            f"it, and the reverse.{_properties(rule)} Between answers that no property separates the factor is the "
            f"square of {ratio}."
        )
    return f"Every output is at most {ratio} times as likely under one true answer as under any other."


def _approximate(rule: Any, problem: Problem) -> str:
    return (
        f"The probability of any set of outputs under one true answer is at most {_ratio(rule)} times that under any "
        "other, plus delta."
    )


def _metric(rule: Any, problem: Problem) -> str:
    apart = "" if rule.connected else " Answers between which no path leads are not protected from each other."
    return (
        "Every output is at most exp(epsilon d) times as likely under one true answer as under another, d the "
        f"length of the shortest path from the one to the other.{apart}"
    )


def _maximal_robust(rule: Any, problem: Problem) -> str:
    members: dict[str, list[str]] = {}
    for label, group in zip(
        problem.inputs, Numbers(list(rule.groups), rule.labels).of(problem.inputs, ""), strict=True
    ):
        members.setdefault(str(group), []).append(label)
    values = "; ".join(f"{group!r} (of {named(labels)})" for group, labels in list(members.items())[:FEW])
    more = f"; and {len(members) - FEW:,} more" if len(members) > FEW else ""
    return (
        f"Every output is at most {_ratio(rule)} times as likely under one sensitive value as under any other, "
        f"whatever the joint distribution of the two parts may be. The sensitive values are {values}{more}."
    )


def _robust(rule: Any, problem: Problem) -> str:
    over = rule.over
    place = f"for every joint distribution in {over.describe()}"
    if isinstance(over, KnownDistribution):
        place = f"at one joint distribution alone, {_people(over.center.labels, over.center.weights)}"
    elif isinstance(over, EveryDistribution):
        place = "whatever the joint distribution of the two parts may be"
    seen = " The mechanism reads the other part alone." if isinstance(rule.confidence, Joint) else ""
    return (
        f"Every output is at most {_ratio(rule)} times as likely under one sensitive value as under any other, "
        f"{place}.{seen}"
    )


def _identification(rule: Any, problem: Problem) -> str:
    among = "" if rule.categories is None else f" (one of these: {named(rule.categories)})"
    counts = rule.counts.of(problem.inputs, "")
    shown = "; ".join(f"{label} {count:,}" for label, count in list(zip(problem.inputs, counts, strict=True))[:MOST])
    more = f"; and {len(counts) - MOST:,} more" if len(counts) > MOST else ""
    return (
        f"An intruder knows the category of a person{among} and seeks this person among the records released as that "
        "category. The intruder picks one of them at random, and uses neither the mechanism nor anything else about "
        f"the person. It is the right one with a probability of at most {declared_text(rule.at_most)}, in data with "
        f"these counts: {shown}{more}."
    )


def _mixture(rule: Any, problem: Problem) -> str:
    def label(one: Any) -> str:
        return one if isinstance(one, str) else f"to {named(one)}"

    drawn = "all permutations of them"
    if rule.permutations is not None:
        some = "; ".join(map(label, rule.permutations[:FEW])) + ("; ..." if rule.permutations[FEW:] else "")
        drawn = f"{counted(len(rule.permutations), 'permutations')} ({some})"
    most = "" if rule.max_terms is None else f"; at most {rule.max_terms} of them are used"
    limits = [
        f"{label(name)} has a probability from {declared_text(low)} to {declared_text(high)}"
        for name, low, high in rule.weights[:FEW]
    ]
    limits += [f"bounded besides: {len(rule.weights) - FEW}"] if len(rule.weights) > FEW else []
    bounds = f" Of these {'; '.join(limits)}." if limits else ""
    return f"The release is a random relabelling of the categories, drawn from {drawn}{most}.{bounds}"


def _limit(rule: Any, problem: Problem) -> str:
    what, unit = rule.objective.explain(), f" {rule.objective.units}" if rule.objective.units else ""
    side, prior = "most" if rule.kind == "at_most" else "least", rule.objective.prior
    if isinstance(rule.objective, MinimaxLoss):
        prior = None
    place = "" if prior is None else f", at {_people(prior.labels, prior.weights)}"
    if prior is not None and _priors(problem) == [prior]:
        place = ", at the frequencies above"
    return f"{what[0].upper()}{what[1:]} is at {side} {declared_text(rule.number)}{unit}{place}."


def _about(secret: Secret | None) -> str:
    return (
        ""
        if secret is None
        else f" about a secret, whose values are {named(secret.values)}, which the true answer tells of,"
    )


def _shared_entropy(rule: Any, problem: Problem) -> str:
    blocks = "; ".join(named(block) for block in rule.blocks[:FEW])
    more = f"; and {len(rule.blocks) - FEW:,} more" if len(rule.blocks) > FEW else ""
    return (
        f"The released answer stays uncertain. Its mean entropy is taken in each block of true answers: {blocks}{more}."
        f" The sum of these means is at least {declared_text(rule.at_least)} times the sum of the logarithms of the "
        "sizes of the blocks."
    )


def _forbidden(rule: Any, problem: Problem) -> str:
    listed = ", ".join(f"{x!r} is never released as {y!r}" for x, y in rule.cells[:MOST])
    return listed + (f", and {len(rule.cells) - MOST:,} more" if len(rule.cells) > MOST else "") + "."


def _floor(rule: Any, problem: Problem) -> str:
    if isinstance(rule.diagonal, Fraction):
        return f"Each answer is released as it is with probability at least {declared_text(rule.diagonal)}."
    pairs = (
        rule.diagonal if isinstance(rule.diagonal[0], tuple) else list(zip(problem.inputs, rule.diagonal, strict=True))
    )
    more = f", and {len(pairs) - MOST:,} more have floors" if len(pairs) > MOST else ""
    floors = (
        f"{label!r} is released as it is with probability at least {declared_text(floor)}" for label, floor in pairs
    )
    return f"{', '.join(islice(floors, MOST))}{more}."


def _always(sentence: str) -> Callable[[Any, Problem], str]:
    return lambda rule, problem: sentence


CONSTRAINTS: dict[str, Callable[[Any, Problem], str]] = {
    "ldp": _ldp,
    "approximate_ldp": _approximate,
    "metric_dp": _metric,
    "maximal_rldp": _maximal_robust,
    "rldp": _robust,
    "bistochastic": _always("If all true answers are equally frequent, all released ones are, in expectation."),
    "blocks": lambda rule, problem: (
        "An answer never leaves its class: "
        + "; ".join(named(block) for block in rule.blocks[:MOST])
        + (f"; and {len(rule.blocks) - MOST:,} more." if len(rule.blocks) > MOST else ".")
    ),
    "tridiagonal": _always("An answer moves to a neighbour at most."),
    "symmetric": _always("Each answer turns into another one with the same probability as the reverse."),
    "circulant": _always("Each row of the matrix is the row above, shifted by one place."),
    "entropy_rate": lambda rule, problem: (
        "The released answer stays uncertain: on average over the true answers, each with the same weight, its "
        f"entropy is at least {declared_text(rule.at_least)} times the largest."
    ),
    "shared_entropy_rate": _shared_entropy,
    "uniform_off_diagonal": _always("If the released answer is not the true one, each other answer is equally likely."),
    "identification_risk": _identification,
    "invariant": lambda rule, problem: (
        f"If the true answers have {_people(problem.inputs, rule.counts.of(problem.inputs, ''))}, the released ones "
        "have them too, in expectation."
    ),
    "permutation_mixture": _mixture,
    "forbidden": _forbidden,
    "floor": _floor,
    "at_most": _limit,
    "at_least": _limit,
    "linear": _always("A row of the user's own on the whole matrix."),
    "cone": _always("The user's own inequalities on each column."),
    "pointwise_maximal_leakage": lambda rule, problem: (
        f"No single output multiplies the chance of any guess{_about(rule.secret)} by more than {_ratio(rule)}, at "
        f"{_people(rule.prior.labels, rule.prior.weights)}."
    ),
    "utility_optimised_ldp": lambda rule, problem: (
        f"Every output is at most {_ratio(rule)} times as likely under a sensitive answer as under any other. The "
        f"sensitive answers are {named(rule.sensitive)}. An output may tell which of the other answers is true."
    ),
    "maximal_leakage": lambda rule, problem: (
        f"The release as a whole multiplies the chance of any guess{_about(rule.capacity.secret)} by at most "
        f"{_ratio(rule)}, at any frequencies."
    ),
    "renyi_ldp": lambda rule, problem: (
        f"The Renyi divergence of order {declared_text(rule.order)} of the outputs of any two answers is at most "
        f"{declared_text(rule.epsilon)}."
    ),
    "zero_concentrated_ldp": _always(
        "The Renyi divergences of all orders a above 1 of the outputs of any two answers are at most rho a."
    ),
}
"""The guarantee of each constraint, by its name in problem files: a sentence about the constraint as it was declared in
a problem."""

OWN = "A rule of the user's own."
HOME = "rropt.declare.constraints."
FEW, MOST = 3, 6
"""Frequencies, properties and groups that a sentence names; cells, floors and counts."""


def goal_sentence(problem: Problem) -> str:
    """The objective as a sentence."""
    least = "as large as possible" if problem.goal.sense == "maximize" else "as small as possible"
    what = problem.objective.explain()
    unit = f" (in {problem.objective.units})" if problem.objective.units else ""
    of = counted(len(problem.inputs), "categories")
    return f"The problem: a random perturbation of {of} that makes {what}{unit} {least}."


def prior_sentence(problem: Problem, data: DataColumn | None = None) -> str:
    """The frequencies of the answers; `data` is the file where they were counted."""
    own = _priors(problem)
    if not own:
        return "What is sought does not depend on the frequencies of the true answers."
    if len(own) > 1:
        priors = ", ".join(frequencies(one.labels, one.weights) for one in own)
        return f"The terms of the sum are at different frequencies of the true answers: {priors}."
    (prior,) = own
    over = getattr(problem.objective, "worst_case", None)
    if isinstance(over, ChiSquareSet):
        around = frequencies(over.center.labels, over.center.weights)
        return f"The frequencies of the true answers may be any in that set, around {around}."
    if prior.declared == "uniform":
        return "All true answers are taken to be equally frequent."
    order = sorted(range(len(prior)), key=lambda x: -prior.weights[x])[:FEW]
    most = ", ".join(f"{prior.labels[x]} ({100 * float(prior.probabilities[x]):.3g} %)" for x in order)
    respondents = "" if prior.declared != "counts" else f", {counted_from(prior, data)}"
    more = "; the most frequent are" if len(prior) > FEW else ":"
    return f"The frequencies of the true answers are given{respondents}{more} {most}."


def _priors(problem: Problem) -> list[Prior]:
    """The different frequencies at which the objective, or a term of it, is taken."""
    parts = problem.objective.terms if isinstance(problem.objective, Sum) else [(1, problem.objective)]
    return list(dict.fromkeys(part.prior for _, part in parts if part.prior is not None))


def rule_sentences(problem: Problem) -> list[tuple[str, str]]:
    """(short name, guarantee) of each constraint."""
    rules = problem.constraints
    return [(name, _sentence(rule, problem)) for name, rule in zip(described(rules), rules, strict=True)]


def _sentence(rule: Constraint, problem: Problem) -> str:
    # A class of the user's own may have any word, and may mean anything by it.
    known = type(rule).__module__.startswith(HOME) and rule.kind in CONSTRAINTS
    return CONSTRAINTS[rule.kind](rule, problem) if known else OWN
