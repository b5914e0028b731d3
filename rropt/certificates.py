"""Certificates: claim and proof as plain data, JSON in and out.

Written from docs/certificate-format.md. Nothing here is believed: the checker derives every number again.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.confidence_cone import ConfidenceCone
from rropt.errors import InputError
from rropt.exact import Interval, rational_text
from rropt.files import read_text, write_whole
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.posterior_risk import ASSUMPTION
from rropt.programs import Program


@dataclass(frozen=True)
class Proof:
    """The `proof` object of a certificate, the bound that it yields (in the sense of the problem; None for
    farkas), the named assumptions that it rests on, and the version of the format that it needs."""

    payload: dict[str, object] = field(repr=False)
    bound: Fraction | None
    assumptions: tuple[str, ...] = ()
    version: int = 1


@dataclass(frozen=True)
class Certificate:
    """One certificate as the object of the format, ready to be written.

    Make one with `of_optimum` or `of_infeasibility`, or read a file with `load`.
    """

    document: dict[str, Any]

    @classmethod
    def of_optimum(cls, program: Program, mechanism: Mechanism, value: Interval, proof: Proof) -> Certificate:
        """`mechanism` attains `value` (in nats where it is an information) and `proof` bounds every other."""
        assert proof.bound is not None
        return cls(
            _document(
                program,
                proof,
                _witness(program, mechanism),
                {"lower": rational_text(value.lower), "upper": rational_text(value.upper)},
                rational_text(proof.bound),
            )
        )

    @classmethod
    def of_infeasibility(cls, program: Program, proof: Proof) -> Certificate:
        """No mechanism satisfies `program`."""
        return cls(_document(program, proof, None, None, None))

    def to_json(self) -> str:
        """The file's text."""
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":")) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate, whole or not at all; returns the path. Raises InputError."""
        return write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate without judging it (`rropt.check` judges). Raises InputError."""
        try:
            document = json.loads(read_text(path, "certificate"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"this is no JSON ({error})", str(path), "give a certificate file") from None
        if not isinstance(document, dict) or document.get("format") != "rropt-certificate":
            raise InputError("this is no certificate", str(path), "give a file that rropt solve wrote")
        return cls(document)


def _witness(program: Program, mechanism: Mechanism) -> dict[str, object]:
    """The `mechanism` object: with the numbers that prove membership where the cone asks for them."""
    if program.structure is not None:
        assert isinstance(mechanism, OffDiagonalMechanism)
        return mechanism.off_diagonal_payload()
    payload = mechanism.payload()
    if isinstance(program.cone, ConfidenceCone):
        columns = (program.cone.membership(mechanism.column(y)) for y in range(len(mechanism.outputs)))
        payload["membership"] = [[[rational_text(nu), rational_text(mu)] for nu, mu in own] for own in columns]
    return payload


def _document(
    program: Program,
    proof: Proof,
    mechanism: dict[str, object] | None,
    value: dict[str, str] | None,
    bound: str | None,
) -> dict[str, Any]:
    return {
        "format": "rropt-certificate",
        "version": max(proof.version, program.format_version),
        "problem": program.payload(),
        "mechanism": mechanism,
        "value": value,
        "bound": bound,
        "proof": proof.payload,
        "assumptions": [*proof.assumptions, *([ASSUMPTION] if program.risk is not None else [])],
    }
