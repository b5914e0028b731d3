"""Mechanisms in files, compared with the certificate beside them."""

import csv
import io
import json
import math
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.checker import check_bytes
from rropt.errors import Conflict, InputError, OutOfRange, TooLarge, Unreadable
from rropt.exact import exp_enclosure
from rropt.io.files import JSON, open_file, read_text
from rropt.io.formulas import unquoted
from rropt.mechanisms.grouped import GroupedMechanism
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.model.guarantees import declared_level, guarantees
from rropt.prove.certificates import Certificate

MECHANISM, TABLE, CERTIFICATE = "mechanism.json", "mechanism.csv", "certificate.json"
CLOSE = 1e-9
"""By what share an entry of a table may differ: programs that save it again keep fifteen digits or more."""


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
        raise Conflict(
            f"it is not the mechanism of the {CERTIFICATE} next to it",
            str(place),
            "one of the two was changed: solve again, or move the certificate away",
        )
    try:
        guarantees(problem)
        _hold_to_ratios(mechanism, problem["cone"], str(beside))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise Unreadable("its problem cannot be read", str(beside), "check it with: rropt check") from None
    return mechanism, problem


def other_mechanisms(certificate: Path) -> list[str]:
    """The files next to a certificate that `rropt solve` wrote with it, and that are not of its mechanism, one line
    each with the reason. Raises InputError where the certificate cannot be read."""
    beside = [place for place in (certificate.parent / MECHANISM, certificate.parent / TABLE) if place.exists()]
    if certificate.name != CERTIFICATE or not beside:
        return []
    mechanism = Certificate.load(certificate).mechanism(str(certificate))
    found = ((place.name, _fault(place, mechanism)) for place in beside)
    return [f"{name}: {fault}" for name, fault in found if fault]


def _fault(place: Path, mechanism: Mechanism | None) -> str:
    """Why a file is not of this mechanism; "" where it is."""
    if mechanism is None:
        return f"the {CERTIFICATE} next to it proves that there is no mechanism"
    try:
        same = _same(Mechanism.load(place), mechanism) if place.name == MECHANISM else _is_table_of(place, mechanism)
    except InputError as error:
        return error.what
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    return "" if same else f"it is not the mechanism of the {CERTIFICATE} next to it"


def _is_table_of(place: Path, mechanism: Mechanism) -> bool:
    """Whether a file is the mechanism as `Mechanism.to_csv` writes it, with or without its marks of formulas."""
    size, width = len(mechanism.inputs), len(mechanism.outputs)
    with open_file(place) as stream:
        if os.fstat(stream.fileno()).st_size < 2 * size * width:  # before the matrix is made
            return False
        lines = csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""))
        try:
            head, *rows = lines
            if head[:1] == ["input"]:  # the other corner says that labels have no marks
                head, *rows = ([unquoted(cell) for cell in line] for line in (head, *rows))
            values = [[float(cell) for cell in row[1:]] for row in rows]
        except (csv.Error, ValueError):  # also what is not UTF-8, and a file without a line
            return False
    if (tuple(head[1:]), tuple(row[0] for row in rows)) != (mechanism.outputs, mechanism.inputs):
        return False
    return all(
        len(row) == width and all(math.isclose(*pair, rel_tol=CLOSE) for pair in zip(row, own, strict=True))
        for row, own in zip(values, mechanism.matrix.tolist(), strict=True)
    )


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
        raise Unreadable(f"cannot read this certificate ({error.strerror})", str(path), "check the path") from None
    except UnicodeDecodeError as error:
        raise Unreadable(f"this certificate is not UTF-8 (byte {error.start})", str(path), "solve again") from None
    if check:
        verdict = check_bytes(data)
        if not verdict.proved:
            raise InputError(
                f"the checker does not accept it ({verdict.status}: {verdict.reason})",
                str(path),
                "it was changed, or never proved: solve again, or move it away to release without a proof",
            )
    if len(data) > JSON.size:
        raise TooLarge(f"this certificate has more than {JSON.size:,} bytes", str(path), "give a smaller one")
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
        kept = mechanism.privacy_ratio <= most
    elif cone["kind"] == "graph":
        by_ratio = cone.get("unit") == "gamma"
        numbers = {number: Fraction(number) for *_, number in cone["edges"]}
        ratios = {text: n if by_ratio else exp_enclosure(n).lower for text, n in numbers.items()}
        columns = map(mechanism.column, range(len(mechanism.outputs)))
        kept = all(v[x] <= ratios[number] * v[z] for v in columns for x, z, number in cone["edges"])
    else:
        return
    if not kept:
        raise OutOfRange(
            "the mechanism has larger ratios than its certificate guarantees",
            where,
            "one of the two was changed: solve again",
        )


def _same(one: Mechanism, other: Mechanism) -> bool:
    if isinstance(one, GroupedMechanism) and one == other:
        return True
    if isinstance(one, OffDiagonalMechanism) and isinstance(other, OffDiagonalMechanism):
        # Without the matrix, which may be too large.
        return (one.inputs, one.outputs, one.denominators, one.off_diagonal) == (
            other.inputs,
            other.outputs,
            other.denominators,
            other.off_diagonal,
        )
    return (one.inputs, one.outputs, one.row_denominators, one.numerators) == (
        other.inputs,
        other.outputs,
        other.row_denominators,
        other.numerators,
    )
