"""Respondents of a survey design beside those of the best design at the same epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import scipy

from rropt.errors import Conflict, OutOfRange, TooLarge, WrongType, shown
from rropt.estimation.two_samples import _weights
from rropt.exact import rational, shown as rounded
from rropt.io.arguments import checked
from rropt.io.tables import Readable, Table
from rropt.io.types import Number
from rropt.mechanisms.families.survey import ChanceDevice, chance_device, unrelated_question
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.precision import sample_size
from rropt.mechanisms.set_outputs.families import SubsetSelection
from rropt.model.prior import Prior


@checked
@dataclass(frozen=True)
class SurveyPlan(Readable):
    """The respondents that a survey needs for a margin of error, and its chance device.

    `mechanisms` are the design, or that of each of two samples, with the `respondents` of each. `best` is the number of
    respondents of the best design whose privacy ratio is the same, None where the ratio is infinite or 1. `device` is that
    of a design of few outcomes, None for others and for two samples. `half_width` is the margin of error at `level`.

        >>> import rropt as rr
        >>> found = rr.estimation.plan_survey(rr.mechanisms.warner("3/4"), "0.05")
        >>> found.respondents, found.best, float(found.privacy_ratio)
        ((1537,), 1537, 3.0)
    """

    mechanisms: tuple[Mechanism, ...]
    respondents: tuple[int, ...]
    best: int | None
    half_width: Fraction
    level: Fraction
    device: ChanceDevice | None = field(default=None, kw_only=True)

    @property
    def total(self) -> int:
        """The respondents of all samples."""
        return sum(self.respondents)

    @property
    def privacy_ratio(self) -> Fraction | float:
        """The largest privacy ratio of a sample."""
        return max(one.privacy_ratio for one in self.mechanisms)

    @property
    def extra(self) -> float | None:
        """The share of respondents that the best design saves; None where there is none."""
        return None if self.best is None else 1 - self.best / self.total

    def _tables(self) -> Iterator[Table]:
        ratio, epsilon = self.privacy_ratio, max(one.epsilon.upper for one in self.mechanisms)
        width = rounded(100 * self.half_width, 6, up=True)
        samples = "" if len(self.respondents) == 1 else f" ({' and '.join(f'{n:,}' for n in self.respondents)})"
        rows = [
            ("privacy ratio", rounded(ratio, 6, up=True)),
            ("epsilon", rounded(epsilon, 6, up=True)),
            ("respondents", f"{self.total:,}{samples}"),
            ("best design at this epsilon", "none" if self.best is None else f"{self.best:,}"),
        ]
        yield Table(f"Respondents for a margin of error of {width} points ({float(100 * self.level):g} %)", rows)
        if self.device is not None:
            yield from self.device._tables()

    def to_dict(self) -> dict[str, Any]:
        """Plain data: numbers, and the steps of the device as [how many numbers, the answer for each true one]."""
        ratio = self.privacy_ratio
        device = self.device and {
            "outcomes": self.device.outcomes,
            "steps": [
                [count, dict(zip(self.device.inputs, answers, strict=True))] for count, answers in self.device.steps
            ],
        }
        return {
            "privacy_ratio": None if isinstance(ratio, float) else str(ratio),
            "respondents": list(self.respondents),
            "best": self.best,
            "half_width": str(self.half_width),
            "level": str(self.level),
            "device": device,
        }


@checked
def plan_survey(
    design: AnyMechanism, half_width: Number, *, frequencies: Prior | None = None, level: Number = "0.95"
) -> SurveyPlan:
    """The respondents that a design needs for a margin of error, beside the best design of the same privacy ratio, and
    instructions for a chance device.

    Margins are those of `sample_size`, at `frequencies` or at the worst ones. The best design is subset selection, which
    has the least risk at equal frequencies; for two categories it is the only design that uses the whole ratio, and so
    the best at every frequency. Raises InputError, for a design that does not identify the frequencies too.

        >>> import rropt as rr
        >>> tenth = rr.Prior.from_probabilities({"yes": "1/10", "no": "9/10"})
        >>> dice = rr.mechanisms.forced_response("3/4", yes="2/3")
        >>> found = rr.estimation.plan_survey(dice, "0.03", frequencies=tenth)
        >>> found.total, found.best
        (1391, 912)
    """
    made = explicit(design, "design")
    number = sample_size(made, half_width, level=level, frequencies=frequencies)
    best = _best(made, made.privacy_ratio, half_width, frequencies, level)
    try:
        device = chance_device(made)
    except TooLarge:
        device = None
    return SurveyPlan(
        (made,), (number,), best, rational(half_width, "half_width"), rational(level, "level"), device=device
    )


@checked
def plan_two_samples(
    sensitive: Sequence[Number], share: Number, innocuous: Number, half_width: Number, *, level: Number = "0.95"
) -> SurveyPlan:
    """The respondents of two samples of the unrelated-question design for a margin of error of the sensitive share, where
    the innocuous share is not known to the analyst.

    `sensitive` are the probabilities of the sensitive question in both samples; `share` and `innocuous` the shares of
    "yes" that are expected. Respondents are divided so that their sum is least: in proportion to |w_i| s_i, with the
    weights w_i of `estimate_two_samples` and the standard deviations s_i of an answer in sample i. Raises InputError.
    Source: Greenberg et al. 1969 (see `estimate_two_samples`).

        >>> import rropt as rr
        >>> found = rr.estimation.plan_two_samples(("0.7", "0.3"), "0.1", "0.25", "0.05")
        >>> found.respondents, found.best
        ((871, 428), 321)
    """
    where = "plan_two_samples"
    if isinstance(sensitive, str) or len(sensitive) != 2:
        raise WrongType("expected two probabilities", f"{where} sensitive", 'as ("0.7", "0.3")')
    chances = rational(sensitive[0], "sensitive"), rational(sensitive[1], "sensitive")
    if chances[0] == chances[1]:
        raise Conflict("both samples have the same probability", "sensitive", "two different ones are needed")
    expected, other = rational(share, "share"), rational(innocuous, "innocuous")
    width, wanted = rational(half_width, "half_width"), rational(level, "level")
    for name, value, given in (("share", expected, share), ("innocuous", other, innocuous)):
        if not 0 <= value <= 1:
            raise OutOfRange(f"it is {shown(given)}, not in [0, 1]", name, "give a share such as 0.1")
    for name, value, given in (("half_width", width, half_width), ("level", wanted, level)):
        if not Fraction(1, 10**100) <= value < 1:
            raise OutOfRange(f"it is {shown(given)}, not in (0, 1)", name, "give a number such as 0.03")
    made = tuple(unrelated_question(chance, other) for chance in chances)
    weights, _ = _weights(chances)
    deviations = []
    for chance, weight in zip(chances, weights, strict=True):
        answer = float(chance * expected + (1 - chance) * other)
        deviations.append(abs(weight) * math.sqrt(answer * (1 - answer)))
    z = -float(scipy.special.ndtri(float(1 - wanted) / 2))
    whole = sum(deviations) * (z / float(width)) ** 2
    numbers = tuple(max(1, math.ceil(whole * one * (1 - 1e-12))) for one in deviations)
    prior = Prior.from_probabilities({"yes": expected, "no": 1 - expected})
    best = _best(made[0], max(one.privacy_ratio for one in made), width, prior, wanted)
    return SurveyPlan(made, numbers, best, width, wanted)


def _best(
    design: Mechanism, ratio: Fraction | float, half_width: Number, frequencies: Prior | None, level: Number
) -> int | None:
    """The respondents of the best design at this privacy ratio."""
    if isinstance(ratio, float) or ratio == 1:
        return None
    best = SubsetSelection(design.inputs, gamma=ratio)
    return sample_size(best, half_width, level=level, frequencies=frequencies)
