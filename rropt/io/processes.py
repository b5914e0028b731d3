"""Independent pieces of work in this process, in several on this machine, or on a Dask cluster: the same results.

A piece is computed alone, in the main computation of its process, with one thread for linear algebra, so that the
results do not depend on where it runs. Processes and machines must have the same versions of all that computes; a
difference is an error, as it could change last digits.
"""

import asyncio
import logging
import os
import pickle
import platform
import queue
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cache
from importlib import metadata
from typing import Any, TypeVar

from rropt.errors import Conflict, InputError, NotInstalled, NotWritten, RroptError, WrongType, positive_integer
from rropt.io.extras import need
from rropt.io.threads import one_thread

EXTRA = "cluster"
COMPUTING = ("rropt", "numpy", "scipy", "cvxpy", "clarabel", "scs", "highspy", "python-flint", "networkx")
"""Distributions whose version may change a result."""
CONNECTING = 10.0
"""Seconds in which a scheduler must answer and have a worker."""
LOOKING = 2.0
"""Seconds without a result after which the connection to the cluster is checked."""
DESERTED = 60.0
"""Seconds after which a cluster that has lost all its workers is given up."""
AHEAD = 2
"""Pieces that are sent out for each worker that there is: one to do and one to come."""

Item = TypeVar("Item")
Result = TypeVar("Result")
_ONE_AT_A_TIME = threading.Lock()


@cache
def _environment() -> tuple[tuple[str, str], ...]:
    found = [("python", ".".join(platform.python_version_tuple()[:2]))]
    for name in COMPUTING:
        with suppress(metadata.PackageNotFoundError):
            found.append((name, metadata.version(name)))
    return tuple(found)


def environment() -> dict[str, str]:
    """The versions of all that computes, by name: the same everywhere, the same results."""
    return dict(_environment())


def other_version(one: dict[str, str], two: dict[str, str]) -> str:
    """The first difference of two environments as "name 1.0 and not 2.0" (of `one`, of `two`), or ""."""
    for name in dict.fromkeys((*one, *two)):
        if one.get(name) != two.get(name):
            return f"{name} {one.get(name, 'missing')} and not {two.get(name, 'missing')}"
    return ""


def checked_workers(workers: object, scheduler: object) -> None:
    """Raise InputError, before any work, for a number of workers or a scheduler that cannot be."""
    asked = positive_integer(workers, "workers")
    if scheduler is None:
        if asked > 1:
            need("joblib.externals.loky", EXTRA, "workers")
        return
    if not isinstance(scheduler, str) or not scheduler.strip():
        raise WrongType(f"{scheduler!r} is not an address", "scheduler", "as tcp://127.0.0.1:8786")
    if asked > 1:
        raise Conflict("workers is given together with a scheduler", "workers", "leave it out: the cluster has its own")
    need("distributed", EXTRA, "scheduler")


def spread(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int = 1, scheduler: str | None = None
) -> Generator[tuple[int, Result], None, None]:
    """(number of the item, `work(item)`) in the order in which they are done, each item once.

    `scheduler` is the address of a Dask scheduler, which must have at least one worker; `workers` is a number of
    processes on this machine. Close the iterator to stop early: processes that it started are ended. Raises InputError
    for an argument that cannot be handed over, RroptError where processes die or a cluster is lost, and what `work`
    raises.
    """
    checked_workers(workers, scheduler)
    if scheduler is not None:
        yield from _on_cluster(work, items, scheduler)
    elif workers == 1 or len(items) < 2:
        for at, item in enumerate(items):
            with one_thread():
                result = work(item)
            yield at, result
    else:
        yield from _in_processes(work, items, min(workers, len(items)))


def _alone(work: Callable[[Item], Result], item: Item, expected: dict[str, str]) -> Result:
    """The work of a worker. Dask gives a worker several threads: solvers that share a process take turns."""
    strange = other_version(environment(), expected)
    if strange:
        raise NotInstalled(f"a worker has {strange}", platform.node(), "give all machines the same packages")
    with _ONE_AT_A_TIME, one_thread():
        return work(item)


# -- processes on this machine ---------------------------------------------------------------------------


