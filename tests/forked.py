"""Python in forked processes that have loaded the libraries: a start takes milliseconds, where an interpreter takes a
second to load them.

For tests that need a process which may die, be killed, or have a terminal and signals of its own. Run as a script this
file is the server that forks: it reads requests from the socket whose descriptor is its argument.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

COMMAND = "import sys\nfrom rropt.__main__ import main\nsys.exit(main())"
"""The command line of rropt."""
LOADED = ("highspy", "rich.progress", "rropt.cli.main", "rropt.problem.solution", "rropt.solve.engine.lp")
"""What every process has; nothing of it reads the environment where it is imported."""


class Forked:
    """A process: `pid`, and `wait` for its status, which is -n after signal n."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self.pid = int(self._line())

    def _line(self) -> str:
        read = b""
        while not read.endswith(b"\n"):
            more = self._told.recv(1)
            assert more, "the server of forks ended"
            read += more
        return read.decode()

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, timeout: float = 60) -> int:
        """The status. What is not back in time is killed, and TimeoutError raised."""
        self._told.settimeout(timeout)
        try:
            return os.waitstatus_to_exitcode(int(self._line()))
        except TimeoutError:
            os.kill(self.pid, signal.SIGKILL)
            raise
        finally:
            self._told.close()


@cache
def _server() -> socket.socket:
    """The socket of this process's server, which ends with it."""
    near, far = socket.socketpair()
    command = [sys.executable, __file__, str(far.fileno())]
    process = subprocess.Popen(command, pass_fds=[far.fileno()], stdin=subprocess.DEVNULL, cwd=Path(__file__).parent)
    far.close()

    def end() -> None:
        near.close()
        process.wait()

    atexit.register(end)
    return near


def start(
    code: str, arguments: Sequence[str], streams: tuple[int, int, int], env: Mapping[str, str] | None = None
) -> Forked:
    """Run Python code with arguments, in the present folder and with the present import path. `streams` are the
    descriptors of its input, output and errors."""
    near, far = socket.socketpair()
    request = {"code": code, "arguments": ["rropt", *arguments], "folder": os.getcwd(), "path": sys.path}
    data = json.dumps(request | {"env": dict(os.environ if env is None else env)}).encode()
    # The descriptors go with the first bytes: the length.
    socket.send_fds(_server(), [len(data).to_bytes(8, "big")], [*streams, far.fileno()])
    _server().sendall(data)
    far.close()
    return Forked(near)


def run(code: str, *arguments: object, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Run Python code with both streams in pipes, and without input."""
    given = [str(one) for one in arguments]
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    process = start(code, given, (nothing, out_end, err_end))
    for end in (nothing, out_end, err_end):
        os.close(end)
    texts: dict[int, str] = {}

    def read(end: int) -> None:
        with open(end, encoding="utf-8") as stream:
            texts[end] = stream.read()

    readers = [threading.Thread(target=read, args=(end,)) for end in (out, err)]
    for reader in readers:
        reader.start()
    status = process.wait(timeout)
    for reader in readers:
        reader.join()
    return subprocess.CompletedProcess(given, status, texts[out], texts[err])


# -- the server ------------------------------------------------------------------------------------------------


def _work(request: dict, streams: Sequence[int]) -> NoReturn:
    """What the forked process does: run the code and end as an interpreter ends."""
    for number, end in enumerate(streams):
        os.dup2(end, number)
    os.closerange(3, 256)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.argv, sys.path[:] = request["arguments"], request["path"]
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0)), encoding="utf-8")
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(number, "w")),
            encoding="utf-8",
            errors=errors,
            line_buffering=number == 2 or os.isatty(number),
        )
        for number, errors in ((1, "strict"), (2, "backslashreplace"))
    )
    status = 0
    try:
        exec(compile(request["code"], "<forked>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        status = int(end.code or 0) if not isinstance(end.code, str) else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _watch(request: dict, streams: Sequence[int], told: int) -> NoReturn:
    """Fork the process, tell its number, and its status when it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        _work(request, streams)
    for end in streams:
        os.close(end)
    os.write(told, f"{pid}\n".encode())
    os.write(told, f"{os.waitpid(pid, 0)[1]}\n".encode())
    os._exit(0)


def _serve(requests: socket.socket) -> None:
    for name in LOADED:
        import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing is waited for
    while True:
        size, ends, _, _ = socket.recv_fds(requests, 8, 4)
        if not size:
            return
        data = b""
        while len(data) < int.from_bytes(size, "big"):
            data += requests.recv(int.from_bytes(size, "big") - len(data))
        if os.fork() == 0:
            requests.close()
            _watch(json.loads(data), ends[:3], ends[3])
        for end in ends:
            os.close(end)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
