"""Random words: the key stream of ChaCha20, keyed by the operating system, or by a seed in a function that is named
insecure.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from typing import NoReturn

import numpy as np

from rropt.errors import InputError, WrongType
from rropt.io.extras import need

CHUNK = 1 << 16
"""The most words of one request: 256 KiB, so that a chunk and everything computed from it stay in the cache."""

KEY_STREAM = 1 << 37
"""Bytes that are taken under one nonce: half of what a block counter of 32 bits reaches."""

# Encrypting zeros gives the key stream itself; the zeros are never written to, so all calls and threads share them.
_ZEROS = memoryview(bytes(4 * CHUNK))


class Source(ABC):
    """A source of the random words that decide each draw; anyone who knows them can undo the randomisation."""

    @abstractmethod
    def words(self, count: int) -> np.ndarray:
        """`count` (at most CHUNK) independent, uniform words of 32 bits: uint32, read-only, valid until the next
        call."""

    def of(self, at: int) -> Source:
        """The source of further words for value number `at` of the last call: this one, unless each value has its
        own."""
        return self

    def part(self, at: np.ndarray) -> Source:
        """The source of the words of the values `at`: this one, unless each value has its own."""
        return self


class _KeyStream(Source):
    """The key stream of ChaCha20 under one key; not for several threads at once, nor for two sides of a fork."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._buffer = bytearray(4 * CHUNK)
        # Little-endian by name: a seed means the same words on every machine.
        self._words = np.frombuffer(memoryview(self._buffer).toreadonly(), dtype="<u4")
        self._nonces = 0
        self._begin()

    def _begin(self) -> None:
        # Imported here: importing rropt shall not pay for it.
        ciphers = need("cryptography.hazmat.primitives.ciphers", where="secure randomness")

        # The first eight bytes are the block counter (or counter and nonce, as RFC 8439 cuts them), the others nonce.
        nonce = bytes(8) + self._nonces.to_bytes(8, "little")
        self._encrypt = ciphers.Cipher(ciphers.algorithms.ChaCha20(self._key, nonce), mode=None).encryptor()
        self._nonces += 1
        self._left = KEY_STREAM

    def words(self, count: int) -> np.ndarray:
        size = 4 * count
        if self._left < size:
            self._begin()
        self._left -= size
        self._encrypt.update_into(_ZEROS[:size], self._buffer)
        return self._words[:count].astype(np.uint32, copy=False)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a source of random words holds a key and is not pickled or copied; make a new one")


def secure_source() -> Source:
    """A stream under a fresh key of 256 bits from the operating system.

    Make one for each call and do not keep it: after a fork parent and child would have the same stream. Raises
    InputError where the system gives no random numbers.
    """
    return _KeyStream(secure_bytes(32))


def secure_bytes(count: int) -> bytes:
    """Random bytes from the operating system. Raises InputError where it gives none: then nothing can be drawn."""
    try:
        return os.urandom(count)
    except (OSError, NotImplementedError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        remedy = "repair its generator (/dev/urandom), then try again"
        raise InputError(f"the operating system gives no random numbers ({why})", "randomness", remedy) from None


def insecure_seeded_source(seed: int) -> Source:
    """The same words for the same `seed` (any integer), on every machine: for tests and for papers' figures.

    INSECURE: anyone who has the seed, or guesses it, can undo the randomisation. Never release data made with it. The
    stream goes on from call to call, so one source must not serve several threads. Raises InputError.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise WrongType(f"{seed!r} is not an integer", "seed", "give one, such as 1")
    return _KeyStream(hashlib.sha256(f"rropt insecure seed {int(seed)}".encode()).digest())
