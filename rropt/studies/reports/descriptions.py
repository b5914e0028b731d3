"""Descriptions of problems for readers of reports: one sentence for each objective and constraint."""

from rropt.declare.constraint import described
from rropt.errors import counted
from rropt.model.prior import DataColumn
from rropt.problem import Problem

__all__ = ["CONSTRAINTS", "goal_sentence", "prior_sentence", "rule_sentences"]

CONSTRAINTS = {
    "ldp": "Every output is at most exp(epsilon) times as likely under one true answer as under any other.",
    "approximate_ldp": "Every output is at most exp(epsilon) times as likely under one true answer as under "
    "any other, except for a probability of at most delta.",
    "metric_dp": "Answers at distance d release any output with probabilities within a factor exp(epsilon d).",
    "maximal_rldp": "The sensitive part is protected whatever the joint distribution of the two parts may be.",
    "rldp": "The sensitive part is protected for every joint distribution in the stated confidence set.",
    "bistochastic": "Equally frequent answers stay equally frequent in the release.",
    "blocks": "An answer never leaves its class.",
    "tridiagonal": "An answer moves to a neighbour at most.",
    "symmetric": "Each answer turns into another one with the same probability as the reverse.",
    "circulant": "Every answer is shifted by the same distribution, counted from its own place.",
    "entropy_rate": "The released answer stays uncertain: on average at least this share of the largest entropy.",
    "shared_entropy_rate": "Several attributes share one budget of uncertainty.",
    "uniform_off_diagonal": "A wrong answer is any other one, each equally likely.",
    "identification_risk": "An intruder who looks for a known person among the matching records finds it with at "
    "most this probability.",
    "invariant": "The frequencies of the release are, in expectation, those of the data.",
    "permutation_mixture": "The release is a random relabelling of the categories, drawn from the stated ones.",
    "forbidden": "The stated outputs are never released for the stated answers.",
    "floor": "A true answer is released as it is with at least the stated probability.",
    "at_most": "Another number of the mechanism, such as its information or loss, is at most the stated one.",
    "at_least": "Another number of the mechanism, such as its information or gain, is at least the stated one.",
    "linear": "A row of the user's own on the whole matrix.",
    "cone": "The user's own inequalities on each column.",
    "pointwise_maximal_leakage": "No single output improves any guess by more than exp(epsilon), at the stated "
    "frequencies.",
    "maximal_leakage": "The release as a whole improves any guess by at most exp(epsilon), at any frequencies.",
    "renyi_ldp": "The Renyi divergence of the outputs of any two answers is at most epsilon.",
    "zero_concentrated_ldp": "The Renyi divergences of all orders a of the outputs of any two answers are at most "
    "rho a.",
}
"""What each constraint guarantees, by its name in problem files."""

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
    own = "A rule of the user's own."
    rules = problem.constraints
    return [(name, CONSTRAINTS.get(rule.kind, own)) for name, rule in zip(described(rules), rules, strict=True)]
