"""The ledger of older versions: a file of lines, chained by hashes. It is read, and then moved into a database.

A line is JSON: `{"state":"drawing" ,...,"chain":"..."}`. Its chain is the SHA-256 of the chain of the line before and
of everything between the word of the state and the chain. Lines of the first versions have no chain; the next line that
has one covers them too. A line that begins with `~` was not complete, and nothing was drawn for it.
"""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from rropt.errors import InputError
from rropt.io.files import lock_alone, open_file

LARGEST = 1 << 24
"""Bytes of a ledger of an older version: some ten thousand draws."""
_HEAD, _WORDS = b'{"state":', ('"drawing" ', '"released"')
_BODY = len(_HEAD) + len(_WORDS[0])
_CHAIN = re.compile(rb',"chain":"([0-9a-f]{64})"\}$')


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of lines, none where there is no file. Raises InputError where a line was cut, edited or
    taken out, or where an older version is writing to it; OSError where it cannot be read."""
    try:
        stream = open_file(path)
    except FileNotFoundError:
        return []
    with stream:
        if not lock_alone(stream.fileno()):
            raise InputError("another process is releasing this data now", str(path), "wait until it is done")
        data = stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise InputError(f"it has more than {LARGEST:,} bytes", str(path), "restore the ledger from a copy")
        return _parsed(data, path)


def _parsed(data: bytes, path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    at, chain, chained = 0, "", False
    for number, text in enumerate(data.split(b"\n"), 1):
        rest = at + len(text) >= len(data)
        if (rest and not text) or (text.startswith(b"~") and at + len(text) + 1 >= len(data)):
            break
        try:
            content = json.loads(text)
            word = f'"{content["state"]}"'.ljust(len(_WORDS[0]))
            if word not in _WORDS or not text.startswith(_HEAD + word.encode() + b","):
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            cut = "was cut short, and its record of a draw is lost" if rest else "is not an entry"
            remedy = (
                "restore the ledger from a copy"
                if rest
                else "give a ledger; if it is one, restore that line: it records a draw"
            )
            raise InputError(f"line {number} {cut}", str(path), remedy) from None
        said = _CHAIN.search(text)
        chain = hashlib.sha256(chain.encode() + _CHAIN.sub(b"}", text)[_BODY:]).hexdigest()
        if (said is None and chained) or (said is not None and said[1].decode() != chain):
            raise InputError(
                f"line {number} breaks the chain of hashes: a line was changed, added or removed",
                str(path),
                "restore the ledger from a copy; without it earlier draws are not known",
            )
        chained = chained or said is not None
        found.append({key: value for key, value in content.items() if key != "chain"})
        at += len(text) + (not rest)
    return found


def sync_folder(folder: Path) -> None:
    """Flush names in `folder` to the disk, where the system can do that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
