"""Descriptions of problems for readers of reports: one sentence for each objective and constraint."""

from collections.abc import Callable
from typing import Any

from rropt.declare.constraint import Constraint, described
from rropt.errors import counted
from rropt.model.distributions import ChiSquareSet, EveryDistribution, Joint, KnownDistribution
from rropt.model.prior import DataColumn
from rropt.problem import Problem

__all__ = ["CONSTRAINTS", "goal_sentence", "prior_sentence", "rule_sentences"]


def _ratio(rule: Any) -> str:
    """The largest ratio, in the word in which the level was declared."""
    return "exp(epsilon)" if rule.level.gamma is None else "gamma"


def _ldp(rule: Any) -> str:
    ratio = _ratio(rule)
    if rule.population:
        return (
            "On average over the people of the stated population who have a stated property, every output is at most "
            f"{ratio} times as likely as on average over the others, and the reverse. Single answers are not "
            "protected: an output may exclude some of them."
        )
    if rule.properties:
        return (
            f"Every output is at most {ratio} times as likely under a true answer with a stated property as under "
            f"one without it, and the reverse. Between answers that no property separates the factor is the square of "
            f"{ratio}."
        )
    return f"Every output is at most {ratio} times as likely under one true answer as under any other."


def _approximate(rule: Any) -> str:
    return (
        f"The probability of any set of outputs under one true answer is at most {_ratio(rule)} times that under any "
        "other, plus delta."
    )


def _metric(rule: Any) -> str:
    apart = "" if rule.connected else " Answers between which no path leads are not protected from each other."
    return (
        "Every output is at most exp(epsilon d) times as likely under one true answer as under another, d the "
        f"length of the shortest path from the one to the other.{apart}"
    )


def _maximal_robust(rule: Any) -> str:
    return (
        f"Every output is at most {_ratio(rule)} times as likely under one sensitive value as under any other, "
        "whatever the joint distribution of the two parts may be."
    )


def _robust(rule: Any) -> str:
    over = rule.over
    places = {
        ChiSquareSet: "for every joint distribution in the stated confidence set",
        KnownDistribution: "at the stated joint distribution, and at this one alone",
        EveryDistribution: "whatever the joint distribution of the two parts may be",
    }
    place = places.get(type(over), "for every joint distribution in the stated set")
    seen = " The mechanism reads the other part alone." if isinstance(rule.confidence, Joint) else ""
    return (
        f"Every output is at most {_ratio(rule)} times as likely under one sensitive value as under any other, "
        f"{place}.{seen}"
    )


def _identification(rule: Any) -> str:
    among = " (one of the stated categories)" if rule.categories is not None else ""
    return (
        f"An intruder knows the category of a person{among} and seeks this person among the records released as that "
        "category. The intruder picks one of them at random, and uses neither the mechanism nor anything else about "
        "the person. It is the right one with at most the stated probability, in data with the stated counts."
    )


def _mixture(rule: Any) -> str:
    drawn = "from all permutations of them" if rule.permutations is None else "from the stated ones"
    bounds = ", with the stated bounds on their probabilities" if rule.weights else ""
    most = "" if rule.max_terms is None else f"; at most {rule.max_terms} of them are used"
    return f"The release is a random relabelling of the categories, drawn {drawn}{bounds}{most}."


def _limit(rule: Any) -> str:
    side, what = ("most", "loss") if rule.kind == "at_most" else ("least", "gain")
    place = "" if rule.objective.prior is None else ", at the stated frequencies"
    return f"Another number of the mechanism, such as its information or {what}, is at {side} the stated number{place}."


def _always(sentence: str) -> Callable[[Any], str]:
    return lambda rule: sentence


