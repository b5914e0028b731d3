"""Whatever writes a file leaves what stands at its place as it is: a device, a pipe, a link and a socket stay there.

No special file of this machine is used: the law makes its own, since code that breaks it would break the machine.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from drawing import graded
from ending import ending

import rropt as rr
from rropt import __main__ as cli
from rropt.cli.main import write_results
from rropt.errors import InputError
from rropt.release import ProtectedColumn, release_file
from rropt.release.account import Account
from rropt.studies.compare import compare
from rropt.studies.reports.report import write_report

pytest.importorskip("pyarrow")
PACKAGE = Path(rr.__file__).parent
posix = pytest.mark.skipif(os.name != "posix", reason="needs devices and pipes")

PROBLEM = """schema = 1
[input]
counts = {a = 1, b = 2}
[objective]
maximize = "trace"
[[constraint]]
kind = "ldp"
epsilon = 1
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "p.toml").write_text(PROBLEM)
    (folder / "t.csv").write_text("id,x\n1,a\n2,b\n")
    assert cli.main(["solve", str(folder / "p.toml"), "--out", str(folder / "d")]) == 0
    assert cli.main(["accountant", "init", "--ceiling", "9", str(folder / "all")]) == 0
    assert cli.main(["key", "new", str(folder / "key")]) == 0
    (folder / "sign").write_bytes(_private_key())
    return folder


def _private_key() -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.from_private_bytes(b"1" * 32)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@functools.cache
def solution(made: Path) -> Any:
    return rr.load_problem(made / "p.toml").solve()


@functools.cache
def comparison(made: Path) -> Any:
    return compare(rr.load_problem(made / "p.toml"), methods=["linear"], time_limit=5)


def run(*arguments: object) -> None:
    """A command; where it refuses, so does this."""
    if cli.main(list(map(str, arguments))) not in (0, 3):
        raise InputError("refused", "it", "")


Write = Callable[[Path, Path], object]
WRITERS: dict[str, tuple[str, Write]] = {
    "mechanism.save": ("m.json", lambda made, path: rr.Mechanism.load(made / "d/mechanism.json").save(path)),
    "mechanism.to_csv": ("m.csv", lambda made, path: rr.Mechanism.load(made / "d/mechanism.json").to_csv(path)),
    "certificate.save": ("c.json", lambda made, path: solution(made).certificate.save(path)),
    "solution.save": ("s.json", lambda made, path: solution(made).save(path)),
    "problem.save": ("p.toml", lambda made, path: rr.load_problem(made / "p.toml").save(path)),
    "write_report": ("r.html", lambda made, path: write_report(made / "d", path)),
    "report": ("r.html", lambda made, path: run("report", made / "d", "-o", path)),
    "core": ("p.txt", lambda made, path: run("core", made / "d/certificate.json", "-o", path)),
    "comparison.save": ("c.csv", lambda made, path: comparison(made).save(path)),
    "sweep": ("s.csv", lambda made, path: run("sweep", made / "p.toml", "--epsilon", "1", "-o", path)),
    "journal of a sweep": (
        "s.csv.journal.jsonl",
        lambda made, path: run("sweep", made / "p.toml", "--epsilon", "1", "-o", path.with_name("s.csv")),
    ),
    "audit": ("a.json", lambda made, path: run("audit", made / "d/mechanism.csv", "--epsilon", 2, "--improved", path)),
    "identify": ("i.json", lambda made, path: run("identify", made / "d", "-o", path)),
    "models records": ("people.csv", lambda made, path: run("models", "records", "adult-education", "-o", path)),
    "models records --force": (
        "people.csv",
        lambda made, path: run("models", "records", "adult-education", "--force", "-o", path),
    ),
    "models copy": (
        "adult-education.toml",
        lambda made, path: run("models", "copy", "adult-education", "-o", path.parent),
    ),
    "models copy --force": (
        "adult-education.toml",
        lambda made, path: run("models", "copy", "adult-education", "--force", "-o", path.parent),
    ),
    "publish": ("mechanism.json", lambda made, path: run("publish", made / "d", "-o", path.parent)),
    "accountant init": ("accountant", lambda made, path: Account.create(path, 4)),
    "accountant sign": (
        "receipt",
        lambda made, path: run("accountant", "sign", made / "all", "--key", made / "sign", "-o", path),
    ),
    "key new": ("key", lambda made, path: run("key", "new", path)),
    **{
        f"solve: {name}": (name, lambda made, path: write_results(solution(made), path.parent))
        for name in ("mechanism.json", "mechanism.csv", "mixture.csv", "certificate.json", "solution.json")
    },
    **{
        f"apply: {name}{''.join(more)}": (name, lambda made, path, more=more: _apply(made, path.parent, *more))
        for name in ("o.csv", "o.csv.manifest.json", "t.csv.accountant", "key.records")
        for more in ((), ("--force",))
    },
}


