"""Files that are written whole or not at all, and read with one clear line when they cannot be."""

import csv
import errno
import io
import os
import re
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rropt.errors import Missing, NotWritten, TooLarge, Unreadable, WrongType, shown
from rropt.io.formulas import quoted


def a_path(path: object, doing: str, remedy: str) -> Path:
    """A path of text. Raises InputError for anything else: to Python a number is a file that is open already."""
    if not isinstance(path, (str, os.PathLike)):
        raise WrongType(f"{doing} ({type(path).__name__} is not a path)", shown(path), "give the name of a file")
    found = Path(path)
    if "\0" in str(found) or any(0xD800 <= ord(character) <= 0xDFFF for character in str(found)):
        raise WrongType(f"{doing} (a file name cannot contain a null character)", repr(str(found)), remedy)
    return found


@dataclass(frozen=True)
class Limits:
    """The limits of a text that is read whole: its `size` in bytes, how many of the characters of each of `marks` it
    may have, and whether a name of TOML may have any number of `dotted` parts. They are compared before anything is
    parsed: what a parser makes of a mark may take hundreds of bytes, and a name of n parts n^2 steps."""

    size: int = 1 << 28
    marks: tuple[tuple[str, int], ...] = ()
    dotted: bool = True

    def check(self, text: str, what: str, where: str) -> None:
        """Raise InputError where a text is above them."""
        for marks, most in self.marks:
            if sum(map(text.count, marks)) > most:
                named = " ".join(repr(mark)[1:-1] for mark in marks)
                raise TooLarge(f"this {what} has more than {most:,} of {named}", where, "give a smaller one")
        if not self.dotted and DOTTED.search(text):
            raise TooLarge(f"this {what} has a name of more than {MOST_PARTS} parts", where, "give short names")


MOST_PARTS = 32
DOTTED = re.compile(rf"""(?:\.[ \t]*+(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+){{{MOST_PARTS}}}""")
JSON = Limits(marks=((",[{", 8_000_000), (":", 2_000_000)))
"""Those of a certificate."""
TOML = Limits(1 << 24, ((",[{=\n", 1 << 21),), dotted=False)
TABLE = Limits(1 << 26, (("\n,;\t", 1 << 21),))
"""A table of numbers with a label each."""
WIDEST = 1 << 29
"""Bytes of a text in memory: a character takes as many as the widest of all, up to four."""


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """A file open for reading. Raises OSError, at once, for a pipe and a device: reading them may not terminate."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", os.fspath(path))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def made_folder(place: Path) -> None:
    """Make a folder and those above it, where they are missing. Raises OSError."""
    try:
        place.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        # A file that is in the way: that something exists is not what is wrong.
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place)) from None


def write_whole(path: str | os.PathLike[str], text: str | bytes, new: bool = False) -> Path:
    """Write `text` (as UTF-8, unless it is bytes) to `path` as `whole_file` does; returns the path. Raises InputError
    where the place cannot be written."""
    target = a_path(path, "cannot write", "choose another place")
    try:
        data = text if isinstance(text, bytes) else text.encode()
    except UnicodeEncodeError as error:
        what = f"UTF-8 does not have the character {error.object[error.start]!r}"
        raise NotWritten(f"cannot write: {what}", str(target), "leave it out") from None
    with whole_file(target, new) as stream:
        stream.write(data)
    return target


@contextmanager
def whole_file(path: str | os.PathLike[str], new: bool = False) -> Iterator[BinaryIO]:
    """A stream whose bytes are at `path` when the block ends without an error: no half file shows.

    Missing parent folders are made. A link stays, and the file that it names is written. A device and a pipe are
    written into, never replaced. With `new` no file may be at `path` already. Raises InputError where the place cannot
    be written.
    """
    target = a_path(path, "cannot write", "choose another place")
    try:
        handle = _stream_at(target)
        if handle is not None:
            with os.fdopen(handle, "wb") as stream:
                yield stream
            return
        made_folder(target.parent)
        place = real_path(target)
        made_folder(place.parent)
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            # mkstemp makes a private file; what a user publishes follows the user's own umask.
            os.chmod(temporary, usual_mode(place.parent))
            if new:
                named_first(temporary, place)
            else:
                os.replace(temporary, place)
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError:
        raise NotWritten("this file exists already", str(target), "move it away, or choose another name") from None
    except OSError as error:
        raise NotWritten(f"cannot write ({error.strerror})", str(target), "choose another place") from None


def real_path(path: Path) -> Path:
    """The whole path that links lead to. Links in a circle are not an error here, as they are for `Path.resolve`:
    opening the path says so."""
    return Path(os.path.realpath(path))


def named_first(temporary: Path, target: Path) -> None:
    """Give a file the name `target`, which nothing has. Raises FileExistsError where something has it: of two programs
    that do this at once, one gets the name. Raises OSError."""
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # This file system has no hard links (FAT): an empty file takes the name first.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.replace(temporary, target)
    else:
        temporary.unlink()


_NO_LINKS = frozenset((errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK))


def _stream_at(target: Path) -> int | None:
    """Open `target` for writing if it is a device, a pipe, or a file that this process has open, as /dev/stdout; None
    for a file and for nothing. Raises OSError."""
    number = _descriptor(target)
    if number is not None:
        if number == 1:
            sys.stdout.flush()
        return os.dup(number)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
        raise OSError(errno.EINVAL, "it is a disk or a socket", str(target))
    try:
        # Without a reader, opening a pipe would never return.
        handle = os.open(target, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    except OSError as error:
        if error.errno == errno.ENXIO and stat.S_ISFIFO(mode):
            raise OSError(errno.ENXIO, "no program reads from this pipe", str(target)) from None
        raise
    if os.name == "posix":
        os.set_blocking(handle, True)
    return handle


def _descriptor(path: Path) -> int | None:
    """The number of the open file of this process that a path names, as /dev/stdout or /dev/fd/5; None for others."""
    for _ in range(40):  # as many links as Linux follows
        folder = os.path.realpath(path.parent)
        if folder in ("/dev/fd", f"/proc/{os.getpid()}/fd") and path.name.isdecimal():
            return int(path.name)
        try:
            path = Path(folder, os.readlink(path))
        except OSError:
            break
    return None


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether something stands at `path` that is not a file: a device, a pipe, a folder, or an open file by its
    number. It is never replaced."""
    return _descriptor(Path(path)) is not None or (os.path.exists(path) and not os.path.isfile(path))


