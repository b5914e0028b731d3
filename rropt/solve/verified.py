"""The programs that accept a certificate: the checker alone, the kernel too, or the checker that is proved in Coq.

See docs/verified-core.md. The kernel and rropt-core read a proof file, which is made of the
certificate here; their bound must be the certificate's claim.
"""

import hashlib
import io
import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from rropt import checker, kernel
from rropt.checker import MAX_BYTES, Verdict, certificate_file, check_bytes
from rropt.errors import InputError, WrongType
from rropt.io.files import open_file
from rropt.prove.elaborate import elaborate
from rropt.prove.problems import DESIGNS, OutsideCoreError, emptied

BY_CHECKER, BY_KERNEL, BY_CORE = "checker", "kernel and checker", "verified core"
VARIABLE, NAME = "RROPT_CORE", "rropt-core"
OF_BOUND = "quadratic-over-linear-convex"
"""The lemma on the bounds of designs that the core proves; it has the others in what it calls a risk."""
BUILD = f"make core builds it as proofs/build/{NAME}"
END = re.compile(r"-?\d+/\d+")

Json = dict[str, Any]


def check(path: str | os.PathLike[str], *, core: bool = False) -> Verdict:
    """The checker's verdict on one file, or on that of a folder that `rropt solve` wrote. With `core`, `verdict.by`
    names the programs that accept: rropt-core, which is proved correct, and the checker; the kernel and the checker, if
    rropt-core is not installed; or the checker alone, if the core does not cover the kind of proof, which the report
    names.

        >>> import tempfile
        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rr.check(problem.solve().certificate.save(f"{folder}/certificate.json")).status
        'PROVED'
    """
    try:
        with open_file(certificate_file(path)) as file:
            data = file.read(MAX_BYTES + 1)
    except TypeError:
        why = f"{type(path).__name__} is not a path; save the certificate first: certificate.save(path)"
        return Verdict("UNREADABLE", f"the file cannot be read: {why}")
    except (OSError, ValueError) as error:
        return Verdict("UNREADABLE", f"the file cannot be read: {error}")
    verdict = check_bytes(data)
    if not core:
        return verdict
    program = find_core()
    return strengthen(verdict, data, None if program is None else partial(judge_core, program))


def find_core() -> str | None:
    """The program rropt-core: the environment variable RROPT_CORE names it, or it is on PATH; None where it is not.
    Raises InputError where the variable does not name a program."""
    named = os.environ.get(VARIABLE)
    if not named:
        return shutil.which(NAME)
    found = shutil.which(named)
    if found is None:
        raise WrongType("it is not a program that can be run", f"{VARIABLE}={named}", f"{BUILD}; or unset {VARIABLE}")
    return found


def proof_file(certificate: Json) -> bytes:
    """The proof file of a certificate; raises OutsideCoreError where the core has no such rule."""
    with kernel.long_integers():
        return "".join(f"{line}\n" for line in elaborate(certificate)).encode("ascii")


