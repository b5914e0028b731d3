"""A column's counts with noise, which the accountant of the data counts: for designs that are made from data."""

import os
from collections.abc import Hashable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from rropt.errors import OutOfRange, Refused
from rropt.exact import declared_text, rational
from rropt.io.types import Number
from rropt.mechanisms.sampling.geometric import GeometricNoise
from rropt.mechanisms.sampling.sources import secure_bytes
from rropt.model.prior import Prior
from rropt.release.accountant import PrivacyAccountant, temporary_name
from rropt.release.plans.manifest import file_sha256
from rropt.release.plans.odds import privacy_ratio_text
from rropt.release.previous_releases import names_of
from rropt.release.storage.places import Place
from rropt.release.storage.tally import Draw

T = TypeVar("T", bound=Hashable)


def noisy_prior(
    prior: Prior,
    epsilon: Number,
    data: Path,
    output: Path,
    accountant: Place | None = None,
    population: str = "",
) -> Prior:
    """The prior of a column's counts with exact two-sided geometric noise, epsilon-DP for one changed value; see
    `noisy_counts`. Negative counts become 0. Raises InputError."""
    column = "" if prior.source is None else prior.source.column
    counts = dict(zip(prior.labels, prior.weights, strict=True))
    drawn = noisy_counts((column,), counts, epsilon, data, output, accountant, population)
    if not any(drawn.values()):
        raise OutOfRange("with noise no count is above 0", str(data), "give a larger epsilon; this one is spent")
    public = f"with noise of epsilon {declared_text(rational(epsilon))}"
    return replace(Prior.from_counts(drawn), source=prior.source and replace(prior.source, public=public))


def noisy_counts(
    columns: tuple[str, ...],
    counts: Mapping[T, int],
    epsilon: Number,
    data: Path,
    output: str | os.PathLike[str],
    accountant: Place | None = None,
    population: str = "",
) -> dict[T, int]:
    """Counts of the combinations of some columns with exact two-sided geometric noise, at least 0: epsilon-DP for one
    record with other values in them.

    The combinations are public; one without records gets noise too. The accountant of `data` counts the draw before the
    first random word, for results in `output`. Raises InputError, also above a ceiling, and where one of the columns
    was released unchanged.
    """
    noise = GeometricNoise(rational(epsilon, "epsilon"))
    with PrivacyAccountant(data.resolve(), accountant, file_sha256(data)) as found:
        with found.reserving():
            shown = {name for entry in found.counted(population) for name in entry.raw} & set(columns)
            if shown:
                what = f"{names_of(shown)} of this data was released unchanged: together epsilon is infinite"
                raise Refused(what, str(data), "use the counts of that release")
            entry = _entry(columns, noise, data, Path(output), population)
            found.refuse_above(Draw.of_event(entry))
            found.begin(entry)
        drawn = {label: max(count + noise.draw(), 0) for label, count in counts.items()}
        found.finish()
    return drawn


def _entry(
    columns: tuple[str, ...], noise: GeometricNoise, data: Path, output: Path, population: str
) -> dict[str, Any]:
    """The line of the accountant. A histogram of a column is not an answer: the column can be released after it."""
    identity = secure_bytes(8).hex()
    entry = {
        "columns": list(columns),
        "privacy_ratio": privacy_ratio_text(noise.privacy_ratio),
        "guarantee": "counts with noise",
        "counts": True,
    }
    return {
        "release": identity,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": data.name,
        "sha256": file_sha256(data),
        "plan": "histogram",
        "columns": [entry],
        "raw": [],
        "population": population,
        "output": str(output.resolve()),
        "temporary": temporary_name(output, identity),
    }
