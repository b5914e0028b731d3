"""Runs the command line in forked children that die, or that find the disk full; see test_release_crash.py.

Run as a script it reads cases, a JSON list a line, and answers each line with the list of their results. A case names
a `folder` and the `arguments` of the command, and one of: `limit` (bytes that no file may pass), `die` (the step at
which the child kills itself), `kill` (seconds after which it gets `signal`, SIGKILL by default), or nothing. With a
accountant `after`, the seconds begin when a line is added to it, and the signal goes to the process `victim`, or to the
child and all processes that it started. A result has `status` (of the command, or the signal as a negative number),
`out`, `err`, `seconds`; it is given when none of these processes is left.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from accountants import length

from rropt import __main__ as cli
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.release import ProtectedColumn, accountant, release_table, run
from rropt.release.storage import chain


def die(*_: Any, **__: Any) -> None:
    """The end of this process, with no chance to clean up."""
    os.kill(os.getpid(), signal.SIGKILL)


def after(work: Callable[..., Any], times: int = 1) -> Callable[..., Any]:
    """`work`, and then the end, when it is called the given number of times."""
    calls = 0

    def wrapped(*arguments: Any, **keys: Any) -> Any:
        nonlocal calls
        result = work(*arguments, **keys)
        calls += 1
        if calls == times:
            die()
        return result

    return wrapped


def arm(step: str) -> None:
    """Let this process die at a step of a release."""

    traps: dict[str, Callable[[], None]] = {
        "half a line": lambda: setattr(chain.Chain, "append", after(chain.Chain.append)),
        "begun": lambda: setattr(run.PrivateStream, "__init__", die),
        "opened": lambda: setattr(run.PrivateStream, "__init__", after(run.PrivateStream.__init__)),
        "drawing": lambda: setattr(run.Protector, "draw", after(run.Protector.draw)),
        "streamed": lambda: setattr(run.FileRelease, "_stream", after(run.FileRelease._stream)),
        "manifest": lambda: setattr(run, "sync_folder", after(run.sync_folder)),
        "named": lambda: setattr(run, "sync_folder", after(run.sync_folder, 2)),
        "finished": lambda: setattr(accountant.PrivacyAccountant, "finish", after(accountant.PrivacyAccountant.finish)),
    }
    traps[step]()


def child(case: dict[str, Any], out: int, err: int) -> int:
    """What the forked process does. Only the command itself meets Ctrl-C."""
    sys.stdout, sys.stderr = (os.fdopen(end, "w", encoding="utf-8") for end in (out, err))
    os.chdir(case["folder"])
    if "after" in case:
        os.setsid()
    if "limit" in case:
        resource.setrlimit(resource.RLIMIT_FSIZE, (case["limit"], case["limit"]))
    if "die" in case:
        arm(case["die"])
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        status = cli.main(case["arguments"])
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    except KeyboardInterrupt:  # in the line before or after the command
        status = 130
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def wait_for_a_line(process: int, accountant: str, before: int) -> None:
    """Return when the accountant is longer than it was, or when the child has ended; it is still to be waited for."""
    while not os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) and length(accountant) == before:
        time.sleep(0.02)


def send(process: int, case: dict[str, Any]) -> None:
    """Send the signal of a case."""
    by = os.kill if "victim" in case or "after" not in case else os.killpg
    with contextlib.suppress(ProcessLookupError):
        by(case.get("victim", process), case.get("signal", signal.SIGKILL))


def perform(case: dict[str, Any]) -> dict[str, Any]:
    """Fork, wait or kill, and tell."""
    # Pipes, because no limit on the size of files holds for them; what is said has room in them.
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    before = length(case["after"]) if "after" in case else 0
    begun = time.monotonic()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    process = os.fork()
    if process == 0:
        status = 99
        try:
            status = child(case, out_end, err_end)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.close(out_end)
    os.close(err_end)
    if "after" in case:
        wait_for_a_line(process, case["after"], before)
    if "kill" in case:
        time.sleep(case["kill"])
        send(process, case)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    seconds = time.monotonic() - begun
    texts = []
    for end in (out, err):
        with open(end, encoding="utf-8") as stream:
            texts.append(stream.read())
    return {"status": status, "out": texts[0], "err": texts[1], "seconds": seconds}


def warm_up() -> None:
    """Load everything that a release needs, so that the children do not; and do not wait for the disk, which outlives
    a process that dies."""
    os.fsync = lambda handle: None
    # Python 3.11 takes a module whose code was cut short by a limit on the size of files for a complete one, for ever.
    sys.dont_write_bytecode = True
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        cli.main(["apply", "none", "none.csv", "--column", "x"])
        release_table(pa.table({"x": ["a"]}), ProtectedColumn("x", RandomizedResponse(["a", "b"], epsilon=1)))


if __name__ == "__main__":
    warm_up()
    for line in sys.stdin:
        print(json.dumps([perform(case) for case in json.loads(line)]), flush=True)
