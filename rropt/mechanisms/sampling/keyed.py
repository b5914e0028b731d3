"""A keyed pseudo-random function of many texts at once: AES-CMAC with a key of 256 bits (NIST SP 800-38B).

Texts are cut into blocks, and the first blocks of all texts are encrypted in one call, then the second ones, and so on.
So a short text costs a few gathers of NumPy and one block of AES.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rropt.io.extras import need

BLOCK = 16
"""Bytes of a block."""
CHUNK = 1 << 16
"""Texts of one call of AES, so that their blocks stay in the cache."""
_WHOLE = 1 << 128
_REDUCTION = 0x87
"""x^128 in the field of 2^128 elements that SP 800-38B takes."""


@dataclass(frozen=True)
class Texts:
    """n texts as bytes: text i is `data[starts[i]:ends[i]]` (uint8, int64, int64); `data` ends with BLOCK zeros."""

    data: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Texts:
        """The texts of a list."""
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return cls(
            np.frombuffer(b"".join(texts) + bytes(BLOCK), dtype=np.uint8), np.concatenate([[0], ends[:-1]]), ends
        )

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, at: int) -> bytes:
        """Text number `at`."""
        return self.data[self.starts[at] : self.ends[at]].tobytes()


class KeyedFunction:
    """AES-CMAC under `key` (32 bytes). Its values are arrays of shape (n, 2), dtype "<u8": the 16 bytes of each."""

    def __init__(self, key: bytes) -> None:
        # Imported here: importing rropt shall not pay for it.
        ciphers = need("cryptography.hazmat.primitives.ciphers", where="the key")

        # Every block is encrypted by itself; what ECB lacks is the chaining, which is below.
        self._cipher = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.ECB()).encryptor()
        zero = int.from_bytes(self._encrypted(np.zeros((1, 2), dtype="<u8")).tobytes(), "big")
        whole = _doubled(zero)
        # What of a block is the text's, and what is added to it, where the block is the last one and has 0, ..., 16
        # bytes of the text; line 17 is for blocks that are not the last one.
        keep, flip = [], []
        for size in range(BLOCK + 1):
            keep.append(b"\xff" * size + bytes(BLOCK - size))
            padding = b"" if size == BLOCK else b"\x80"
            number = whole if size == BLOCK else _doubled(whole)
            flip.append(
                (number ^ int.from_bytes((bytes(size) + padding).ljust(BLOCK, b"\0"), "big")).to_bytes(BLOCK, "big")
            )
        self._keep = np.frombuffer(b"".join([*keep, b"\xff" * BLOCK]), dtype="<u8").reshape(-1, 2)
        self._flip = np.frombuffer(b"".join([*flip, bytes(BLOCK)]), dtype="<u8").reshape(-1, 2)

    def _encrypted(self, blocks: np.ndarray) -> np.ndarray:
        # As much room as `update_into` asks for.
        room = bytearray(blocks.nbytes + BLOCK - 1)
        self._cipher.update_into(np.ascontiguousarray(blocks).view(np.uint8).data.cast("B"), room)
        return np.frombuffer(room, dtype="<u8", count=blocks.size).reshape(blocks.shape)

    def states(self, prefixes: Sequence[bytes]) -> np.ndarray:
        """The state of the function after a first block; `prefixes` have BLOCK bytes each."""
        blocks = np.frombuffer(b"".join(prefixes), dtype="<u8").reshape(len(prefixes), 2)
        return self._encrypted(blocks) if len(prefixes) else blocks

    def of(self, states: np.ndarray, texts: Texts) -> np.ndarray:
        """The CMACs of prefix and text, one per text; no text is empty. `states` are those after the prefixes, one per
        text or one for all."""
        found = np.empty((len(texts), 2), dtype="<u8")
        for start in range(0, len(texts), CHUNK):
            part = slice(start, start + CHUNK)
            own = states[part] if len(states) == len(texts) else np.broadcast_to(states, found[part].shape)
            found[part] = self._chunk(own, texts.data, texts.starts[part], texts.ends[part])
        return found

    def _chunk(self, states: np.ndarray, data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        # A block from any byte on.
        blocks = np.ndarray((len(data) - BLOCK + 1,), dtype=f"V{BLOCK}", buffer=data, strides=(1,))
        found, left = states, ends - starts
        which: np.ndarray | None = None
        while len(starts):
            # Of these tables `take` is many times faster than an index.
            size = np.minimum(left, BLOCK + 1)
            block = blocks[starts].view("<u8").reshape(-1, 2)
            block &= np.take(self._keep, size, axis=0)
            block ^= np.take(self._flip, size, axis=0)
            block ^= found if which is None else np.take(found, which, axis=0)
            made = self._encrypted(block)
            if which is None:
                found = made
            else:
                found[which] = made
            more = np.flatnonzero(left > BLOCK)
            which = more if which is None else which[more]
            starts, left = starts[more] + BLOCK, left[more] - BLOCK
        return found


def _doubled(number: int) -> int:
    """A number times x in the field."""
    twice = number << 1
    return twice ^ _WHOLE ^ _REDUCTION if twice >= _WHOLE else twice