def remove_result(path: Path) -> None:
    """Remove an earlier result, if it is a file. Raises OSError."""
    if not is_special(path):
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Flush names in `folder` to the disk, where the system can do that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def usual_mode(folder: Path) -> int:
    """The mode of a new file of this user in `folder`, seen on one. Raises OSError.

    Reading the umask means setting it, which would affect files of other threads.
    """
    probe = folder / f".rropt.{secrets.token_hex(8)}"
    handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        return stat.S_IMODE(os.fstat(handle).st_mode)
    finally:
        os.close(handle)
        os.unlink(probe)


def check_writable(folder: str | os.PathLike[str], names: Iterable[str]) -> None:
    """Raise InputError where files of these names could not be written into `folder`, which need not exist yet:
    checked before long work, whose result would be lost. No file remains."""
    place = named_path(folder)
    files = [place / name for name in names]
    for file in files:
        if file.is_dir():
            raise NotWritten("cannot write (a folder has this name)", str(file), "move it away")
    # A link is written where it leads; a device and a pipe are written into, and need no room beside them.
    wanted = [real_path(file).parent for file in files if not is_special(file)]
    for ancestor in dict.fromkeys(wanted if files else [place]):
        while not ancestor.exists() and ancestor != ancestor.parent:
            ancestor = ancestor.parent
        try:
            handle, probe = tempfile.mkstemp(prefix=".rropt.", dir=ancestor)
            os.close(handle)
            os.unlink(probe)
        except OSError as error:
            where = files[0] if len(files) == 1 else place
            raise NotWritten(f"cannot write ({error.strerror})", str(where), "choose another place") from None