def _apply(made: Path, folder: Path, *more: str) -> None:
    """A release in a folder; its data, its key and their files are there too."""
    (folder / "t.csv").write_bytes((made / "t.csv").read_bytes())
    (folder / "key").write_bytes((made / "key").read_bytes())
    os.chmod(folder / "key", 0o600)
    with_key = ("--id", "id", "--key", folder / "key")
    run("apply", made / "d", folder / "t.csv", "--column", "x", *with_key, "-o", folder / "o.csv", *more)


@contextmanager
def drained(path: Path) -> Iterator[bytearray]:
    """A pipe that somebody reads; what was read, once this ends."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    found, ended = bytearray(), threading.Event()

    def read() -> None:
        while True:
            last, part = ended.is_set(), b""
            with suppress(BlockingIOError):
                part = os.read(handle, 1 << 16)
            found.extend(part)
            if last and not part:
                return
            time.sleep(0 if part else 0.001)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()
        os.close(handle)


def device(path: Path) -> None:
    """A device that takes everything: a node of our own; a link to a new terminal for users who cannot make one."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        path.unlink(missing_ok=True)
        path.symlink_to(os.ttyname(_terminal()))


@functools.cache
def _terminal() -> int:
    """The open end of a terminal whose other end is read."""
    reads, number = os.openpty()
    threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(reads, 1 << 16), b"")], daemon=True).start()
    return number


