"""Proof files of the verified core for tests: those of the kept certificates, and damaged ones; and its JavaScript."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from rropt import kernel
from rropt.prove.problems import OutsideCoreError
from rropt.solve.verified import proof_file

HERE = Path(__file__).parent
FOLDERS = (
    HERE.parent / "docs" / "examples",
    HERE / "data" / "independent_checker",
    HERE / "data" / "least",
)


CORE = HERE.parent / "proofs" / "core"
SOURCES = ("core.mli", "core.ml", "sha256.ml", "driver.ml")


def compiled_core(folder: Path) -> Path:
    """The extracted checker as JavaScript, as `make core-js` builds it, in `folder`."""
    for name in (*SOURCES, "zarith.js"):
        shutil.copy(CORE / name, folder)
    build = ["ocamlfind", "ocamlc", "-w", "-a", "-package", "zarith", "-linkpkg", *SOURCES, "-o", "core.byte"]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    build = ["js_of_ocaml", "zarith.js", "core.byte", "-o", "core.js"]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    return folder / "core.js"


@cache
def proof_files() -> dict[str, tuple[Any, str]]:
    """Every kept certificate that is inside the core, with its proof file."""
    found = {}
    for folder in FOLDERS:
        for path in sorted(folder.glob("*.json")):
            certificate = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(certificate, dict) and certificate.get("format") == "rropt-certificate":
                try:
                    text = proof_file(certificate).decode()
                except OutsideCoreError:
                    continue
                found[f"{folder.name}/{path.stem}"] = certificate, text
    return found


def judged(text: str | bytes) -> tuple[int, str]:
    """What the kernel says of a proof file."""
    return kernel.verdict(io.BytesIO(text.encode() if isinstance(text, str) else text))


def resealed(text: str) -> str:
    """The same file with the SHA-256 that its problem now has."""
    lines = text.split("\n")
    end = next(i for i, line in enumerate(lines) if line.startswith("claim"))
    problem = "".join(f"{line}\n" for line in lines[2:end])
    lines[1] = f"problem {hashlib.sha256(problem.encode()).hexdigest()}"
    return "\n".join(lines)


def claiming_less(text: str, value: tuple[int, int]) -> str:
    """The same file with a bound that a known mechanism is above: false whatever follows."""
    n, m = value
    return re.sub(r"(?m)^claim bound .*$", f"claim bound {n} {m}", text)


def claiming_more(text: str, bound: tuple[int, int]) -> str:
    """The same file with a mechanism that is said to be worth more than is possible."""
    n, m = bound
    return re.sub(r"(?m)^value \S+ \S+ (.*)$", rf"value {n} {m} \1", text)


NUMBER = re.compile(r"(?<= )-?\d+")


def mutants(text: str, count: int, seed: int) -> Iterator[str]:
    """The same problem and bound with one to five numbers after it changed, or one line lost, doubled or moved."""
    draw = random.Random(seed)
    start = text.index("\n", text.index("\nclaim ") + 1) + 1
    head, body = text[:start], text[start:]
    for _ in range(count):
        lines = body.split("\n")
        if draw.random() < 0.2:
            i, j = draw.randrange(len(lines) - 1), draw.randrange(len(lines) - 1)
            how = draw.randrange(3)
            if how == 0:
                del lines[i]
            elif how == 1:
                lines.insert(j, lines[i])
            else:
                lines[i], lines[j] = lines[j], lines[i]
            yield head + "\n".join(lines)
            continue
        spots = list(NUMBER.finditer(body))
        changed = body
        for spot in sorted(draw.sample(spots, min(len(spots), draw.randint(1, 5))), key=lambda one: -one.start()):
            old = int(spot[0])
            new = draw.choice(
                [-old, old + 1, old - 1, 0, 1, -1, old * 2, old // 2, old + (1 << 100), draw.randrange(-3, 9)]
            )
            changed = changed[: spot.start()] + str(new) + changed[spot.end() :]
        yield head + changed
