"""Processes that bound chunks of boxes once a search has proved to be long.

They are started as separate programs, not forked (HiGHS may have threads) and not by `multiprocessing` (which
would run the caller's main module again), talk through pipes, and end when their input does. Where one fails,
the search goes on: its chunk is bounded again here, bit for bit equal. The bound of a box by `pool.py` depends in its
last bit on the boxes in the pool at the same time; chunks that are never mixed therefore give the same search, bit for
bit, independently of the processes and of their order.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np

from rropt.io.streams import take_stdout
from rropt.program.cones import FloatArray
from rropt.solve.engine.boxes.pool import BoxPool
from rropt.solve.engine.boxes.tree import Box, SeparableForms

WIDEST = 128
"""Variables up to which a chunk may be bounded by another process: beyond, linear algebra may use threads as well."""
START = 5.0
"""Processor seconds that chunks must have taken before processes are started for more: loading takes them two."""
WORTH = 10.0
"""Seconds that must be left where processes are started."""
SILENT = 60.0
"""Seconds without an answer after which a process is given up: a chunk takes a tenth of a second."""
KEPT = 4
"""Problems that a process keeps in memory."""

Found = tuple[float, FloatArray, FloatArray | None, FloatArray | None]
"""The bound of a box, its multipliers, a point and the errors of the chords there; None where there is none."""


def solve_chunk(pool: BoxPool, boxes: Sequence[Box], enough: float) -> list[Found]:
    """Bounds of some boxes by a pool that has no others: bit for bit equal in every process of one machine."""
    pool.screen(boxes, enough)
    while pool.boxes:
        pool.advance(enough)
    return [(box.bound, box.dual, box.point, box.error) for box in boxes]


@dataclass(eq=False)
class Task:
    """A chunk that was submitted to a queue, the required bound of its boxes, and the results as soon as there are."""

    queue: ChunkQueue
    boxes: list[Box]
    enough: float
    answer: list[Found] | None = None


class ChunkQueue:
    """The queue of one problem: chunks are submitted, and their results fetched."""

    def __init__(self, box_executor: BoxExecutor, problem: SeparableForms) -> None:
        self.problem, self.waiting = problem, deque[Task]()
        self._box_executor, self._pool = box_executor, BoxPool(problem)
        self._shared = problem.matrix.shape[1] <= WIDEST

    def submit(self, boxes: Sequence[Box], enough: float) -> Task:
        """Submit a chunk. It is bounded later; its result may never be fetched."""
        task = Task(self, [Box(box.lower, box.upper, box.dual, np.zeros(0)) for box in boxes], enough)
        self.waiting.append(task)
        if self._shared:
            self._box_executor.serve(self)
        return task

    def result(self, task: Task) -> list[Found]:
        """The results of a chunk; while another process has it, this one bounds others."""
        while task.answer is None:
            if (own := self._box_executor.taken(self, task)) is not None:
                begun = time.process_time()
                own.answer = solve_chunk(self._pool, own.boxes, own.enough)
                self._box_executor.spent += time.process_time() - begun
            else:
                self._box_executor.wait(task)
            if self._shared:
                self._box_executor.serve(self)
        return task.answer


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
        # Of what threads share: who waits for a chunk or an answer is woken by it.
        self._changed = threading.Condition()
        self._served: ChunkQueue | None = None
        self._closed = False

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
                self._workers.append(_Worker(self))
            except OSError as error:
                self.notes.append(f"no worker process could be started ({error}): the search used one process")
                break
        self._others = 0

    def serve(self, chunk_queue: ChunkQueue) -> None:
        """Let processes take chunks of a queue; start them once the search is long enough."""
        if self._others and self.spent > START:
            left = self._remaining()
            if left is None or left > WORTH:
                self.start()
        with self._changed:
            self._served = chunk_queue
            self._hand_out()

    def _hand_out(self) -> None:
        """Give chunks to idle processes."""
        for worker in self._workers:
            if worker.ready and worker.task is None and self._served is not None and self._served.waiting:
                worker.task, worker.since = self._served.waiting.popleft(), time.monotonic()
        self._changed.notify_all()

    def taken(self, chunk_queue: ChunkQueue, task: Task) -> Task | None:
        """A chunk of a queue to be bounded here: the requested one before others, None where none waits."""
        with self._changed:
            waiting = chunk_queue.waiting
            own = task if task in waiting else next(iter(waiting), None)
            if own is not None:
                waiting.remove(own)
        return own

    def handed(self, worker: _Worker) -> Task | None:
        """The next chunk of a process, as soon as there is one; None where there will be none."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or worker.task is not None)
            return None if self._closed else worker.task

    def answered(self, worker: _Worker, answer: list[Found]) -> None:
        """Note the results of a process."""
        with self._changed:
            assert worker.task is not None
            worker.task.answer, worker.task = answer, None
            self.helped += 1
            self._hand_out()

    def wait(self, task: Task) -> None:
        """Wait until a chunk has its results, or is submitted again; processes that have been silent for too long are
        given up."""
        with self._changed:
            busy = [worker for worker in self._workers if worker.task is not None]
            oldest = min((worker.since for worker in busy), default=time.monotonic())
            left = max(oldest + SILENT - time.monotonic(), 0.0)
            if self._changed.wait_for(lambda: task.answer is not None or task.queue.waiting, left):
                return
            for worker in [one for one in busy if one.task is not None and time.monotonic() - one.since >= SILENT]:
                worker.why = f"gave no answer for {SILENT:g} s"
                worker.process.kill()

    def lose(self, worker: _Worker) -> None:
        """Continue without a process: its chunk is submitted again."""
        with self._changed:
            if worker.task is not None:
                worker.task.queue.waiting.appendleft(worker.task)
            worker.task = None
            if not self._closed:
                self._workers.remove(worker)
                self.notes.append(f"a worker process {worker.why}: the search went on without it")
            self._changed.notify_all()

    def close(self) -> None:
        """End the processes."""
        with self._changed:
            self._others, self._closed = 0, True
            self._changed.notify_all()
        while self._workers:
            worker = self._workers.pop()
            worker.process.kill()
            worker.thread.join()


