"""Adult's eight attributes: shipped counts that fit together, and what is computed from them."""

from __future__ import annotations

import numpy as np
import pytest
from rropt.models import ruiz2021_adult
from rropt.models.ruiz2021_adult import Outcome, bits, counts


def test_the_counts_fit_together() -> None:
    """32,561 people in every table, and every pair's margins are those of its attributes."""
    data = counts()
    assert len(data.priors) == 8
    assert len(data.pairs) == 28
    assert {name: len(prior) for name, prior in data.priors.items()}["native-country"] == 42
    for (first, second), table in data.pairs.items():
        assert table.sum() == 32_561
        for name, margin in ((first, table.sum(axis=1)), (second, table.sum(axis=0))):
            assert [p * 32_561 for p in data.priors[name].probabilities] == margin.tolist()
    assert data.pairs["race", "sex"].tolist()[0] == [119, 192]


def test_bits_of_a_joint_distribution() -> None:
    assert bits(np.full((2, 3), 1 / 6)) == pytest.approx(0, abs=1e-12)
    assert bits(np.eye(4) / 4) == pytest.approx(2)
    # Relationship and marital status say most about each other.
    most = max(counts().information().items(), key=lambda item: item[1])
    assert most[0] == ("marital-status", "relationship")
    assert most[1] == pytest.approx(1.1, abs=0.2)


@pytest.mark.long
def test_an_outcome_against_its_own_mechanisms() -> None:
    """The budget is kept, the loss is that of the matrices, the reports tell less of each other than the answers."""
    found: Outcome = ruiz2021_adult.outcome("0.5", even=False)
    solution = found.solution
    assert solution.solution.status == "certified"
    assert solution.beta >= 0.5
    assert solution.solution.value == pytest.approx(sum(found.loss.values()) / 8, abs=1e-12)
    for name, mechanism in solution.mechanisms.items():
        stays = sum(float(p) * float(mechanism.entry(x, x)) for x, p in enumerate(counts().priors[name].probabilities))
        assert found.loss[name] == pytest.approx(1 - stays, abs=1e-12)
    assert all(found.after[pair] <= before + 1e-12 for pair, before in found.before.items())
    assert 0 < found.kept < 1
    # An independent way to one pair: the reports' joint, added up answer by answer.
    table = counts().pairs["race", "sex"] / 32_561
    race, sex = solution.mechanisms["race"].matrix, solution.mechanisms["sex"].matrix
    joint = np.einsum("ab,ax,by->xy", table, race, sex)
    assert found.after["race", "sex"] == pytest.approx(bits(joint), abs=1e-12)