CONSTRAINTS: dict[str, Callable[[Any], str]] = {
    "ldp": _ldp,
    "approximate_ldp": _approximate,
    "metric_dp": _metric,
    "maximal_rldp": _maximal_robust,
    "rldp": _robust,
    "bistochastic": _always("If all true answers are equally frequent, all released ones are, in expectation."),
    "blocks": _always("An answer never leaves its class."),
    "tridiagonal": _always("An answer moves to a neighbour at most."),
    "symmetric": _always("Each answer turns into another one with the same probability as the reverse."),
    "circulant": _always("Every answer is shifted by the same distribution, counted from its own place."),
    "entropy_rate": _always(
        "The released answer stays uncertain: on average over the true answers, each with the same weight, its "
        "entropy is at least this share of the largest."
    ),
    "shared_entropy_rate": _always("Several attributes share one budget of uncertainty."),
    "uniform_off_diagonal": _always("A wrong answer is any other one, each equally likely."),
    "identification_risk": _identification,
    "invariant": _always(
        "If the true answers have the stated frequencies, the released ones have them too, in expectation."
    ),
    "permutation_mixture": _mixture,
    "forbidden": _always("The stated outputs are never released for the stated answers."),
    "floor": _always("Each stated answer is released as it is with at least the stated probability."),
    "at_most": _limit,
    "at_least": _limit,
    "linear": _always("A row of the user's own on the whole matrix."),
    "cone": _always("The user's own inequalities on each column."),
    "pointwise_maximal_leakage": lambda rule: (
        f"No single output multiplies the chance of any guess by more than {_ratio(rule)}, at the stated frequencies."
    ),
    "maximal_leakage": lambda rule: (
        f"The release as a whole multiplies the chance of any guess by at most {_ratio(rule)}, at any frequencies."
    ),
    "renyi_ldp": _always(
        "The Renyi divergence, of the stated order, of the outputs of any two answers is at most epsilon."
    ),
    "zero_concentrated_ldp": _always(
        "The Renyi divergences of all orders a above 1 of the outputs of any two answers are at most rho a."
    ),
}
"""What each constraint guarantees, by its name in problem files: a sentence about the constraint as it was declared."""

OWN = "A rule of the user's own."
HOME = "rropt.declare.constraints."
FEW = 3


def goal_sentence(problem: Problem) -> str:
    """The objective as a sentence."""
    kind, sense = problem.objective.kind, problem.goal.sense
    least = "as large as possible" if sense == "maximize" else "as small as possible"
    what = problem.objective.sentence or f"the objective {kind.replace('_', ' ')}, which is the user's own"
    unit = f" (in {problem.objective.units})" if problem.objective.units else ""
    of = counted(len(problem.inputs), "categories")
    return f"The problem: a random perturbation of {of} that makes {what}{unit} {least}."


def prior_sentence(problem: Problem, data: DataColumn | None = None) -> str:
    """The frequencies of the answers; `data` is the file where they were counted."""
    prior = problem.objective.prior
    if prior is None:
        return "What is sought does not depend on the frequencies of the true answers."
    if prior.declared == "uniform":
        return "All true answers are taken to be equally frequent."
    order = sorted(range(len(prior)), key=lambda x: -prior.weights[x])[:FEW]
    most = ", ".join(f"{prior.labels[x]} ({100 * float(prior.probabilities[x]):.3g} %)" for x in order)
    place = "" if data is None else f" in {data}"
    people = f", counted from {counted(sum(prior.weights), 'people')}{place}" if prior.declared == "counts" else ""
    more = "; the most frequent are" if len(prior) > FEW else ":"
    return f"The frequencies of the true answers are given{people}{more} {most}."


def rule_sentences(problem: Problem) -> list[tuple[str, str]]:
    """(short name, promise) of each constraint."""
    rules = problem.constraints
    return [(name, _sentence(rule)) for name, rule in zip(described(rules), rules, strict=True)]


def _sentence(rule: Constraint) -> str:
    # A class of the user's own may have any word, and may mean anything by it.
    known = type(rule).__module__.startswith(HOME) and rule.kind in CONSTRAINTS
    return CONSTRAINTS[rule.kind](rule) if known else OWN
