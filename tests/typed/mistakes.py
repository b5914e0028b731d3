"""Sixty mistakes: mypy --strict finds each at a line that ends in `# mistake`, and nothing else (test_typed.py).

The file is read by the type checker and never run.
"""

import rropt as rr

prior = rr.Prior.uniform(3)
goal = rr.Maximize(rr.MutualInformation(prior))
problem = rr.Problem(goal, [rr.LDP(1)])
solution = problem.solve()
mechanism = solution.mechanism
assert mechanism is not None
counts = {"0": 5, "1": 3, "2": 2}

# Names.
rr.LPD(1)  # mistake
rr.Maximise(rr.Trace())  # mistake
rr.MutualInfo(prior)  # mistake
rr.solve(problem)  # mistake
rr.Prior.from_count(counts)  # mistake
problem.solved()  # mistake
solution.bounds  # mistake
solution.optimum  # mistake
mechanism.matrices  # mistake
mechanism.estimates(counts)  # mistake
goal.objectives  # mistake
rr.RandomizedResponse(3, epsilon=1).mechanism()  # mistake

# Numbers.
rr.LDP([1, 2])  # mistake
rr.LDP(epsilon=None, gamma=[3])  # mistake
rr.LDP(epsilon=1j)  # mistake
rr.LDP(eps=1)  # mistake
rr.ApproximateLDP(1, delta={"delta": 0.1})  # mistake
rr.EntropyRate({"at_least": 0.5})  # mistake
rr.EntropyRate()  # mistake
rr.IdentificationRisk(counts, at_most=[0.25])  # mistake
rr.MetricDP([("a", "b")], epsilon=("1",))  # mistake
rr.MetricDP([("a", "b")], 1, "yes")  # mistake
rr.LinearConstraint([[1, 0], [0, 1]], "<=", [1])  # mistake
rr.LinearConstraint([[1, 0], [0, 1]], 1, 1)  # mistake
rr.RandomizedResponse(3, epsilon=[1])  # mistake
rr.mechanisms.SubsetSelection(4, epsilon=1, t="2")  # mistake
rr.Floor(None)  # mistake
rr.mechanisms.warner(None)  # mistake
rr.privacy.RhoToRho(0.1)  # mistake
rr.privacy.BetaFactor(b"2")  # mistake
rr.estimation.sample_size(mechanism, half_width=[0.01])  # mistake

# What goes where.
rr.Maximize(rr.LDP(1))  # mistake
rr.Maximize(goal)  # mistake
rr.Maximize("mutual_information")  # mistake
rr.Problem(rr.MutualInformation(prior), [rr.LDP(1)])  # mistake
rr.Problem(goal, rr.LDP(1))  # mistake
rr.Problem(goal, [rr.Trace()])  # mistake
rr.Problem(goal, ["ldp"])  # mistake
rr.Problem(goal, [rr.LDP(1)], inputs=3)  # mistake
rr.MutualInformation([0.5, 0.5])  # mistake
rr.MutualInformation(counts)  # mistake
rr.MutualInformation()  # mistake
rr.ExpectedLoss(prior)  # mistake
rr.ExpectedLoss(prior, 3)  # mistake
rr.BayesSuccess(prior, gain=1)  # mistake
rr.MinimaxRisk(prior, queries=1)  # mistake
rr.Prior.uniform(3.5)  # mistake
rr.Prior.from_counts(5)  # mistake
rr.Pairs(2.5, 2)  # mistake
rr.RLDP(1, prior)  # mistake
rr.robust.ChiSquareSet(prior, alpha=[0.05])  # mistake
rr.audit("matrix.csv", epsilon={1})  # mistake
rr.patterns.Blocks("ab")[0]  # mistake
rr.patterns.Forbidden([1, 2])  # mistake

# What comes back.
text: str = solution.value  # mistake
number: float = solution.mechanism  # mistake
wrong: rr.Solution = problem  # mistake
status: int = solution.status  # mistake
estimate: list[float] = mechanism.estimate(counts)  # mistake
certificate: dict[str, int] = solution.certificate  # mistake
