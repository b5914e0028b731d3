"""Secret randomised response: robust LDP over all distributions."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rropt.errors import WrongType
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.robust.base import RobustProtocol
from rropt.mechanisms.robust.search import information
from rropt.model.distributions.quantile import significant_down
from rropt.model.prior import Pairs, Prior
from rropt.model.privacy import Level, level_numbers


@checked
@dataclass(frozen=True, init=False)
class SecretRandomizedResponse(RobustProtocol):
    """SRR: the pair itself with weight gamma, another pair with the same s with 1 / gamma, any other with 1.

    Private for every distribution: inputs with different s differ by at most gamma. Inputs that share s differ by up to
    gamma^2. `pairs` is a Pairs; declare `epsilon` (nats) or `gamma`. Source: lopuhaa Definition 5, Lemma 6; optimal at
    every prior of full support for epsilon large enough (Theorem 7). Raises InputError.

        >>> import rropt as rr
        >>> secret = rr.robust.SecretRandomizedResponse(rr.Pairs(["f", "m"], ["no", "yes"]), 1)
        >>> len(secret.to_mechanism().outputs)
        4
    """

    of: Pairs
    level: Level

    def __init__(self, pairs: Pairs, epsilon: Number | None = None, *, gamma: Number | None = None) -> None:
        if not isinstance(pairs, Pairs):
            raise WrongType(f"expected Pairs, got {pairs!r}", type(self).__name__, "give rropt.Pairs")
        object.__setattr__(self, "of", pairs)
        object.__setattr__(self, "level", Level(**level_numbers(epsilon, gamma, type(self).__name__)))

    @property
    def pairs(self) -> Pairs:
        return self.of

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.pairs.labels

    def _output_count(self) -> int:
        return len(self.pairs)

    def _table(self, exact: bool) -> np.ndarray:
        # Times gamma: integers of gamma, so that one division a kind of cell is enough.
        gamma = significant_down(self.level.ratio.lower)
        k, width = len(self.pairs), len(self.pairs.other)
        total = gamma * gamma + (width - 1) + gamma * (k - width)
        kinds = [gamma * gamma / total, 1 / total, gamma / total]
        cells: list[Fraction] | list[float] = kinds if exact else [float(kind) for kind in kinds]
        group = np.arange(k) // width
        which = np.where(group[:, None] == group[None, :], 1, 2)
        np.fill_diagonal(which, 0)
        return np.array(cells, dtype=object if exact else float)[which]

    def formula(self) -> float:
        """Mutual information at the uniform distribution, nats: it is not optimised for any distribution."""
        return information(self._matrix, Prior.uniform(self.pairs.labels).array)