class _Worker:
    """One process and the thread that talks to it, its `task` `since` when, and `why` it ended by itself."""

    def __init__(self, box_executor: BoxExecutor) -> None:
        # The new process gets this one's import path, and one thread.
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
        single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths, **single},
            start_new_session=True,
        )
        self.ready, self.since, self.why = False, 0.0, "ended early"
        self.task: Task | None = None
        self._box_executor = box_executor
        self.thread = threading.Thread(target=self._run, daemon=True)
        try:
            self.thread.start()
        except RuntimeError as error:  # a system without threads
            self.process.kill()
            self.process.communicate()
            raise OSError(str(error)) from None

    def _run(self) -> None:
        into, back, known = self.process.stdin, self.process.stdout, deque[ChunkQueue](maxlen=KEPT)
        assert into is not None and back is not None
        with suppress(OSError, ValueError, EOFError, pickle.UnpicklingError):
            self.ready = pickle.load(back)
            while (task := self._box_executor.handed(self)) is not None:
                new = task.queue not in known
                if new:
                    known.append(task.queue)
                problem = task.queue.problem if new else None
                into.write(pickle.dumps((id(task.queue), problem, task.boxes, task.enough), pickle.HIGHEST_PROTOCOL))
                into.flush()
                self._box_executor.answered(self, pickle.load(back))
        self.process.kill()
        self.process.wait()
        for stream in (into, back):
            # The pipe to an ended process cannot be flushed.
            with suppress(OSError):
                stream.close()
        self._box_executor.lose(self)


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def main() -> None:
    """The main loop of a process: bound chunks until its input ends. Ctrl-C is ignored here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Printed text must not mix with the answers.
    back = os.fdopen(take_stdout(), "wb")
    pools: dict[int, BoxPool] = {}
    pickle.dump(True, back)
    back.flush()
    while True:
        try:
            key, problem, boxes, enough = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if problem is not None:
            pools.pop(key, None)
            pools[key] = BoxPool(problem)
            while len(pools) > KEPT:
                del pools[next(iter(pools))]
        pickle.dump(solve_chunk(pools[key], boxes, enough), back, pickle.HIGHEST_PROTOCOL)
        back.flush()
