"""Every exception of rropt; each says what is wrong, where, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass


class RroptError(Exception):
    """The root of all errors that rropt raises on purpose.

    Arguments: `what` is wrong (one clause), `where` (file, key, argument; may be empty) and `remedy`
    (what to do next; may be empty). `str(error)` is one line made of the three.
    """

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        line = f"{where}: {what}" if where else what
        super().__init__(" ".join(f"{line}; {remedy}".split()) if remedy else " ".join(line.split()))


class InputError(RroptError, ValueError):
    """Something that the caller gave is unusable (exit status 2 at the command line)."""


class NoRoute(RroptError):
    """No route can take the problem as declared (exit status 5 at the command line)."""


@dataclass(frozen=True)
class Refusal:
    """A route's or a rounding's 'no' as a value: why it refuses, and what to use instead."""

    why: str
    instead: str = ""

    def __str__(self) -> str:
        return f"{self.why}; {self.instead}" if self.instead else self.why
