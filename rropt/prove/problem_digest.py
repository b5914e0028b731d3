"""The `problem` object of a certificate as one sequence of bytes, its SHA-256, and how two such objects differ.

Written from section 3 of docs/certificate-format.md; the checker has its own implementation, which agrees.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping

from rropt.errors import counted

SHOWN = 60
"""Characters of a value that a difference shows at most."""


def canonical(problem: Mapping[str, object]) -> bytes:
    """The canonical form: keys sorted by code point, no white space, ASCII (everything else as a \\u escape)."""
    return json.dumps(problem, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def digest(problem: Mapping[str, object]) -> str:
    """SHA-256 of the canonical form, in lower-case hexadecimal: what the checker prints."""
    return hashlib.sha256(canonical(problem)).hexdigest()


def differences(declared: Mapping[str, object], stated: Mapping[str, object]) -> list[str]:
    """Where two `problem` objects differ, one printable line for each place, by its path; [] exactly where their
    canonical forms are equal. Of a list the first element that differs is shown, and how many more do."""
    return list(_differences(json.loads(canonical(declared)), json.loads(canonical(stated)), ""))


def _differences(declared: object, stated: object, path: str) -> Iterator[str]:
    if isinstance(declared, dict) and isinstance(stated, dict):
        for key in sorted({*declared, *stated}):
            at = f"{path}.{_word(key)}" if path else _word(key)
            if key not in stated:
                yield f"{at}: declared as {_show(declared[key])}, absent in the certificate"
            elif key not in declared:
                yield f"{at}: {_show(stated[key])} in the certificate, absent in the declared problem"
            else:
                yield from _differences(declared[key], stated[key], at)
    elif isinstance(declared, list) and isinstance(stated, list) and len(declared) == len(stated):
        pairs = zip(declared, stated, strict=True)
        places = [i for i, (one, other) in enumerate(pairs) if json.dumps(one) != json.dumps(other)]
        if places:
            i = places[0]
            yield from _differences(declared[i], stated[i], f"{path}[{i}]")
        if places[1:]:
            yield f"{path}: {len(places)} of {counted(len(declared), 'elements')} differ"
    elif json.dumps(declared) != json.dumps(stated):
        yield f"{path}: declared as {_show(declared)}, {_show(stated)} in the certificate"


def _word(key: str) -> str:
    """A key, printable on one line."""
    return key if key.isidentifier() and key.isascii() else json.dumps(key)


def _show(value: object) -> str:
    """A value, printable on one line: long lists by their length."""
    if isinstance(value, list):
        text = json.dumps(value)
        return text if len(text) <= SHOWN else f"a list of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
