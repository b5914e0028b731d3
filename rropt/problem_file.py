"""Problem files: a problem as TOML."""

import os

from rropt.io.arguments import checked
from rropt.io.files import TOML, read_text
from rropt.model.prior import Prior
from rropt.problem import Problem
from rropt.problem.tables import Declared, problem_from, text_of

__all__ = ["load_problem", "parse_problem", "problem_to_toml", "read_problem"]


@checked
def read_problem(path: str | os.PathLike[str], *, prior: Prior | None = None) -> Declared:
    """Read a problem file as `load_problem` does, with what else it declares. Raises InputError.

    For example:

        >>> import rropt as rr
        >>> from rropt.models import model_path
        >>> type(rr.problem_file.read_problem(model_path("survey-yes-no"))).__name__
        'Declared'
    """
    return problem_from(Problem, read_text(path, "problem file", limits=TOML), str(path), prior)


@checked
def load_problem(path: str | os.PathLike[str], *, prior: Prior | None = None) -> Problem:
    """Read a problem file. A `prior` has the frequencies of the inputs that its [input] names, whose order stays; where
    it names none, the inputs are those of the prior. Raises InputError that names file and key.

        >>> import rropt as rr
        >>> from rropt.models import model_path
        >>> rr.load_problem(model_path("survey-yes-no")).inputs
        ('yes', 'no')
    """
    return read_problem(path, prior=prior).problem


@checked
def parse_problem(text: str, *, source: str = "problem", given: Prior | None = None) -> Problem:
    """A problem from TOML text. `source` is the file's path: it appears in messages, and `counts_file` and `data_file`
    are relative to its folder. A `given` prior counts as that of `load_problem`. Raises InputError.

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem)).inputs
        ('no', 'yes')
    """
    return problem_from(Problem, text, source, given).problem


@checked
def problem_to_toml(problem: Problem) -> str:
    """The problem as the text of a problem file; `parse_problem` gives an equal problem back.

    For example:

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> print(rr.problem_file.problem_to_toml(problem).splitlines()[0])
        schema = 1
    """
    return text_of(problem)
