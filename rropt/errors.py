"""Every exception of rropt; each says what is wrong, where, and what to do next."""

import difflib
import html
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice


def plain(text: str) -> str:
    """Text that may be printed: control characters, which a terminal would obey, are escaped."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def short_labels(labels: Sequence[str], most: int) -> list[str]:
    """Labels that may be printed, of at most `most` characters. Those that would look alike if they were cut at the end
    are cut in the middle; those that still would end in their number in the list."""
    texts = [plain(label) for label in labels]

    def cut(text: str, tail: str = "") -> str:
        return text if len(text) <= most else f"{text[: most - 1 - len(tail)]}~{tail}"

    short = [cut(text) for text in texts]
    for tails in ([text[-(most // 2) :] for text in texts], [str(at) for at in range(1, len(texts) + 1)]):
        times = Counter(short)
        short = [one if times[one] == 1 else cut(*pair) for one, *pair in zip(short, texts, tails, strict=True)]
    return short


def escaped(text: str) -> str:
    """Text as HTML and XML write it, without control characters, which XML does not allow."""
    return html.escape(plain(text))


LONGEST, TAIL = 490, 200
"""Characters of a message, and of its end where it is cut."""


class RroptError(Exception):
    """The root of all errors that rropt raises on purpose.

    Arguments: `what` is wrong (one clause), `where` (file, key, argument; may be empty) and `remedy`
    (what to do next; may be empty). `str(error)` is one line made of the three, of fewer than 500 characters: what
    quotes a file is cut in its middle, so that the remedy at the end is shown.

        >>> import rropt as rr
        >>> try:
        ...     rr.Prior.from_counts([])
        ... except rr.RroptError as error:
        ...     print(type(error).__name__)
        Missing
    """

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        line = f"{where}: {what}" if where else what
        whole = plain(" ".join((f"{line}; {remedy}" if remedy else line).split()))
        super().__init__(whole if len(whole) <= LONGEST else f"{whole[: LONGEST - TAIL - 7]} [...] {whole[-TAIL:]}")


def shown(value: object, most: int = 80) -> str:
    """`value` as a message shows it: its repr, shortened; its type where that has several lines, as a data frame's, or
    cannot be written."""
    try:
        text = repr(value)
    except Exception:  # an integer of too many digits, or whatever a caller's own __repr__ raises
        text = "\n"
    if "\n" in text:
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}..."


def positive_integer(number: object, where: str, remedy: str = "try 2", *, most: int | None = None) -> int:
    """`number`, which must be an integer from 1 to `most` (None: of any size). Raises InputError."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1 or (most is not None and number > most):
        kind = "a positive integer" if most is None else f"an integer from 1 to {most:,}"
        raise OutOfRange(f"it is {shown(number)}, which is not {kind}", where, remedy)
    return number


LONG = 10**18
"""Larger numbers are shown by their length: Python writes integers of up to 4,300 digits."""


def named(labels: Sequence[str], most: int = 6) -> str:
    """Labels in a sentence, quoted, of many the first ones: "'a', 'b' and 3 more"."""
    more = f" and {len(labels) - most:,} more" if len(labels) > most else ""
    return ", ".join(map(repr, labels[:most])) + more


def counted(number: int, things: str) -> str:
    """A number with its noun, which is given in the plural: "1 row", "2,000 rows", "more than 10^30 columns"."""
    if number >= LONG:
        return f"more than 10^{(number.bit_length() - 1) * 30102 // 100000} {things}"
    if number != 1:
        return f"{number:,} {things}"
    irregular = {"axes": "axis", "vertices": "vertex", "people": "person"}
    before, space, noun = things.rpartition(" ")
    for ending, single in (("ies", "y"), ("xes", "x"), ("sses", "ss"), ("s", "")):
        if noun.endswith(ending) and noun not in irregular:
            noun = noun.removesuffix(ending) + single
            break
    return f"1 {before}{space}{irregular.get(noun, noun)}"


