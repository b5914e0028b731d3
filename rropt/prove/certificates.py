"""Certificates: claim and proof as plain data, JSON in and out.

Written from docs/certificate-format.md. Nothing here is trusted: the checker derives every number again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import Unreadable, WrongType
from rropt.exact import Interval, rational_text, shown
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.files import JSON, read_text, write_whole
from rropt.io.tables import Table, in_words
from rropt.mechanisms.columns import exact_rows
from rropt.mechanisms.grouped import GroupedMechanism, grouped_from_file
from rropt.mechanisms.mechanism import Mechanism, mechanism_of_columns
from rropt.mechanisms.names import honest
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism, off_diagonal_from_file
from rropt.mechanisms.reading import check_keys, columns_of, names_of, naturals_of
from rropt.model.divergences import worst_weights
from rropt.model.secret import added_of
from rropt.program.block_cones import RobustCone
from rropt.program.cones import CompleteCone
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.design_utilities import DesignUtility
from rropt.program.extras import OffDiagonalForm
from rropt.program.limits import DivergenceLimits, has_capacity
from rropt.program.programs import ChiSquare, Program
from rropt.program.secrets import first
from rropt.prove.assumptions import assumptions
from rropt.prove.elaborate import has_mode, in_lines
from rropt.prove.minorant import LiftLimit
from rropt.prove.problem_digest import differences
from rropt.prove.problems import OutsideCoreError
from rropt.prove.steps import Drop, Step, drop, relax


@dataclass(frozen=True)
class Proof:
    """The `proof` object of a certificate without its steps, the bound that it yields (in the sense of the problem;
    None for farkas), and the steps to the problem that it is of."""

    payload: dict[str, object] = field(repr=False)
    bound: Fraction | None
    steps: tuple[Step, ...] = ()


@checked
@dataclass(frozen=True, eq=False)
class Certificate(ByContent):
    """One certificate as the object of the format, ready to be written.

    Make one with `of_optimum` or `of_infeasibility`, or read a file with `load`.

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> problem.solve().certificate.document["problem"]["inputs"]
        ['no', 'yes']
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

    def _tables(self) -> Iterator[Table]:
        stated, found = self.document["problem"], self.document.get("mechanism")
        rows = [("claim", "no mechanism exists" if found is None else f"{stated['sense']} {stated['utility']['kind']}")]
        if found is not None:
            up = stated["sense"] == "maximize"
            bound = shown(Fraction(self.document["bound"]), 12, up)
            rows.append(("bound", f"{'at most' if up else 'at least'} {bound}"))
        rows += [("inputs", in_words(stated["inputs"])), ("proof", self.document["proof"]["kind"])]
        yield Table("Certificate", rows)

    def differences(self, program: Program) -> list[str]:
        """Where the problem that the certificate states is not `program`, by path; [] where it is. Programs are
        compared as wholes, in canonical form; a Bayes gain may be stated as the linear programme that it comes to."""
        stated = self.document["problem"]
        if not isinstance(stated, dict):
            return ["problem: not an object"]
        found = [differences(one.payload(), stated) for one in (program, program.linearised())]
        return [] if [] in found else found[0]

    def to_json(self) -> str:
        """The file's text."""
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":")) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate, whole or not at all; returns the path. Raises InputError."""
        return write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate without checking it (`rropt.check` does). Raises InputError."""
        return cls.parse(read_text(path, "certificate", limits=JSON), str(path))

    @classmethod
    def parse(cls, text: str, where: str) -> Certificate:
        """A certificate from its text, which was read from `where`; as `load` otherwise."""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"this is not JSON ({error})", where, "give a certificate file") from None
        if not isinstance(document, dict) or document.get("format") != "rropt-certificate":
            raise Unreadable("this is not a certificate", where, "give a file that rropt solve wrote")
        return cls(document)

    def mechanism(self, where: str = "certificate") -> Mechanism | None:
        """The witness of section 5 in every form that it may have, or None where the problem is infeasible. A
        certificate calls its outputs as the problem does; where these names would mislead, the mechanism has neutral
        ones (`rropt.mechanisms.names`). Raises InputError that names the file `where`."""
        witness = self._witness(where)
        if witness is None:
            return None
        problem = self.document["problem"]
        return honest(first(witness, len(witness.inputs) - added_of(problem)))

    def _witness(self, where: str) -> Mechanism | None:
        try:
            content, inputs = (
                self.document["mechanism"],
                names_of(self.document["problem"]["inputs"], f"{where}: inputs"),
            )
            if content is None:
                return None
            # These prove what the matrix keeps, and are not a part of it.
            table = {key: value for key, value in content.items() if key not in ("membership", "orders", "prior")}
            form = "off_diagonal" if "off_diagonal" in table else "columns"
            further = {"groups"} & set(table)
            check_keys(table, {"denominators", "outputs", form, *further}, f"{where}: mechanism")
        except (KeyError, TypeError, AttributeError):
            raise Unreadable("its mechanism cannot be read", where, "check it with: rropt check") from None
        at = f"{where}: mechanism"
        if further:
            return grouped_from_file(table, inputs, at)
        outputs = names_of(table["outputs"], f"{at}: outputs")
        denominators = naturals_of(table["denominators"], f"{at}: denominators")
        if form == "columns":
            columns = columns_of(table["columns"], len(inputs), f"{at}: columns")
            return mechanism_of_columns(inputs, outputs, columns, denominators, at)
        if outputs != inputs:
            raise WrongType("its outputs are not the inputs", at, "check it with: rropt check")
        return off_diagonal_from_file(inputs, naturals_of(table["off_diagonal"], f"{at}: off_diagonal"), denominators)


