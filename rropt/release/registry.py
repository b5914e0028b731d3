"""A draft of an entry in the registry of deployments of differential privacy (OpenDP), from the manifest of a release.

Source of the fields and their words: the schema of github.com/opendp/deployments-registry-data (October 2025).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rropt.errors import Unreadable, counted
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.files import named_path, write_whole
from rropt.io.tables import Table
from rropt.release.sheet import designs_of_entry, epsilon_text, manifest_of

MODELS = {
    "Central": "The curator has the true values, and randomised each record by itself before publication.",
    "Local": "Each respondent randomised the own record. The curator never had the true values.",
}
OPEN = ""
"""The value of a field that only the publisher can fill in."""


@dataclass(frozen=True, eq=False)
class RegistryDraft(ByContent):
    """The draft of an entry: `document` in the order of the registry, and the fields that are still `open`."""

    document: Mapping[str, Any]
    open: tuple[str, ...]

    def to_yaml(self) -> str:
        """The entry as YAML; open fields have a comment."""
        return "\n".join([*_lines(self.document), ""])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the entry; returns the path. Raises InputError unless its name is one that the registry takes: small
        letters, digits and underscores, and then .yaml."""
        place = named_path(path)
        if re.fullmatch(r"[a-z0-9_]+\.yaml", place.name) is None:
            wrong = "the registry takes names of small letters, digits and underscores"
            raise Unreadable(wrong, str(place), "write a name such as our_survey_2026.yaml")
        return write_whole(place, self.to_yaml())

    def _tables(self) -> Iterator[Table]:
        rows = [(name, text if text != OPEN else "(fill in)") for name, text in _leaves(self.document, "")]
        yield Table("Draft for the registry of deployments", rows)

    def _remarks(self) -> Iterator[str]:
        yield f"note: {counted(len(self.open), 'fields')} to fill in: {', '.join(self.open)}"


@checked
def draft_registry_entry(
    file: str | os.PathLike[str], *, model: Literal["Central", "Local"] = "Central"
) -> RegistryDraft:
    r"""A draft of an entry in the registry of deployments (OpenDP) for a released file with its manifest.

    What the manifest knows is filled in: the variant, the unit, the parameters, what is unprotected, composition and
    mechanisms. Names, purposes and authors are left open. `model` is "Central" where the publisher had the true values,
    "Local" where respondents randomised their own records. It reads no confidential data. Raises InputError as
    `describe_release` does.

        >>> import pathlib, tempfile
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], epsilon=1).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data, out = pathlib.Path(folder) / "people.csv", pathlib.Path(folder) / "released.csv"
        ...     size = data.write_text("smoker\nno\nyes\n", encoding="utf-8")
        ...     done = rr.release.release_file(data, rr.release.ProtectedColumn("smoker", response), out)
        ...     draft = rr.release.draft_registry_entry(out)
        >>> "Randomised columns: smoker" in str(draft)
        True
    """
    _, content = manifest_of(file)
    pure = content["epsilon"] is not None
    columns = [", ".join(one["columns"]) for one in content["columns"]]
    guarantees = dict.fromkeys(
        f"{', '.join(one['columns'])}: {design['guarantee']}"
        for one in content["columns"]
        for _, design, _ in designs_of_entry(one)
    )
    basic = {
        "name": OPEN,
        "data_curators": [OPEN],
        "intended_use": OPEN,
        "data_product_type": "Dataset",
        "data_product_region": OPEN,
        "description": f"A table of {content['rows']:,} records. Randomised columns: {'; '.join(columns)}. "
        f"Estimates need the matrices in its manifest.",
        "publication_date": content["created"][:10],
        "data_product_sector": "Government",
    }
    unit = {
        "privacy_unit": "Record",
        "privacy_unit_details": "Adjacent datasets differ in the values of one record in the randomised columns. Who is "
        "in the dataset is not protected. A person with several records has the sum of their parameters.",
        "privacy_parameters": {"epsilon": _Number(epsilon_text(content["epsilon"]))} if pure else {},
        "privacy_parameters_details": "; ".join(guarantees),
    }
    kept = ", ".join(content["unprotected"]) or "none"
    document = {
        "url_slug": OPEN,
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": basic,
            "dp_variant": {
                "variant_name": "Pure DP" if pure else "Custom",
                "data_domain": "All tables of so many records whose randomised columns have the declared categories.",
                "unprotected_quantities": _unprotected(content, kept),
            },
            "privacy_loss": unit,
            "deployment_model": {
                "model_name": model,
                "model_name_details": MODELS[model],
                "actors": OPEN,
                "release_type": "Many releases" if content["earlier_draws"] else "One release",
                "release_type_details": OPEN,
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "None in the published table. Estimates from it are post-processing.",
                "composition": _composition(content),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": _learned(content),
                "mechanisms": _mechanisms(content),
                "justification": OPEN,
            },
            "administrative": {"sources": OPEN, "notes": OPEN, "registry_authors": [OPEN]},
        },
    }
    return RegistryDraft(document, tuple(name for name, text in _leaves(document, "") if text == OPEN))


def _unprotected(content: Mapping[str, Any], kept: str) -> str:
    only = next((one["where"] for one in content["columns"] if "where" in one), None)
    others = (
        "" if only is None else f" {content['unchanged_records']:,} records without {' and '.join(only)} are unchanged."
    )
    return f"Columns released unchanged: {kept}.{others} Also the number and the order of the records."


def _composition(content: Mapping[str, Any]) -> str:
    said = "Sequential over the randomised columns of a record; parallel over strata that are disjoint."
    if content["earlier_draws"]:
        total = epsilon_text(content["epsilon_with_earlier"])
        said += f" With {counted(content['earlier_draws'], 'earlier draws')} of these people epsilon is {total}."
    return said


def _learned(content: Mapping[str, Any]) -> str:
    learned: Sequence[str] = content.get("learned", ())
    return (
        f"Learned from the data without noise: {'; '.join(learned)}."
        if learned
        else "Nothing was learned from the data."
    )


def _mechanisms(content: Mapping[str, Any]) -> str:
    proofs = {design["certificate"] for one in content["columns"] for _, design, _ in designs_of_entry(one)}
    proved = " Each has a certificate that an independent checker accepted." if proofs == {"checked"} else ""
    names = sorted({sha256 for one in content["columns"] for _, _, sha256 in designs_of_entry(one)})
    return (
        "Randomised response with a matrix of exact rational probabilities for each column, published in the manifest."
        f"{proved} Draws use whole numbers and the secure random numbers of the operating system, no floating point. "
        f"Software: rropt. SHA-256 of the matrices: {', '.join(names)}."
    )


class _Number(str):
    """A number in its decimal text."""


def _leaves(document: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(document, Mapping):
        for key, value in document.items():
            yield from _leaves(value, f"{name}.{key}" if name else key)
    elif isinstance(document, list):
        for value in document:
            yield from _leaves(value, name)
    else:
        yield name.removeprefix("deployment."), str(document)


def _lines(document: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield f"{indent}{key}:" if value else f"{indent}{key}: {{}}"
            yield from _lines(value, indent + "  ")
        elif isinstance(value, list):
            yield f"{indent}{key}:"
            yield from (f"{indent}  - {_scalar(one)}" for one in value)
        else:
            yield f"{indent}{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    """A scalar of YAML: texts in double quotation marks, which are those of JSON."""
    if value == OPEN:
        return '""  # fill in'
    return str(value) if isinstance(value, (_Number, int)) else json.dumps(value, ensure_ascii=False)
