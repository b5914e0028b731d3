"""One task in a process of its own, which is killed where it does not come back."""

import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from typing import IO

from rropt.errors import NotWritten
from rropt.studies.measured import READY, Measured, Task

LOADING = 120.0
"""Seconds in which a process must have loaded its libraries."""
PATIENCE = 10.0
"""Seconds beyond one and a half time limits after which a process is killed: proofs take their time too."""


def apart(task: Task) -> Measured:
    """The result of a task. Raises InputError where it cannot be handed to another process."""
    try:
        payload = pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotWritten(
            f"it cannot be sent to another process ({error})",
            "compare",
            "define its functions and classes in a module, by name",
        ) from None
    # The new process gets this one's import path, for the user's own objectives and methods too.
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    process = subprocess.Popen(
        [sys.executable, "-c", "from rropt.studies.measured import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    captured: list[bytes] = []
    # Read beside, so that a solver that prints much is not stopped by a full pipe.
    listener = threading.Thread(
        target=lambda stream: captured.append(stream.read()), args=(process.stderr,), daemon=True
    )
    listener.start()
    try:
        late, answer = _conversation(process, payload, process.stdin, process.stdout, task.time_limit)
    finally:
        process.kill()
        process.wait()
        listener.join(1.0)
        for stream in (process.stdin, process.stdout, process.stderr):
            # The pipe to an ended process cannot be flushed.
            with suppress(OSError):
                stream.close()
    name, solver = task.method if isinstance(task.method, str) else task.method.name, task.solver
    if late:
        return Measured(name, solver, "killed", note=late)
    try:
        found = pickle.loads(answer)
    except (EOFError, pickle.UnpicklingError):
        last = b"".join(captured).decode("utf-8", "replace").strip().splitlines()[-1:]
        return Measured(name, solver, "failed", note=f"its process died: {''.join(last) or process.returncode}")
    assert isinstance(found, Measured)
    return found if found.solver is not None else replace(found, solver=solver)


def _conversation(
    process: subprocess.Popen[bytes], payload: bytes, to: IO[bytes], back: IO[bytes], limit: float
) -> tuple[str, bytes]:
    """(why it was killed, or ""; what it answered)."""
    late: list[str] = []

    def kill(why: str) -> None:
        late.append(why)
        process.kill()

    loading = threading.Timer(LOADING, kill, [f"its libraries were not loaded after {LOADING:g} s"])
    loading.start()
    try:
        to.write(payload)
        to.close()
        first = back.readline()
    except BrokenPipeError:
        first = b""
    finally:
        loading.cancel()
    if first != READY:
        return "".join(late), b""
    most = 1.5 * limit + PATIENCE
    solving = threading.Timer(most, kill, [f"not back after {most:g} s, at a time limit of {limit:g} s"])
    solving.start()
    try:
        answer = back.read()
    finally:
        solving.cancel()
    # One that was back just in time has answered.
    return ("", answer) if answer else ("".join(late), b"")
