"""Merged categories: groups that are reported as they are, and randomised response on bins."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

from rropt.errors import Missing, TooLarge, counted
from rropt.exact import coefficient, common_denominator, rational_table
from rropt.io.arguments import checked
from rropt.io.counts import Table, category_labels
from rropt.io.types import Label, Matrix, Number
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.model.prior import Prior, clean_labels
from rropt.model.privacy import Level, level_numbers

LARGEST = 10**6
"""Inputs squared times outputs at most."""


@checked
def generalization(groups: Mapping[Label, Sequence[Label]]) -> Mechanism:
    """Report the group of the true category: a deterministic merging, outputs the names of the groups.

    Every category is in one group. Its privacy ratio is infinite (it protects only what is within a group) and it
    identifies the frequencies of the groups, not of the categories. Raises InputError.

        >>> import rropt as rr
        >>> rr.mechanisms.generalization({"a or b": ["a", "b"], "c": ["c"]}).matrix.tolist()
        [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    members = [(str(label), row) for row, own in enumerate(groups.values()) for label in own]
    labels = category_labels([label for label, _ in members], "categories")
    empty = [str(name) for name, own in groups.items() if not len(own)]
    if empty:
        raise Missing("the group is empty", f"group {empty[0]!r}", "leave it out")
    rows = [[Fraction(at == row) for at in range(len(groups))] for _, row in members]
    return Mechanism.from_rationals(rows, inputs=labels, outputs=[str(name) for name in groups])


@checked
def response_on_bins(
    prior: Prior,
    loss: Matrix,
    outputs: Sequence[Label],
    epsilon: Number | None = None,
    *,
    gamma: Number | None = None,
) -> Mechanism:
    """Randomised response among a few of the `outputs`: inputs that follow each other fall into bins, and each bin has
    one output, which its inputs answer gamma = exp(epsilon) times as often as the output of any other bin.

    `loss` is inputs x outputs, both in the order of what they stand for; the bins are those of the least expected loss
    at the prior, found by dynamic programming. For losses that grow with the distance of input and output this is what
    no LDP mechanism of the level with these outputs improves (`rropt claims ghazi` has a proof and certificates), but
    for gamma, which is taken down to a multiple of 2^-53. Unused outputs are left out.

    Source: Ghazi, Kamath, Kumar, Leeman, Manurangsi, Varadarajan and Zhang 2023, Regression with Label Differential
    Privacy (RR-on-Bins); for classes Ghazi, Golowich, Kumar, Manurangsi and Zhang 2021, Deep Learning with Label
    Differential Privacy. Raises InputError.

        >>> import rropt as rr
        >>> prior = rr.Prior.uniform(["1", "2", "3"])
        >>> loss = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
        >>> rr.mechanisms.response_on_bins(prior, loss, ["1", "2", "3"], 2).outputs
        ('1', '2', '3')
    """
    where = "response_on_bins"
    names = clean_labels(outputs, f"{where} outputs")
    level = Level(**level_numbers(epsilon, gamma, where))
    rows = Table.read(loss, f"{where} loss").of(prior.labels, names, f"{where} loss", ("inputs", "outputs"))
    table = rational_table(rows, f"{where} loss", coefficient)
    k, m = len(prior), len(names)
    if k * k * m > LARGEST:
        raise TooLarge(f"{counted(k, 'inputs')} and {counted(m, 'outputs')} are too many", where, "group them")
    ratio = Fraction(int(level.ratio.lower * GRID), GRID)
    costs = [[p * entry for entry in row] for p, row in zip(prior.probabilities, table, strict=True)]
    ends, chosen = _best_bins(costs, ratio)
    bins = [number for number, (low, high) in enumerate(ends) for _ in range(low, high)]
    whole = ratio + len(ends) - 1
    entries = [[(ratio if own == number else Fraction(1)) / whole for number in range(len(ends))] for own in bins]
    return Mechanism.from_rationals(entries, inputs=prior.labels, outputs=tuple(names[g] for g in chosen))


def _best_bins(costs: Sequence[Sequence[Fraction]], ratio: Fraction) -> tuple[list[tuple[int, int]], list[int]]:
    """The ends of the best bins and their outputs. With d bins an output g that the inputs of B answer ratio times as
    often costs (sum over all of cost + (ratio - 1) sum over B of cost) / (ratio + d - 1)."""
    unit = common_denominator(entry for row in costs for entry in row) * ratio.denominator
    k, m = len(costs), len(costs[0])
    sums = [[0] * m]
    for row in costs:
        sums.append([known + int(entry * unit) for known, entry in zip(sums[-1], row, strict=True)])
    more = ratio - 1
    # best[j]: the least cost of j bins for the inputs before `high`, and where the last of them begins.
    bin_of: dict[tuple[int, int], tuple[Fraction, int]] = {}
    for low, high in product(range(k), range(1, k + 1)):
        if low < high:
            own = ((sums[k][g] + more * (sums[high][g] - sums[low][g]), g) for g in range(m))
            bin_of[low, high] = min(own)
    best: list[list[tuple[Fraction, int]]] = [[(Fraction(0), 0)] + [(Fraction(-1), -1)] * k]
    found: tuple[Fraction, int] | None = None
    for count in range(1, min(k, m) + 1):
        line = [(Fraction(-1), -1)] * (k + 1)
        for high in range(count, k + 1):
            tried = [
                (best[-1][low][0] + bin_of[low, high][0], low)
                for low in range(count - 1, high)
                if best[-1][low][1] >= 0
            ]
            line[high] = min(tried)
        best.append(line)
        value = line[k][0] / (ratio + count - 1)
        if found is None or value < found[0]:
            found = value, count
    assert found is not None
    ends, chosen, high = list[tuple[int, int]](), list[int](), k
    for count in range(found[1], 0, -1):
        low = best[count][high][1]
        ends.append((low, high))
        chosen.append(bin_of[low, high][1])
        high = low
    return ends[::-1], chosen[::-1]