def _begin(parent: int) -> None:
    """Run in every new process: Ctrl-C is handled by the parent, and the process ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    if os.name == "posix":
        with suppress(RuntimeError):  # without threads nothing watches
            threading.Thread(target=watch, daemon=True).start()


def _in_processes(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[tuple[int, Result], None, None]:
    loky = need("joblib.externals.loky", EXTRA, "workers")
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    pool = loky.ProcessPoolExecutor(workers, initializer=_begin, initargs=(os.getpid(),), env=one)
    expected = environment()
    running: dict[Any, int] = {}
    coming = iter(enumerate(items))
    try:
        while True:
            while len(running) < AHEAD * workers and (following := next(coming, None)) is not None:
                at, item = following
                running[pool.submit(_alone, work, item, expected)] = at
            if not running:
                return
            for future in loky.wait(running, return_when="FIRST_COMPLETED").done:
                at = running.pop(future)
                yield at, _local_result(future, loky)
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _local_result(future: Any, loky: Any) -> Any:
    try:
        return future.result()
    except loky.BrokenProcessPool as error:
        if isinstance(error.__cause__, pickle.PicklingError | AttributeError | TypeError | ImportError):
            raise _not_handed_over(error.__cause__) from None
        raise RroptError("a process died", "workers", "was there too little memory? What was done is kept") from None
    except (pickle.PicklingError, ImportError) as error:
        raise _not_handed_over(error) from None


def _not_handed_over(error: BaseException) -> InputError:
    return NotWritten(
        f"it cannot be handed to another process ({type(error).__name__}: {error})",
        "workers",
        "define its functions and classes in a module, by name",
    )


# -- a Dask cluster --------------------------------------------------------------------------------------


def _on_cluster(
    work: Callable[[Item], Result], items: Sequence[Item], address: str
) -> Generator[tuple[int, Result], None, None]:
    dask = need("distributed", EXTRA, "scheduler")
    with _quiet(), closing(_Cluster(dask, address)) as cluster:
        expected = environment()
        running: dict[Any, int] = {}
        coming = iter(enumerate(items))
        try:
            while True:
                most = AHEAD * max(1, cluster.threads())
                while len(running) < most and (following := next(coming, None)) is not None:
                    at, item = following
                    running[cluster.submit(work, item, expected)] = at
                if not running:
                    return
                future = cluster.next_done()
                yield running.pop(future), cluster.result(future)
                future.release()
        finally:
            cluster.cancel(list(running))


@contextmanager
def _quiet() -> Iterator[None]:
    """Failures of the client are reported by one-line errors of this package, not by its log."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


class _Cluster:
    """The client of a scheduler at `address`; it starts nothing of its own, and leaves the cluster as it was."""

    def __init__(self, dask: Any, address: str) -> None:
        self._dask, self._address = dask, address
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            # A client that fails to connect is slow to close; so the address is tested first.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(lambda: asyncio.run(self._knock())).result()
            self._client = dask.Client(address, timeout=CONNECTING, set_as_default=False, name="rropt")
        except (OSError, ValueError, TypeError, ImportError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(f"no Dask scheduler answers ({why})", address, "start one: dask scheduler") from None
        self._seen = time.monotonic()
        try:
            self._client.wait_for_workers(1, timeout=CONNECTING)
        except TimeoutError:
            self._client.close()
            raise InputError(
                "the scheduler has no worker", address, f"start some: dask worker {address} --nthreads 1"
            ) from None

    async def _knock(self) -> None:
        keys = self._dask.Security().get_connection_args("client")
        # A server that accepts connections and does not answer would be waited for indefinitely.
        line = await asyncio.wait_for(self._dask.core.connect(self._address, timeout=CONNECTING, **keys), CONNECTING)
        line.abort()

    def threads(self) -> int:
        """The number of pieces that the cluster does at a time."""
        try:
            return sum(self._client.nthreads().values())
        except (OSError, TimeoutError):
            raise self._lost("the connection to it was lost") from None

    def submit(self, work: Any, item: Any, expected: dict[str, str]) -> Any:
        """One piece; it is done again elsewhere where its worker is lost."""
        try:
            future = self._client.submit(_alone, work, item, expected, pure=False)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise _not_handed_over(error) from None
        future.add_done_callback(self._done.put)
        return future

    def next_done(self) -> Any:
        """One that is done. Raises RroptError where the cluster is lost."""
        while True:
            try:
                return self._done.get(timeout=LOOKING)
            except queue.Empty:
                self._look()

    def _look(self) -> None:
        if self._client.status != "running":
            raise self._lost("the connection to it was lost")
        now = time.monotonic()
        if self.threads():
            self._seen = now
        elif now - self._seen > DESERTED:
            raise self._lost(f"it has had no worker for {DESERTED:g} s")

    def _lost(self, why: str) -> RroptError:
        return RroptError(why, self._address, "what was done is kept: start the cluster and run this again")

    def result(self, future: Any) -> Any:
        """The result of a piece. Raises what it raised."""
        try:
            return future.result()
        except RroptError:
            raise
        except self._dask.KilledWorker:
            raise self._lost("several workers died at one piece (too little memory?)") from None
        except CancelledError:
            raise self._lost("the connection to it was lost") from None
        except (ImportError, pickle.UnpicklingError) as error:
            raise RroptError(
                f"a worker cannot load it ({error})", self._address, "install the same packages on all machines"
            ) from None

    def cancel(self, futures: list[Any]) -> None:
        """Cancel the pieces that are still pending."""
        if futures and self._client.status == "running":
            with suppress(OSError, TimeoutError):
                self._client.cancel(futures, asynchronous=False, force=True)

    def close(self) -> None:
        """Say goodbye."""
        with suppress(OSError, TimeoutError):
            self._client.close(timeout=5)
