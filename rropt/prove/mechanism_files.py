"""Mechanisms in files, compared with the certificate beside them."""

import json
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.checker import check_bytes
from rropt.errors import InputError
from rropt.exact import exp_enclosure
from rropt.io.files import JSON, open_file, read_text
from rropt.mechanisms.grouped import GroupedMechanism
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.model.promises import declared_level, promises
from rropt.prove.certificates import Certificate

MECHANISM, CERTIFICATE = "mechanism.json", "certificate.json"


def read_mechanism(path: str | os.PathLike[str], check: bool) -> tuple[Mechanism, dict[str, Any] | None]:
    """The mechanism of a mechanism file, a certificate, or the folder that `rropt solve` wrote, and the problem of its
    certificate where there is one. With `check` the checker must accept that. Raises InputError where the
    two differ (see `rropt.release.load_design`)."""
    place = Path(path)
    if place.is_dir():
        place = place / MECHANISM
    text = read_text(place, "mechanism file", limits=JSON)
    beside = place if _format(text) == "rropt-certificate" else place.parent / CERTIFICATE
    if not beside.is_file():
        return Mechanism.load(place), None
    certified, problem = _certify(beside, check)
    mechanism = certified if beside == place else Mechanism.load(place)
    if not _same(mechanism, certified):
        raise InputError(
            f"it is not the mechanism of the {CERTIFICATE} beside it",
            str(place),
            "one of the two was changed: solve again, or move the certificate away",
        )
    try:
        promises(problem)
        _hold_to_ratios(mechanism, problem["cone"], str(beside))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("its problem cannot be read", str(beside), "check it with: rropt check") from None
    return mechanism, problem


def _format(text: str) -> object:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document.get("format") if isinstance(document, dict) else None


def _certify(path: Path, check: bool) -> tuple[Mechanism, dict[str, Any]]:
    """The mechanism and the problem of a certificate; the bytes that are read are those that were checked, also where
    the file changes meanwhile. Raises InputError."""
    try:
        with open_file(path) as stream:
            data = stream.read(JSON.size + 1)
        text = data.decode("utf-8")
    except OSError as error:
        raise InputError(f"cannot read this certificate ({error.strerror})", str(path), "check the path") from None
    except UnicodeDecodeError as error:
        raise InputError(f"this certificate is not UTF-8 (byte {error.start})", str(path), "solve again") from None
    if check:
        verdict = check_bytes(data)
        if not verdict.proved:
            raise InputError(
                f"the checker does not accept it ({verdict.status}: {verdict.reason})",
                str(path),
                "it was changed, or never proved: solve again, or move it away to release without a proof",
            )
    if len(data) > JSON.size:
        raise InputError(f"this certificate has more than {JSON.size:,} bytes", str(path), "give a smaller one")
    JSON.check(text, "certificate", str(path))
    certificate = Certificate.parse(text, str(path))
    mechanism = certificate.mechanism(str(path))
    if mechanism is None:
        raise InputError("this certificate proves that there is no mechanism", str(path), "give another")
    return mechanism, dict(certificate.document["problem"])


def _hold_to_ratios(mechanism: Mechanism, cone: Mapping[str, Any], where: str) -> None:
    """Raise InputError unless the integers drawn keep the ratios of the certificate's cone, exactly."""
    while cone["kind"] == "polyhedral":
        cone = cone["base"]
    if cone["kind"] == "complete":
        most = declared_level(cone).ratio.lower
        kept = mechanism.parity <= most
    elif cone["kind"] == "graph":
        by_ratio = cone.get("unit") == "gamma"
        numbers = {number: Fraction(number) for *_, number in cone["edges"]}
        ratios = {text: n if by_ratio else exp_enclosure(n).lower for text, n in numbers.items()}
        columns = map(mechanism.column, range(len(mechanism.outputs)))
        kept = all(v[x] <= ratios[number] * v[z] for v in columns for x, z, number in cone["edges"])
    else:
        return
    if not kept:
        raise InputError(
            "the mechanism to be drawn has larger ratios than its certificate promises",
            where,
            "one of the two was changed: solve again",
        )


def _same(one: Mechanism, other: Mechanism) -> bool:
    if isinstance(one, GroupedMechanism) and one == other:
        return True
    if isinstance(one, OffDiagonalMechanism) and isinstance(other, OffDiagonalMechanism):
        # Without the matrix, which may be too large.
        return (one.inputs, one.denominators, one.off_diagonal) == (
            other.inputs,
            other.denominators,
            other.off_diagonal,
        )
    return (one.inputs, one.outputs, one.row_denominators, one.numerators) == (
        other.inputs,
        other.outputs,
        other.row_denominators,
        other.numerators,
    )