class InputError(RroptError, ValueError):
    """An argument or a file is unusable (exit status 2 at the command line).

    `code` names the kind of fault and stays as it is when a sentence is reworded: match `code` and `where`, not the
    text. Each code has a class of its own below; any other fault has the code "invalid".

        >>> import rropt as rr
        >>> try:
        ...     rr.LDP(-1)
        ... except rr.InputError as error:
        ...     print(error)
        epsilon: it is -1, below 0; try 1.0
    """

    code: str = "invalid"

    def at(self, where: str, remedy: str | None = None) -> "InputError":
        """The same error at another place, or with another remedy."""
        kind = InputError if isinstance(self, SettingNeeded) else type(self)
        moved = kind(self.what, where, self.remedy if remedy is None else remedy)
        moved.code = self.code
        return moved


class Conflict(InputError):
    """Two arguments or parts do not fit together: both given, of other sizes, or of other labels."""

    code = "conflict"


class Duplicate(InputError):
    """A name or a value occurs twice."""

    code = "duplicate"


class Missing(InputError):
    """Something that is needed is not given or is empty."""

    code = "missing"


class NotInstalled(InputError):
    """An optional package is missing, or its version is too low."""

    code = "not_installed"


class NotWritten(InputError):
    """A file cannot be written, or exists already."""

    code = "not_written"


class OutOfRange(InputError):
    """A number is outside of its range."""

    code = "out_of_range"


class Refused(InputError):
    """A release is refused because it would reveal more than it states."""

    code = "refused"


class ReleasedBefore(Refused):
    """These columns were randomised before: again would raise the total epsilon."""

    code = "released_before"


class AboveCeiling(Refused):
    """The release would spend more than the ceiling of a privacy accountant."""

    code = "above_ceiling"


class TooLarge(InputError):
    """An input is larger than rropt takes."""

    code = "too_large"


class UnknownName(InputError):
    """A name is not one of those that exist."""

    code = "unknown_name"


class Unreadable(InputError):
    """A file cannot be read, or is of another kind."""

    code = "unreadable"


class WrongType(InputError):
    """A value is of another type or form than needed."""

    code = "wrong_type"


class SettingNeeded(InputError):
    """A setting `key` of the reader is the remedy, for example as `value`; `remedy` holds {} where it is inserted.

    In Python it is written `key='value'`; a problem file and the command line write it otherwise (`with_setting`).
    """

    code = "setting_needed"

    def __init__(self, what: str, where: str, remedy: str, key: str, value: str) -> None:
        self.key, self.value, self._form = key, value, remedy
        super().__init__(what, where, remedy.format(f"{key}={value!r}"))

    def with_setting(self, setting: str) -> InputError:
        """The same error with the setting written as a reader of another kind writes it."""
        return self.at(self.where, self._form.format(setting))


class NoMethod(RroptError):
    """No method can take the problem as declared (exit status 5 at the command line).

    For example:

        >>> import rropt as rr
        >>> issubclass(rr.NoMethod, rr.RroptError), issubclass(rr.NoMethod, rr.InputError)
        (True, False)
    """


@contextmanager
def in_file(where: object) -> Iterator[None]:
    """An InputError raised inside begins with `where`, the file that was read."""
    try:
        yield
    except InputError as error:
        raise error.at(f"{where}: {error.where}") from None


def reason(error: Exception) -> str:
    """The message of an error; that of a fault of rropt or of a library begins with its type."""
    return str(error) if isinstance(error, RroptError) else f"{type(error).__name__}: {error}"


COMPARED = 1000
"""Unknown words that are compared at most, to say why they are unknown."""


def other_form(words: Iterable[object], known: Iterable[str]) -> str:
    """The end of a message on unknown `words`, if one differs from a `known` one only in the form in which Unicode
    writes its letters: printed, they look the same. Otherwise ""."""
    texts = list(islice(dict.fromkeys(str(word) for word in words if isinstance(word, str)), COMPARED))
    forms = {unicodedata.normalize("NFC", label): label for label in known}
    for text in texts:
        like = forms.get(unicodedata.normalize("NFC", text), text)
        if like != text:
            return f"; {text!a} has the letters of {like!a} in another Unicode form: normalise both to NFC"
    return ""


def suggestion(word: object, known: Iterable[str], listed: str = "use one of") -> str:
    """The remedy for a name that is not `known`: the closest one, else all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(str(word), names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"{listed}: {', '.join(names) or 'no further key'}"


@dataclass(frozen=True)
class Refusal:
    """A refusal of a method or a rounding as a value: why it refuses, and what to use instead."""

    why: str
    instead: str = ""

    def __str__(self) -> str:
        return f"{self.why}; {self.instead}" if self.instead else self.why
