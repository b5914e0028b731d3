"""What the page Check asks of rropt: the verdict of `rropt check --core` on a certificate, an archive or a folder.

It runs in a browser, in Python for WebAssembly, with the files of rropt that docs/tools/web_pages.py puts beside it.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

from rropt import checker, kernel
from rropt.checker import MAX_BYTES
from rropt.prove.problems import emptied
from rropt.solve.verified import strengthen

CERTIFICATE, BESIDE = "certificate.json", ("mechanism.json", "mechanism.csv")
MOST_FILES = 10_000
Files = dict[str, bytes]


class UnfitError(Exception):
    """The files are not what the page judges; the text says why, and what to give."""


def judged(files: Files, core: Callable[[bytes], str]) -> str:
    """The verdict as JSON. `core` gives what rropt-core prints on a proof file."""
    try:
        return json.dumps(_judged(files, core))
    except UnfitError as unfit:
        return json.dumps({"unfit": str(unfit)})


def _judged(files: Files, core: Callable[[bytes], str]) -> dict[str, Any]:
    if len(files) == 1:
        ((name, data),) = files.items()
        if data.startswith(b"PK"):
            files = unzipped(data)
            name = chosen(files)
    else:
        name = chosen(files)
    data, proofs = files[name], list[bytes]()

    def judge(proof: bytes) -> list[str]:
        proofs.append(proof)
        return core(proof).splitlines()

    verdict = strengthen(checker.check_bytes(data), data, judge)
    folder = PurePosixPath(name).parent
    with kernel.long_integers():
        found = {
            "name": name,
            "status": verdict.status,
            "reason": verdict.reason,
            "report": verdict.report(),
            "by": verdict.by,
            "kind": verdict.kind,
            "problem": verdict.problem,
            "assumptions": verdict.assumptions,
            "ends": {key: ends(getattr(verdict, key)) for key in ("lower", "upper", "value_lower", "value_upper")},
            "proof": proofs[0].decode("ascii") if proofs else None,
        }
        if verdict.proved:
            document = json.loads(data)
            found["lines"] = checker.problem_lines(emptied(document["problem"], document["bound"] is None))
            found["certificate"] = data.decode("utf-8")
            places = {one: str(folder / one) for one in BESIDE}
            found["beside"] = {
                one: files[place].decode("utf-8", "replace") for one, place in places.items() if place in files
            }
    return found


def ends(number: Fraction | None) -> list[str] | None:
    """Numerator and denominator as texts."""
    return None if number is None else [str(number.numerator), str(number.denominator)]


def chosen(files: Files) -> str:
    """The one certificate of a folder. Raises UnfitError."""
    found = [name for name in files if PurePosixPath(name).name == CERTIFICATE]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnfitError(f"it has no {CERTIFICATE}. Give the folder that rropt solve --out wrote, or a certificate")
    raise UnfitError(f"it has {len(found)} files {CERTIFICATE}, such as {found[0]} and {found[1]}. Give one of them")


def unzipped(data: bytes) -> Files:
    """The files of an archive that the page reads. Raises UnfitError."""
    files, left = Files(), MAX_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            if len(infos) > MOST_FILES:
                raise UnfitError(f"the archive has more than {MOST_FILES} files")
            for info in infos:
                if PurePosixPath(info.filename).name not in (CERTIFICATE, *BESIDE):
                    continue
                # The size that an archive states may be false: no more is unpacked than is left.
                with archive.open(info) as stream:
                    files[info.filename] = content = stream.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise UnfitError(f"its files are larger than {MAX_BYTES >> 20} MiB")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        raise UnfitError(f"the archive cannot be read: {error}") from None
    return files