def read_text(path: str | os.PathLike[str], what: str, as_it_is: bool = False, *, limits: Limits) -> str:
    """The text of a UTF-8 file, every end of a line as a line feed unless `as_it_is`. `what` names the kind of file in
    the error. Raises InputError, also for a text above `limits`."""
    path = a_path(path, f"cannot read this {what}", "check it")
    try:
        with open_file(path) as stream:
            data = stream.read(limits.size + 1) if os.fstat(stream.fileno()).st_size <= limits.size else None
        if data is None or len(data) > limits.size:
            raise TooLarge(f"this {what} has more than {limits.size:,} bytes", str(path), "give a smaller one")
        widest = 1 if len(data) <= WIDEST // 4 else 4 if max(data) >= 0xF0 else 2 if max(data) >= 0xC4 else 1
        if len(data) * widest > WIDEST:
            raise TooLarge(f"this {what} has rare characters and {len(data):,} bytes", str(path), "give a smaller one")
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise Unreadable(f"cannot read this {what} ({error.strerror})", str(path), "check the path") from None
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"this {what} is not UTF-8 (byte {error.start})", str(path), "save it with encoding UTF-8"
        ) from None
    del data
    limits.check(text, what, str(path))
    return text if as_it_is else text.replace("\r\n", "\n").replace("\r", "\n")


def named_path(given: str | os.PathLike[str]) -> Path:
    """A path whose name is valid Unicode, so that files can refer to it. Raises InputError."""
    path, text = Path(given), os.fspath(given)
    if not text:
        raise Missing("no file is named", "path", "give one; . is this folder")
    if "\0" in text:
        raise WrongType("no file has such a name", repr(text), "check it")
    try:
        os.fsencode(path).decode("utf-8")
    except ValueError:
        raise Unreadable("its name is not UTF-8, and could not be written down", ascii(text), "rename it") from None
    return path


def csv_text(rows: Iterable[Sequence[object]], quote_formulas: bool = True) -> str:
    """Rows as CSV with line feeds, in quotation marks where a reader would take a cell for something else, and with an
    apostrophe where a spreadsheet would take it for a formula (`rropt.io.formulas`)."""
    stream = io.StringIO()
    plain = csv.writer(stream, lineterminator="\n")
    marked = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for given in rows:
        row = [quoted(cell) if quote_formulas and isinstance(cell, str) else cell for cell in given]
        # A carriage return ends a line for readers, and a line with a number sign in front is a remark for some.
        strange = any("\r" in str(cell) for cell in row) or str(row[0] if row else "").startswith("#")
        (marked if strange else plain).writerow(row)
    return stream.getvalue()


def csv_rows(text: str, where: str, delimiter: str = ",", padded: bool = False) -> list[tuple[int, list[str]]]:
    """(number of its first line, cells) of every record of a CSV text that is not blank, unchanged; of a `padded`
    one without the blanks around them. Raises InputError with the line that cannot be read."""
    rows, last = [], 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=padded, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row) or len(row) > 1:
                rows.append((last + 1, [cell.strip() for cell in row] if padded else row))
            last = reader.line_num
    except csv.Error as error:
        raise Unreadable(f"line {last + 1} cannot be read ({error})", where, "correct its quotes") from None
    return rows


def lock_alone(handle: int) -> bool:
    """Whether the open file is now locked by this process, until it is closed or the process ends."""
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
    """The folders `places`, made before the work; those of them that are empty after it are removed.

    Raises InputError where one cannot be made.
    """
    missing: dict[Path, None] = {}
    try:
        for place in dict.fromkeys(places):
            missing |= dict.fromkeys(folder for folder in (place, *place.parents) if not folder.exists())
            try:
                made_folder(place)
            except OSError as error:
                raise NotWritten(f"cannot write ({error.strerror})", str(place), "choose another place") from None
        yield
    finally:
        for folder in sorted(missing, key=lambda one: len(one.parts), reverse=True):
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Lock `folder` against other processes that lock it too, while files that belong together are written.

    It is made where it is missing, and removed if nothing was put into it. Where the system cannot lock folders
    (Windows) there is no lock. Raises InputError where another process holds it.
    """
    with folders([folder]):
        if os.name != "posix":
            yield
            return
        handle = os.open(folder, os.O_RDONLY)
        try:
            if not lock_alone(handle):
                raise NotWritten(
                    "another process writes its results here",
                    str(folder),
                    "wait until it is done, or use another --out",
                )
            yield
        finally:
            os.close(handle)
