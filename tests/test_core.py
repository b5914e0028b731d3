"""The extracted checker says what the kernel says, of certificates, of mutants and of what cannot be read.

Built here with ocaml and zarith where they are installed (`make core`); proofs are checked by `make proofs`.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from core_files import claiming_less, judged, mutants, proof_files, resealed

from rropt.solve.verified import read_as

CORE = Path(__file__).parent.parent / "proofs" / "core"
SOURCES = ("core.mli", "core.ml", "sha256.ml", "driver.ml")
FILES = proof_files()


def zarith() -> bool:
    """Whether the extracted checker can be built."""
    found = shutil.which("ocamlfind")
    return found is not None and subprocess.run([found, "query", "zarith"], capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not zarith(), reason="ocaml and zarith are not installed (Debian: libzarith-ocaml-dev)")


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """The extracted checker, as a function of the text of a proof file."""
    folder = tmp_path_factory.mktemp("core")
    for name in SOURCES:
        shutil.copy(CORE / name, folder)
    build = ["ocamlfind", "ocamlopt", "-w", "-a", "-package", "zarith", "-linkpkg", *SOURCES]
    subprocess.run([*build, "-o", "rropt-core"], cwd=folder, check=True, capture_output=True)

    def read(text):
        """What it says of the problem that it reads."""
        run(text)
        return read.lines

    def run(text):
        data = text.encode() if isinstance(text, str) else text
        done = subprocess.run([folder / "rropt-core"], input=data, capture_output=True)
        assert done.stderr == b""
        *read.lines, line = done.stdout.decode().splitlines()
        return done.returncode, line

    run.read = read
    return run


def alike(core, text):
    """Both say the same, to the letter; of a line that cannot be read both name the line."""
    status, line = core(text)
    expected, other = judged(text)
    said = line.replace("verified core", "kernel")
    if status == 2:
        said, other = said.split(" column ")[0], other.split(" column ")[0]
    assert (status, said) == (expected, other), text
    return status


@pytest.mark.parametrize("name", FILES)
def test_certificates_are_proved_by_both(core, name):
    """And the problem that it reads is the one of the certificate."""
    certificate, text = FILES[name]
    assert alike(core, text) == 0
    assert core.read(text) == read_as(certificate["problem"], text.encode())


@pytest.mark.parametrize("name", FILES)
def test_another_problem_is_read_as_another_one(core, name):
    """Any line of the problem that is changed, with its own hash."""
    certificate, text = FILES[name]
    lines, draw = text.split("\n"), random.Random(name)
    end = next(i for i, line in enumerate(lines) if line.startswith("claim"))
    for _ in range(5):
        changed, at = lines[:], draw.randrange(2, end)
        changed[at] = re.sub(r"\d+", lambda found: str(int(found[0]) + 1), changed[at], count=1)
        if changed != lines and core(resealed("\n".join(changed)))[0] < 2:
            assert core.read(resealed("\n".join(changed))) != read_as(certificate["problem"], text.encode())


@pytest.mark.parametrize(("shift", "status"), [("-1", 2), ("1025", 2), ("x", 2), ("", 2), ("1024", 1), ("0", 1)])
def test_flows_are_shifted_alike(core, shift, status):
    """A flow and its shift are one number: halved and shifted by one more it is the same, where it was even."""
    text = FILES["independent_checker/labels-grid"][1]
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("e ") and ";" in line)
    fields, *flows = lines[at].split(" ; ")
    _, point, own = fields.split()
    assert int(own) > 0
    assert (
        alike(core, "\n".join([*lines[:at], " ; ".join([f"e {point} {shift}".strip(), *flows]), *lines[at + 1 :]]))
        == status
    )
    doubled = [f"{' '.join(x[:3])} {' '.join(str(2 * int(y)) for y in x[3:])}" for x in map(str.split, flows)]
    half = " ; ".join([f"e {point} {int(own) - 1}", *doubled])
    assert alike(core, "\n".join([*lines[:at], half, *lines[at + 1 :]])) == 0


@pytest.mark.parametrize("name", FILES)
def test_mutants_have_one_verdict(core, name):
    certificate, text = FILES[name]
    if certificate["bound"] is not None:
        text = claiming_less(text, (-(10**6), 1))
    for one in (FILES[name][1], text):
        for mutant in mutants(one, 5, seed=5):
            status = alike(core, mutant)
            assert status != 0 or one is FILES[name][1]


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_many_mutants_have_one_verdict(core, name):
    for mutant in mutants(FILES[name][1], 50, seed=6):
        alike(core, mutant)


@pytest.mark.long
@pytest.mark.campaign
def test_all_mutants_have_one_verdict(core):
    for _, text in FILES.values():
        for mutant in mutants(text, 250, seed=6):
            alike(core, mutant)


def test_damaged_bytes_have_one_verdict(core):
    draw = random.Random(9)
    for name in (
        "independent_checker/mi-tree",
        "independent_checker/mi-boxes",
        "independent_checker/linear-path",
        "independent_checker/matrix-given",
    ):
        whole = FILES[name][1].encode()
        for _ in range(40):
            data = bytearray(whole)
            for _ in range(draw.randint(1, 3)):
                at = draw.randrange(len(data))
                data[at : at + draw.randint(0, 3)] = bytes(draw.randrange(256) for _ in range(draw.randint(0, 3)))
            alike(core, bytes(data))


@pytest.mark.parametrize("end", [65535, 65536, 65537, 131071, 131072, 400000])
def test_a_line_may_end_at_any_byte(core, end):
    """The reader takes pieces of 65,536 bytes: the line of a leaf, with flows of 0, ends with one or beside its end."""
    text = FILES["independent_checker/mi-boxes"][1]
    leaf = text.index("\n", text.index("\nl ") + 1)
    zeros = (end - leaf) % len(" F 1 0")
    at = re.search(r"(?m)^value \d+ \d+", text).end()
    fields = re.match(r"\nl( -?\d+)*", text[text.index("\nl ") :])[0]
    flows = " F 1 0" * ((end - leaf) // len(" F 1 0"))
    changed = text.replace(fields, fields + flows, 1)
    changed = changed[:at] + "0" * zeros + changed[at:]  # the value that is claimed is a smaller one
    assert changed.index("\n", changed.index("\nl ") + 1) == end
    assert alike(core, changed) == 0
    assert alike(core, changed[:-1]) == alike(core, changed + "x") == 2
    assert core(changed[:-1])[1].endswith(": the file ends without the line end")


def test_changed_problems_have_one_verdict(core):
    """Indices outside, negative weights, lists of other lengths: in the problem itself, with its own hash."""
    draw = random.Random(10)
    for name in (
        "independent_checker/mi-given",
        "independent_checker/linear-path",
        "independent_checker/bayes-cone",
        "independent_checker/farkas",
        "independent_checker/matrix-chi",
    ):
        lines = FILES[name][1].split("\n")
        end = next(i for i, line in enumerate(lines) if line.startswith("claim"))
        for _ in range(30):
            changed = lines[:]
            at = draw.randrange(3, end)
            fields = changed[at].split(" ")
            spots = [i for i, one in enumerate(fields) if one.lstrip("-").isdigit()]
            if spots:
                fields[draw.choice(spots)] = str(draw.choice([-1, 0, 1, 2, 7, 10**6, -(10**20)]))
            changed[at] = " ".join(fields)
            if draw.random() < 0.2:
                del changed[at]
            text = "\n".join(changed)
            alike(core, resealed(text))


def test_memory_counts_as_work(core):
    """States that wait keep their columns: 36 kB of divisions of 10^5 columns would take gigabytes."""
    head = ["sense maximize", "weights 1 1", "utility information", "cone free", "outputs 100000", "claim bound 1 1"]
    lines = ["unit 1", "prices", "mults", "mode sheets", "ratios", *["s 99999 0 1"] * 1000, "end", ""]
    text = resealed("\n".join(["rropt-core", "problem", *head, *lines]))
    assert alike(core, text) == 2
    assert "more operations than are allowed" in judged(text)[1]