def sock(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        folder = os.getcwd()
        os.chdir(path.parent)  # the path of a socket is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(folder)


def link(path: Path) -> None:
    path.with_name("target").write_text("before")
    path.symlink_to("target")


KINDS: dict[str, Callable[[Path], object]] = {
    "device": device,
    "pipe without a reader": os.mkfifo,
    "pipe": os.mkfifo,
    "socket": sock,
    "link": link,
    "link to nothing": lambda path: path.symlink_to("target"),
    "link to a pipe": lambda path: (os.mkfifo(path.with_name("target")), path.symlink_to("target")),
    "link to itself": lambda path: path.symlink_to(path.name),
    "folder": Path.mkdir,
}


def place(path: Path) -> tuple[object, ...]:
    """What stands at a path, without what is in it."""
    found = os.lstat(path)
    is_link = stat.S_ISLNK(found.st_mode)
    return stat.S_IFMT(found.st_mode), found.st_ino, found.st_rdev, os.readlink(path) if is_link else ""


# Every writer with one kind, and every kind with one writer: all of them call `write_whole` (see below).
TURNS = [
    *((writer, list(KINDS)[at % len(KINDS)]) for at, writer in enumerate(WRITERS)),
    *(("mechanism.save", kind) for kind in list(KINDS)[1:]),
]


@posix
@pytest.mark.parametrize(
    ("writer", "kind"), graded(TURNS, [one for one in product(WRITERS, KINDS) if one not in TURNS]), ids=str
)
def test_what_is_not_a_file_is_never_replaced(
    writer: str, kind: str, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, write = WRITERS[writer]
    plain, special = tmp_path / "plain", tmp_path / "special"
    plain.mkdir()
    special.mkdir()
    path = special / name
    KINDS[kind](path)
    target = special / "target"
    before = {one: place(one) for one in (path, target) if os.path.lexists(one)}
    pipe = target if kind == "link to a pipe" else path
    said = ""
    with ending(), drained(pipe) if kind in ("pipe", "link to a pipe") else nullcontext() as found:
        capsys.readouterr()
        try:
            write(made, path)
        except InputError as error:
            said = str(error) if str(error) != "it: refused; " else capsys.readouterr().err
    if kind == "link to a pipe":
        assert place(target) == before[target]
    # A result that this solve does not have is removed, with the link that led to it.
    gone = name == "mixture.csv" and kind.startswith("link") and not os.path.lexists(path)
    assert gone or place(path) == before[path]
    if said:
        lines = [line for line in said.splitlines() if "warning" not in line and "note" not in line]
        assert len(lines) == 1, said
        assert "Traceback" not in said
        if kind == "link":
            assert target.read_text() == "before"
    elif found is not None and name != "mixture.csv":
        write(made, plain / name)
        assert bytes(found).splitlines()[:1] == (plain / name).read_bytes().splitlines()[:1] != []
    elif kind in ("link", "link to nothing") and name != "mixture.csv":
        assert target.read_bytes() not in (b"before", b"")
    assert not [one for one in special.iterdir() if one.name.startswith(".")]


@posix
@pytest.mark.parametrize("redirected", ["file", "file to its end", "pipe", "socket"])
def test_an_open_file_that_is_named_by_its_number_is_written_into(redirected: str, tmp_path: Path) -> None:
    """As /dev/stdout is: what was written to it before stays, and what is written later follows."""
    mechanism = rr.RandomizedResponse(("a", "b"), epsilon=1).to_mechanism()
    file = tmp_path / "out"
    file.write_bytes(b"first\n")
    other = None
    if redirected == "pipe":
        other, number = os.pipe()
    elif redirected == "socket":
        one, two = socket.socketpair()
        other, number = one.detach(), two.detach()
    else:
        more = os.O_APPEND if redirected == "file to its end" else os.O_TRUNC
        number = os.open(file, os.O_WRONLY | more)
    inode = os.stat(file).st_ino
    os.symlink(f"/dev/fd/{number}", tmp_path / "link")
    for path in (f"/dev/fd/{number}", tmp_path / "link"):
        mechanism.save(path)
        os.write(number, b"last\n")
    os.close(number)
    text = mechanism.to_json() + "last\n"
    if other is None:
        assert file.read_text() == ("first\n" if redirected == "file to its end" else "") + 2 * text
    else:
        assert os.read(other, 1 << 16).decode() == 2 * text
        os.close(other)
    assert os.stat(file).st_ino == inode
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "out"]


@posix
@pytest.mark.parametrize("name", ["report", "core", "identify", "models records", "accountant sign"])
def test_standard_output_has_the_content_and_nothing_else(
    name: str, made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where a command writes to it, what else it says goes to the error stream. Times in a file differ."""
    file, write = WRITERS[name]
    write(made, tmp_path / file)
    said = capfd.readouterr().out.replace(str(tmp_path / file), "/dev/fd/1")
    write(made, Path("/dev/fd/1"))
    out, err = capfd.readouterr()
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert out.count("\n") == text.count("\n")
    assert out[:80] == text[:80] or name == "accountant sign"
    assert said.split("\n")[0] in err


NAMING = re.compile(
    r"\b(?:os|shutil)\.(?:replace|renames?|move|copy\w*)\(.*|\.(?:rename|write_text|write_bytes|savez|tofile)\(.*"
    r"""|\bopen\([^()\n]*["'][wax]b?["'].*"""
)


def test_one_place_gives_files_their_names() -> None:
    """The others call `write_whole`, so that the law above holds for a writer that it does not know."""
    found = {
        f"{file.relative_to(PACKAGE).as_posix()}: {line}"
        for file in PACKAGE.rglob("*.py")
        for line in NAMING.findall(re.sub(r"(?m)^ *(>>>|\.\.\.) .*$", "", file.read_text(encoding="utf-8")))
        if file != PACKAGE / "io/files.py"
    }
    assert found == {"release/run.py: os.replace(left, target)", "release/run.py: os.replace(temporary, target)"}


@pytest.mark.parametrize("before", ["", "o.csv", "o.csv.manifest.json"])
@pytest.mark.parametrize("force", [False, True])
def test_of_releases_to_one_name_at_once_one_stands(
    force: bool, before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are drawn before one of them gets the name: the others say that they do not have it."""
    monkeypatch.chdir(tmp_path)
    count = 4
    columns = [
        ProtectedColumn("x", rr.RandomizedResponse(("a", "b"), epsilon=1 + number).to_mechanism())
        for number in range(count + 1)
    ]
    for number in range(count):
        Path(f"t{number}.csv").write_text("x\n" + "a\nb\n" * (200 + number))
    if before and force:
        release_file("t0.csv", columns[count], "o.csv")
        Path("o.csv" if before != "o.csv" else "o.csv.manifest.json").unlink()
    drawn = threading.Barrier(count)

    def release(number: int) -> str | None:
        with suppress(InputError):
            done = [False]

            def wait(*_: object) -> None:
                done[0] = done[0] or drawn.wait(60) >= 0

            given = f"t{number}.csv", columns[number], "o.csv"
            made = release_file(*given, force=force, monitor=wait, warn=lambda _: None)
            assert made.companions == (Path("o.csv.README.txt"), Path("o.csv.for-R"))
            return str(made.manifest["release"])
        return None

    with ThreadPoolExecutor(count) as pool:
        said = [one for one in pool.map(release, range(count)) if one is not None]
    manifest = json.loads(Path("o.csv.manifest.json").read_text(encoding="utf-8"))
    assert said == [manifest["release"]]
    assert hashlib.sha256(Path("o.csv").read_bytes()).hexdigest() == manifest["output"]["sha256"]
    beside = [f"o.csv{end}" for end in ("", ".README.txt", ".for-R", ".manifest.json")]
    assert sorted(one.name for one in Path().glob("*o.csv*")) == beside
    assert sorted(one.name for one in Path("o.csv.for-R").iterdir()) == ["estimate.R", "functions.R", "matrix.csv"]
    assert not list(Path().glob(".*"))
    # What goes with it is of this release too, and of none that lost the name or had it before.
    (stands,) = (one for one in range(count) if manifest["rows"] == 2 * (200 + one))
    release_file(f"t{stands}.csv", columns[stands], "alone/o.csv", force=True, warn=lambda _: None)
    for name in ("o.csv.README.txt", *(f"o.csv.for-R/{one}" for one in ("estimate.R", "functions.R", "matrix.csv"))):
        assert Path(name).read_bytes() == (Path("alone") / name).read_bytes()
