"""Synthetic respondents with the frequencies of a prior: for demonstrations and tests, never from real records."""

from collections.abc import Iterator

import numpy as np

from rropt.errors import positive_integer
from rropt.mechanisms.sampling import MechanismSampler, insecure_seeded_source
from rropt.model.prior import Prior

MOST_PEOPLE = 10**9
BLOCK = 1 << 16


def insecure_synthetic_records(prior: Prior, count: int, seed: int, column: str) -> Iterator[str]:
    """The text of a CSV file, a block of lines at a time: columns `person` (a number) and `column`, with `count` labels
    drawn independently from the prior, exactly as its integers say, the same for the same seed.

    INSECURE, as `insecure_seeded_source`: anyone who has the seed can make the file. Raises InputError.
    """
    positive_integer(count, "synthetic records", "as 10000", most=MOST_PEOPLE)
    sampler = MechanismSampler([prior.weights], [sum(prior.weights)])
    source = insecure_seeded_source(seed)
    names = [_cell(label) for label in prior.labels]
    yield f"person,{_cell(column)}\n"
    for start in range(0, count, BLOCK):
        drawn = sampler.sample(np.zeros(min(BLOCK, count - start), dtype=np.uint8), source=source)
        yield "".join(f"{start + at},{names[y]}\n" for at, y in enumerate(drawn.tolist(), 1))


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(letter in text for letter in '",\r\n') else text