def takes_groups(program: Program) -> bool:
    """Whether a mechanism may state the rows of groups of inputs: only the sums of their weights matter (section 5)."""
    of_sums = isinstance(program.utility, ChiSquare) or program.utility.plain
    return of_sums and isinstance(program.cone, CompleteCone) and not program.rows and not program.extras


def _witness(program: Program, mechanism: Mechanism) -> dict[str, object]:
    """The `mechanism` object: with the numbers that prove what its constraints ask, where these need some."""
    if isinstance(mechanism, GroupedMechanism) and takes_groups(program):
        return mechanism.grouped_payload()
    if program.extra(OffDiagonalForm) is not None:
        assert isinstance(mechanism, OffDiagonalMechanism)
        return mechanism.off_diagonal_payload()
    payload = mechanism.payload()
    if isinstance(program.cone, ConfidenceCone):
        columns = (program.cone.membership(mechanism.column(y)) for y in range(len(mechanism.outputs)))
        payload["membership"] = [[[rational_text(nu), rational_text(mu)] for nu, mu in own] for own in columns]
    notions = program.extra(DivergenceLimits)
    if notions is not None and (orders := notions.orders(mechanism)):
        payload["orders"] = [rational_text(order) for order in orders]
    if has_capacity(program):
        payload["prior"] = [str(weight) for weight in worst_weights(exact_rows(mechanism))]
    return payload


def stated_in_lines(program: Program, proof: Proof) -> Proof:
    """A proof as certificates state it: in lines, wherever the verified core has its rules. Steps are then parts of
    the lines, but for those that leave out what lines cannot state."""
    last = relax(program, proof.steps)
    kind, of_design = proof.payload["kind"], isinstance(last.utility, DesignUtility)
    stays = (last.extra(OffDiagonalForm) and kind == "branch-tree") or (of_design and kind == "corner-tree")
    if stays or not has_mode(proof.payload):
        return proof
    # An input that is added is in no block of a robust cone.
    leaves_cone = isinstance(program.cone, RobustCone) and any(isinstance(step, LiftLimit) for step in proof.steps)
    parts = ["structure", "identification_risk", *(["cone"] if leaves_cone else [])]
    first = drop(program, parts)
    rest = tuple(one for step in proof.steps for one in _without(step, parts))
    payload = proof.payload | ({"steps": [step.payload() for step in rest]} if rest else {})
    try:
        return Proof(_lines(relax(program, first), payload), proof.bound, first)
    except OutsideCoreError:
        more = drop(last, parts)
        return Proof(_lines(relax(last, more), proof.payload), proof.bound, (*proof.steps, *more))


def _lines(program: Program, payload: dict[str, Any]) -> dict[str, object]:
    return {"kind": "lines", "lines": in_lines(program.payload(), payload)}


def _without(step: Step, parts: list[str]) -> tuple[Step, ...]:
    """A step that leaves none of the parts out."""
    if not isinstance(step, Drop):
        return (step,)
    left = tuple(part for part in step.parts if part not in parts)
    return (replace(step, parts=left),) if left else ()


def _document(
    program: Program,
    proof: Proof,
    mechanism: dict[str, object] | None,
    value: dict[str, str] | None,
    bound: str | None,
) -> dict[str, Any]:
    proof = stated_in_lines(program, proof)
    names = assumptions(program, proof.payload, proof.steps, mechanism is not None)
    steps: dict[str, object] = {"steps": [step.payload() for step in proof.steps]} if proof.steps else {}
    return {
        "format": "rropt-certificate",
        "problem": program.payload(),
        "mechanism": mechanism,
        "value": value,
        "bound": bound,
        "proof": proof.payload | steps,
        "assumptions": list(names),
    }
