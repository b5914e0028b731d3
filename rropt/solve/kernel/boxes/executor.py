"""Processes that bound chunks of boxes once a search has proved to be long.

They are started as separate programs, not forked (HiGHS may have threads) and not by `multiprocessing` (which
would run the caller's main module again), talk through pipes, and end when their input does. Where one fails,
the search goes on: its chunks are bounded again here, bit for bit equal.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rropt.solve.kernel.boxes.chunks import WIDEST, Bounded, Chunk, ChunkSolver
from rropt.solve.kernel.boxes.separable import SeparableForms

START = 5.0
"""Processor seconds that chunks must have taken before processes are started for more: loading takes them two."""
WORTH = 10.0
"""Seconds that must be left for it."""
SILENT = 60.0
"""Seconds without an answer after which a process is given up: a chunk takes a tenth of a second."""
KEPT = 4
"""Problems that a process keeps in memory."""


@dataclass(eq=False)
class Task:
    """A chunk that was handed in, and its result as soon as there is one."""

    chunk: Chunk
    answer: Bounded | None = None


class ChunkQueue:
    """The queue of one problem: chunks are submitted, and their results fetched."""

    def __init__(self, box_executor: BoxExecutor, problem: SeparableForms) -> None:
        self.problem, self.waiting = problem, deque[Task]()
        self._box_executor, self._own = box_executor, ChunkSolver(problem)
        self._shared = problem.matrix.shape[1] <= WIDEST

    def submit(self, chunk: Chunk) -> Task:
        """Submit a chunk. It is bounded later; its result may never be fetched."""
        task = Task(chunk)
        self.waiting.append(task)
        if self._shared:
            self._box_executor.serve(self)
        return task

    def result(self, task: Task) -> Bounded:
        """The result of a chunk; while another process has it, this one bounds others."""
        while task.answer is None:
            if task in self.waiting:
                self.waiting.remove(task)
                self._solve(task)
            elif self.waiting:
                self._solve(self.waiting.popleft())
            else:
                self._box_executor.wait(self)
            if self._shared:
                self._box_executor.serve(self)
        return task.answer

    def _solve(self, task: Task) -> None:
        begun = time.process_time()
        task.answer = self._own.solve(task.chunk)
        self._box_executor.spent += time.process_time() - begun


class BoxExecutor:
    """At most `workers` processes, this one included, and no more than there are cores. `notes` are failures of
    processes, `helped` counts the chunks that came from others. It must be closed (or used in `with`)."""

    def __init__(self, workers: int = 1, remaining: Callable[[], float | None] = lambda: None) -> None:
        self.notes: list[str] = []
        self.spent = 0.0
        self.helped = 0
        self._others = min(workers, _cores()) - 1
        self._remaining = remaining
        self._workers: list[_Worker] = []
        self._inbox: queue.Queue[tuple[_Worker, tuple[int, Bounded] | None]] = queue.Queue()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def chunk_queue(self, problem: SeparableForms) -> ChunkQueue:
        """A place for the chunks of a problem."""
        return ChunkQueue(self, problem)

    def start(self) -> None:
        """Start the processes now. They take part as soon as they have loaded."""
        for _ in range(self._others):
            try:
                self._workers.append(_Worker(self._inbox))
            except OSError as error:
                self.notes.append(f"no process could be started beside this one ({error}): the search used one")
                break
        self._others = 0

    def serve(self, chunk_queue: ChunkQueue) -> None:
        """Give chunks to idle processes; start processes once the search is long enough."""
        if self._others and self.spent > START:
            left = self._remaining()
            if left is None or left > WORTH:
                self.start()
        if not self._workers:
            return
        while self._heard(None):
            pass
        # A process gets a second chunk in advance, but only where others remain for this process.
        for most in (1, 2):
            for worker in self._workers:
                if worker.ready and len(worker.busy) < most and len(chunk_queue.waiting) >= most:
                    worker.take(chunk_queue, chunk_queue.waiting.popleft())

    def wait(self, chunk_queue: ChunkQueue) -> None:
        """Wait for an answer; processes that have been silent for too long are given up."""
        oldest = min((worker.since for worker in self._workers if worker.busy), default=time.monotonic())
        if not self._heard(max(oldest + SILENT - time.monotonic(), 0.0)):
            for worker in [one for one in self._workers if one.busy and time.monotonic() - one.since >= SILENT]:
                self._lose(worker, f"gave no answer for {SILENT:g} s")

    def _heard(self, seconds: float | None) -> bool:
        """Take one message, waiting for at most so long; whether there was one."""
        try:
            worker, message = self._inbox.get(block=seconds is not None, timeout=seconds)
        except queue.Empty:
            return False
        if worker not in self._workers:
            return True
        if message is None:
            self._lose(worker, "ended early")
        elif message[0] < 0:
            worker.ready = True
        else:
            task = worker.busy.pop(message[0])[1]
            worker.since = time.monotonic()
            task.answer = message[1]
            self.helped += 1
        return True

    def _lose(self, worker: _Worker, why: str) -> None:
        """Continue without a process: its chunks are submitted again."""
        self._workers.remove(worker)
        for chunk_queue, task in reversed(worker.busy.values()):
            chunk_queue.waiting.appendleft(task)
        worker.close()
        self.notes.append(f"a process beside this one {why}: the search went on without it")

    def close(self) -> None:
        """End the processes."""
        self._others = 0
        while self._workers:
            self._workers.pop().close()


@dataclass(eq=False)
class _Worker:
    """One process, with a thread that writes to it and one that reads from it: its failures do not stop
    this process."""

    inbox: queue.Queue[tuple[_Worker, tuple[int, Bounded] | None]]
    ready: bool = False
    since: float = 0.0
    busy: dict[int, tuple[ChunkQueue, Task]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # The new process gets this one's import path, and one thread.
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
        single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths, **single},
            start_new_session=True,
        )
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._number, self._known = 0, deque[ChunkQueue](maxlen=KEPT)
        for work in (self._write, self._read):
            threading.Thread(target=work, daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    def take(self, chunk_queue: ChunkQueue, task: Task) -> None:
        """Send a chunk, and the problem where it was not sent yet."""
        if not self.busy:
            self.since = time.monotonic()
        new = chunk_queue not in self._known
        if new:
            self._known.append(chunk_queue)
        self.busy[self._number] = chunk_queue, task
        message = self._number, id(chunk_queue), chunk_queue.problem if new else None, task.chunk
        self._outbox.put(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
        self._number += 1

    def _write(self) -> None:
        stream = self._process.stdin
        assert stream is not None
        # Where it has ended, the reader reports it.
        with suppress(OSError, ValueError):
            while (message := self._outbox.get()) is not None:
                stream.write(message)
                stream.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with suppress(OSError, ValueError, EOFError, pickle.UnpicklingError):
            while True:
                self.inbox.put((self, pickle.load(stream)))
        self.inbox.put((self, None))

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._outbox.put(None)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            # The pipe to an ended process cannot be flushed.
            with suppress(OSError):
                stream.close()


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def main() -> None:
    """The main loop of a process: bound chunks until its input ends. Ctrl-C is ignored here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Printed text must not mix with the answers.
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    problems: dict[int, ChunkSolver] = {}
    pickle.dump((-1, None), back)
    back.flush()
    while True:
        try:
            number, key, problem, chunk = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if problem is not None:
            problems.pop(key, None)
            problems[key] = ChunkSolver(problem)
            while len(problems) > KEPT:
                del problems[next(iter(problems))]
        pickle.dump((number, problems[key].solve(chunk)), back, pickle.HIGHEST_PROTOCOL)
        back.flush()