def strengthen(
    verdict: Verdict, data: bytes, core: Callable[[bytes], list[str]] | None = None, *, designs: bool = True
) -> Verdict:
    """The checker's verdict on the bytes of a certificate, and that of the kernel, or of rropt-core where `core` gives
    the lines that it prints on a proof file: both must accept. Without `designs`, theirs are left to the checker: of
    these the kernel proves the bound alone, and at 16 inputs takes longer than the search."""
    if not verdict.proved:
        return verdict
    certificate = json.loads(data)
    if not designs and certificate["problem"]["utility"]["kind"] in DESIGNS:
        outside = "checker only: the kernel judges the bound of a design with rropt check --core"
        return replace(verdict, by=BY_CHECKER, statement=(*verdict.statement, outside))
    certificate["problem"] = emptied(certificate["problem"], certificate["bound"] is None)
    try:
        proof = proof_file(certificate)
    except OutsideCoreError as outside:
        return replace(verdict, by=BY_CHECKER, statement=(*verdict.statement, f"checker only: {outside}"))
    except kernel.RefutedError:
        return disagree(verdict, "kernel", "REFUTED")
    by, statement = BY_KERNEL, verdict.statement
    if not states(proof, certificate["problem"]):
        return disagree(verdict, "kernel", "its proof file states another problem")
    if core is None and certificate["proof"]["kind"] == "lines":
        refusal = judge_witness(proof)  # the checker has asked the kernel of the lines of the proof
    elif core is None:
        line = judge_kernel(proof)
        refusal = "" if claims(line, "kernel", certificate) else line
    else:
        by, stated = BY_CORE, read_as(certificate["problem"], proof)
        *read, line = core(proof)
        if line.startswith("PROVED") and read != stated:
            return disagree(verdict, by, f"it read another problem: {'; '.join(read) or 'it does not say which'}")
        refusal = "" if claims(line, by, certificate) else line
        statement = (*statement, f"read by {NAME}: {stated[1]}; SHA-256 of what it read: {stated[0].split()[1]}")
    if refusal:
        return disagree(verdict, by.partition(" and ")[0], refusal)
    if certificate["problem"]["utility"]["kind"] in DESIGNS:
        outside = "checker only: the value of the mechanism; the verified core proves the bound of a design"
        kept = tuple(name for name in verdict.assumptions if name != OF_BOUND)
        return replace(verdict, by=by, assumptions=kept, statement=(*statement, outside))
    # Every step of such a proof is a theorem: no lemma is assumed.
    return replace(verdict, by=by, assumptions=(), statement=statement)


def states(proof: bytes, problem: Json) -> bool:
    """Whether a proof file states the problem of its certificate, as the checker writes it in lines; True where these
    have no line for a part of it."""
    start, lines = proof.index(b"\n", proof.index(b"\n") + 1) + 1, checker.problem_lines(problem)
    return lines is None or proof[start : proof.index(b"\nclaim ")] == "\n".join(lines).encode("ascii")


def read_as(problem: Json, proof: bytes) -> list[str]:
    """The lines that rropt-core must print on the problem that it reads: the SHA-256 of the lines of the proof file
    that state it, and what these are of, from the certificate's problem itself and not from the proof file."""
    start = proof.index(b"\n", proof.index(b"\n") + 1) + 1
    digest = hashlib.sha256(proof[start : proof.index(b"\nclaim ") + 1]).hexdigest()
    utility, cone, given = problem["utility"], problem["cone"], problem["utility"].get("given")
    name = {"mutual_information": "given" if given else "information", "chi_square": "chi-square", "sum": "linear"}
    name |= {one: one.replace("_", "-") for one in DESIGNS}
    sign = -1 if problem["sense"] == "minimize" else 1
    less = "less " if sign < 0 and utility["kind"] not in ("linear", "sum") else ""
    weights = [int(weight) for weight in problem["weights"]]
    unit = math.gcd(*(weights if given is None else (int(weight) for row in given for weight in row)))
    base = cone["base"] if cone["kind"] == "polyhedral" else cone
    place = "cone free"
    if base["kind"] == "complete":
        place = f"ratio {_ratio(base)}"
    elif base["kind"] == "robust":
        place = f"{len(base['blocks'])} blocks at ratio {_ratio(base)}"
    elif base["kind"] == "graph":
        place = f"{len(base['edges'])} edges"
    notions = problem.get("divergences", ())
    parts = [
        f"{problem['sense']} {less}{name.get(utility['kind'], utility['kind'])}",
        f"{len(weights)} inputs",
        f"total weight {sum(weights) // unit}",
        place,
        f"{len(cone.get('rows', ()))} half-spaces",
        f"{len(problem['rows'])} rows",
        *(f"entropy at least {_ends(floor['at_least'])}" for floor in [problem.get("entropy")] if floor is not None),
        *(f"a limit of {_ends(limit['at_most'])}" for limit in problem.get("limits", ())),
        *(f"a capacity of {_ends(one['at_most'])}" for one in notions if one["kind"] == "capacity"),
        *(
            f"an excess over {_ratio(bound)} of {_ends(bound['delta'])}"
            for bound in [problem.get("approximate")]
            if bound is not None
        ),
        *(
            f"a divergence of order {_ends(one['order'])} of {_ends(one['epsilon'])}"
            for one in notions
            if one["kind"] == "renyi"
        ),
        *(f"a concentrated divergence of {_ends(one['rho'])}" for one in notions if one["kind"] == "zero_concentrated"),
        *(
            f"{one['form']} confidence at ratio {_ratio(one)}, {len(one['blocks'])} blocks, radius "
            f"{_ends(one['radius']['lower'])} to {_ends(one['radius']['upper'])}"
            for one in [base]
            if one["kind"] == "confidence"
        ),
        *(f"a part of {_ends(sign * Fraction(part['weight']))}" for part in utility.get("parts", ())),
    ]
    return [f"problem {digest}", ", ".join(parts)]


