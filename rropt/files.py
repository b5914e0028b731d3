"""Files that are written whole or not at all, and read with one clear line when they cannot be."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rropt.errors import InputError


def write_whole(path: str | os.PathLike[str], text: str | bytes) -> Path:
    """Write `text` (as UTF-8, unless it is bytes) to `path` through a temporary name and a rename: no half file shows.

    Missing parent folders are made. Raises InputError where the place cannot be written.
    """
    target = Path(path)
    if "\0" in str(target):
        raise InputError("cannot write (no file has such a name)", repr(str(target)), "choose another place")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write ({error.strerror})", str(target), "choose another place") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text if isinstance(text, bytes) else text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes a private file; what a user publishes follows the user's own umask.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"cannot write ({error.strerror})", str(target), "choose another place") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def check_writable(folder: str | os.PathLike[str], names: Iterable[str]) -> None:
    """Raise InputError where files of these names could not be written into `folder`, which need not exist yet:
    asked before long work, whose result would be lost. Nothing is left behind."""
    place = named_path(folder)
    for name in names:
        if (place / name).is_dir():
            raise InputError("cannot write (a folder has this name)", str(place / name), "move it away")
    ancestor = place
    while not ancestor.exists() and ancestor != ancestor.parent:
        ancestor = ancestor.parent
    try:
        handle, probe = tempfile.mkstemp(prefix=".rropt.", dir=ancestor)
        os.close(handle)
        os.unlink(probe)
    except OSError as error:
        raise InputError(f"cannot write ({error.strerror})", str(place), "choose another place with --out") from None


def read_text(path: str | os.PathLike[str], what: str, as_it_is: bool = False) -> str:
    """The text of a UTF-8 file, every end of a line as a line feed unless `as_it_is`. `what` names the kind of file in
    the error. Raises InputError."""
    try:
        with open(path, encoding="utf-8-sig", newline="" if as_it_is else None) as stream:
            return stream.read()
    except OSError as error:
        raise InputError(f"cannot read this {what} ({error.strerror})", str(path), "check the path") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"this {what} is not UTF-8 (byte {error.start})", str(path), "save it with encoding UTF-8"
        ) from None
    except ValueError:
        # What Python says of a name with a zero byte.
        raise InputError(f"cannot read this {what} (no file has such a name)", repr(str(path)), "check it") from None


def named_path(given: str | os.PathLike[str]) -> Path:
    """A path whose name can be written down beside what it holds. Raises InputError."""
    path, text = Path(given), os.fspath(given)
    if not text:
        raise InputError("no file is named", "path", "give one; . is this folder")
    if "\0" in text:
        raise InputError("no file has such a name", repr(text), "check it")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError("its name is no Unicode text, and could not be written down", repr(text), "rename it")
    return path


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV with line feeds, quoted where a reader would take a cell for something else."""
    stream = io.StringIO()
    plain = csv.writer(stream, lineterminator="\n")
    quoted = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        # A carriage return ends a line for readers, and a line with a number sign in front is a remark for some.
        strange = any("\r" in str(cell) for cell in row) or str(row[0] if row else "").startswith("#")
        (quoted if strange else plain).writerow(row)
    return stream.getvalue()


def lock_alone(handle: int) -> bool:
    """Whether the open file is now ours alone, until it is closed or the process ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        os.lseek(handle, 1 << 40, os.SEEK_SET)  # beyond the text: a locked byte could not be read
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def folders(places: Iterable[Path]) -> Iterator[None]:
    """The folders `places`, made before the work; those of them that are empty after it are taken away again.

    Raises InputError where one cannot be made.
    """
    missing: dict[Path, None] = {}
    try:
        for place in dict.fromkeys(places):
            missing |= dict.fromkeys(folder for folder in (place, *place.parents) if not folder.exists())
            try:
                place.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"cannot write ({error.strerror})", str(place), "choose another place") from None
        yield
    finally:
        for folder in sorted(missing, key=lambda one: len(one.parts), reverse=True):
            with suppress(OSError):
                folder.rmdir()
