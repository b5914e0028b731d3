"""Receipts of an accountant: the number and the hash of its last line, signed by Ed25519 (RFC 8032).

Anyone who can write an accountant can compute its hashes, and take lines from its end. A receipt that is kept elsewhere
shows both: all lines up to it are as they were when it was signed. Keys are PEM files, as OpenSSL makes them.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from rropt.errors import InputError, Unreadable
from rropt.io.files import JSON, read_text, write_whole
from rropt.release.storage.chain import line_text

FORMAT = "rropt-receipt"
MAKE = "make one: openssl genpkey -algorithm ed25519 -out FILE (its public part: openssl pkey -in FILE -pubout)"


def sign_receipt(lines: int, chain: str, key: Path, out: Path) -> Path:
    """Write the receipt of an accountant of so many lines, with the private key in the file `key`. Raises InputError."""
    private = _key(key, lambda data: load_pem_private_key(data, None), Ed25519PrivateKey)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    content = {"format": FORMAT, "version": 1, "created": created, "lines": lines, "chain": chain}
    signature = private.sign(line_text(content).encode()).hex()
    return write_whole(out, line_text({**content, "signature": signature}) + "\n", new=True)


def read_receipt(path: Path, key: Path) -> tuple[int, str]:
    """The number of lines and the last hash that a receipt states. Raises InputError where the public key in the file
    `key` did not sign it."""
    public = _key(key, load_pem_public_key, Ed25519PublicKey)
    try:
        content = json.loads(read_text(path, "receipt", limits=JSON))
        signature = bytes.fromhex(content.pop("signature"))
        lines, chain = content["lines"], content["chain"]
        if (content["format"], content["version"], type(lines), type(chain)) != (FORMAT, 1, int, str):
            raise ValueError
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable("this is not a receipt", str(path), "write one: rropt accountant sign") from None
    try:
        public.verify(signature, line_text(content).encode())
    except InvalidSignature:
        raise Unreadable(
            "this key did not sign it, or it was changed", str(path), "use the receipt as it was"
        ) from None
    return lines, chain


def _key(path: Path, load: Any, kind: type) -> Any:
    """The key in a file. Raises InputError."""
    try:
        found = load(read_text(path, "key", limits=JSON).encode())
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        if isinstance(error, InputError):
            raise
        found = None
    if not isinstance(found, kind):
        which = "private" if "Private" in kind.__name__ else "public"
        raise Unreadable(f"this is not a {which} Ed25519 key without a password", str(path), MAKE)
    return found