def _ends(number: str | Fraction) -> str:
    """A rational with its denominator."""
    return "/".join(map(str, Fraction(number).as_integer_ratio()))


def _ratio(level: Json) -> str:
    """A ratio, or exp of an epsilon."""
    return _ends(level["gamma"]) if "gamma" in level else f"exp({_ends(level['epsilon'])})"


def disagree(verdict: Verdict, name: str, line: str) -> Verdict:
    """The note for a certificate that the checker accepts and another program refuses."""
    reason = f"the {name} does not accept what the checker accepts ({line}); please report it"
    return Verdict("REFUTED", reason, verdict.problem, digest=verdict.digest)


def judge_kernel(proof: bytes) -> str:
    """The verdict of rropt/kernel.py on a proof file."""
    return kernel.verdict(io.BytesIO(proof))[1]


def judge_witness(proof: bytes) -> str:
    """Why the kernel refuses the mechanism of a proof file; "" where it takes it, or where there is none."""
    reader = kernel.Reader(io.BytesIO(proof))
    try:
        with kernel.long_integers():
            problem = kernel.read_problem(reader)
            header = kernel.read_header(reader, problem.weights)
            kernel.spend_before(problem, header, kernel.Fuel(kernel.MINUTE))
            if header.witness is not None:
                problem.attains(header.witness)
    except (kernel.RefutedError, kernel.UnreadableError, MemoryError):
        return f"REFUTED at line {reader.number}"
    return ""


def judge_core(program: str, proof: bytes) -> list[str]:
    """The lines of rropt-core on a proof file: those on the problem that it read, and its verdict. Raises InputError
    where the program is another one."""
    try:
        done = subprocess.run([program], input=proof, capture_output=True, check=False)
    except OSError as error:
        raise InputError(f"it cannot be run: {error.strerror or error}", program, BUILD) from None
    lines = done.stdout.decode("ascii", "backslashreplace").splitlines()
    word = lines[-1].split(" ")[0] if lines else ""
    if {"PROVED": 0, "REFUTED": 1, "UNREADABLE": 2}.get(word) != done.returncode:
        raise InputError(f"it does not answer as {NAME} does (exit status {done.returncode})", program, BUILD)
    return lines


def claims(line: str, by: str, certificate: Json) -> bool:
    """Whether a verdict's line proves the bound that a certificate claims, or that no mechanism exists."""
    if certificate["bound"] is None:
        return line == f"PROVED ({by}): no mechanism exists"
    if not line.startswith(f"PROVED ({by}): "):
        return False
    with kernel.long_integers():
        bound, ends = Fraction(certificate["bound"]), END.findall(line) or [""]
        end = ends[0 if certificate["problem"]["sense"] == "minimize" else -1]
        return end == f"{bound.numerator}/{bound.denominator}"
