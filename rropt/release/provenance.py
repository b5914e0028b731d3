"""Mechanism files: read, and held against the certificate beside them; digests by which they are known again."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from rropt.certificates import Certificate
from rropt.checker import check_file
from rropt.errors import InputError
from rropt.files import read_text
from rropt.mechanisms.columns import DenseColumn, TwoValuedColumn
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.mechanisms.reading import mechanism_payload_from_json
from rropt.release.plan import Release

MECHANISM, CERTIFICATE = "mechanism.json", "certificate.json"
CHECKED = 1 << 20
"""Bytes of a certificate that is checked before a release: some seconds at most."""


def mechanism_text(mechanism: Mechanism) -> str:
    """The file that `Mechanism.save` writes."""
    document = {"format": "rropt-mechanism", "version": 1, "inputs": list(mechanism.inputs), **mechanism.payload()}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def digest(mechanism: Mechanism) -> str:
    """SHA-256, in base 16, of the file that `Mechanism.save` writes."""
    return hashlib.sha256(mechanism_text(mechanism).encode()).hexdigest()


def release_digest(release: Release) -> str:
    """SHA-256, in base 16, of everything that a release says: columns, strata, mechanisms, what is dropped."""
    told = [
        [one.columns, one.by, one.null, one.other, one.name, [[at, digest(mechanism)] for at, mechanism in one.strata]]
        for one in release.columns
    ]
    return hashlib.sha256(json.dumps([told, release.drop], ensure_ascii=False).encode()).hexdigest()


def load_mechanism(path: str | os.PathLike[str], sha256: str | None = None, check: bool = False) -> Mechanism:
    """Read a mechanism for a release: a mechanism file, a certificate, or the folder that `rropt solve` wrote.

    Raises InputError where the certificate that stands beside a mechanism file is of another mechanism, or where the
    mechanism's `digest` is not `sha256`: then one of the files was changed; with `check` also where the checker refuses
    the certificate, as long as that is at most CHECKED bytes (a larger one may take minutes: `rropt check` reads it).
    """
    place = Path(path)
    if place.is_dir():
        place = place / MECHANISM
    text = read_text(place, "mechanism file")
    beside = place if _format(text) == "rropt-certificate" else place.parent / CERTIFICATE
    if check and beside.is_file():
        _check(beside)
    if beside == place:
        mechanism = _certified(place)
    else:
        mechanism = Mechanism.load(place)
        if beside.is_file() and not _same(mechanism, _certified(beside)):
            raise InputError(
                f"it is not the mechanism of the {CERTIFICATE} beside it",
                str(place),
                "one of the two was changed: solve again, or move the certificate away",
            )
    if sha256 is not None and digest(mechanism) != sha256.lower():
        raise InputError(
            f"its SHA-256 is {digest(mechanism)}, not {sha256.lower()}", str(place), "the mechanism was changed"
        )
    return mechanism


def _check(certificate: Path) -> None:
    if certificate.stat().st_size > CHECKED:
        return
    verdict = check_file(str(certificate))
    if not verdict.proved:
        raise InputError(
            f"the checker does not accept it ({verdict.status}: {verdict.reason})",
            str(certificate),
            "it was changed, or never proved: solve again, or move it away to release without a proof",
        )


def _format(text: str) -> object:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document.get("format") if isinstance(document, dict) else None


def _certified(path: Path) -> Mechanism:
    document = Certificate.load(path).document
    try:
        inputs, told = document["problem"]["inputs"], document["mechanism"]
        if told is None:
            raise InputError("this certificate says that there is no mechanism", str(path), "give another")
        if "off_diagonal" in told:
            return OffDiagonalMechanism(inputs, list(map(int, told["off_diagonal"])), int(told["denominators"][0]))
        # `membership` proves that the columns are in their cone, and is no part of the matrix.
        matrix = {key: value for key, value in told.items() if key != "membership"}
        return _built({"format": "rropt-mechanism", "version": 1, "inputs": inputs, **matrix}, str(path))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("its mechanism cannot be read", str(path), "check it with: rropt check") from None


def _built(document: dict[str, Any], where: str) -> Mechanism:
    inputs, outputs, columns, denominators = mechanism_payload_from_json(json.dumps(document), where)
    built = [DenseColumn(one) if isinstance(one[0], int) else TwoValuedColumn(*one[0]) for one in columns]
    return Mechanism(inputs, outputs, tuple(built), denominators)


def _same(one: Mechanism, other: Mechanism) -> bool:
    return (one.inputs, one.outputs, one.row_denominators, one.numerators) == (
        other.inputs,
        other.outputs,
        other.row_denominators,
        other.numerators,
    )
