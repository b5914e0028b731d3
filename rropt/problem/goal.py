"""The goal for an objective: the most or the least of it."""

from dataclasses import dataclass

from rropt.declare.objectives import Objective
from rropt.errors import Conflict, WrongType
from rropt.io.arguments import checked
from rropt.program.programs import Sense


@dataclass(frozen=True)
class Goal:
    """An objective and whether it is maximised or minimised; made by `Maximize` and `Minimize`."""

    sense: Sense
    objective: Objective

    def __post_init__(self) -> None:
        if not isinstance(self.objective, Objective):
            raise WrongType(
                f"{type(self.objective).__name__} is not an objective",
                self.sense,
                "for example Maximize(MutualInformation(prior))",
            )
        if self.objective.one_sided and self.sense != self.objective.sense:
            # It is infinite at mechanisms that identify nothing.
            what = f"{self.objective.kind} can be {self.objective.sense.removesuffix('ize')}ised only"
            raise Conflict(what, self.sense, f"wrap it in {self.objective.sense.capitalize()}")


@checked
def Maximize(objective: Objective) -> Goal:
    """The goal of making `objective` as large as possible.

    For example:

        >>> import rropt as rr
        >>> goal = rr.Maximize(rr.Trace())
        >>> goal.sense
        'maximize'
    """
    return Goal("maximize", objective)


@checked
def Minimize(objective: Objective) -> Goal:
    """The goal of making `objective` as small as possible.

    For example:

        >>> import rropt as rr
        >>> goal = rr.Minimize(rr.EOptimality(rr.Prior.uniform(3)))
        >>> goal.sense
        'minimize'
    """
    return Goal("minimize", objective)
