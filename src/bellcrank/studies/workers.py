"""Workers that compute the points of a study: this process, loky processes, a Dask cluster, any executor.

Points are sent in chunks that take about a second. If a worker dies, its chunks are computed again. Points
that were lost twice wait until all others are done and are then computed one at a time: so the point that
kills its worker is found, and it alone fails.
"""

from __future__ import annotations

import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check
from bellcrank.studies.experiment import Experiment, Outcome

Point: TypeAlias = tuple[int, Mapping[str, float]]
Result: TypeAlias = tuple[int, Outcome]
Chunk: TypeAlias = list[Point]

_CHUNK_SECONDS: Final = 1.0
_CHUNK_MOST: Final = 1000
_AHEAD: Final = 2  # chunks that each worker has waiting or in work
_TOGETHER: Final = 2  # deaths of workers that a point survives among others, until it goes alone
_ALONE: Final = 2  # deaths of workers that had a point alone, which are its failure


class Workers(Protocol):
    """Computes points, in any order."""

    def outcomes(self, experiment: Experiment, points: Sequence[Point]) -> Iterator[list[Result]]:
        """Outcomes with the indices of their points, some at a time, as they come."""

    def close(self) -> None:
        """Release what was opened."""


class Here:
    """This process."""

    def outcomes(self, experiment: Experiment, points: Sequence[Point]) -> Iterator[list[Result]]:
        """One at a time."""
        for number, values in points:
            yield [(number, experiment.at(number, values))]

    def close(self) -> None:
        """Nothing was opened."""


class Pool:
    """Workers behind an executor.

    executor: returns the executor, a new one if the last one broke and can be replaced. count: of workers.
    close: releases what was opened.
    """

    def __init__(
        self, executor: Callable[[], Executor], count: int, close: Callable[[], None] = lambda: None
    ) -> None:
        self._executor = executor
        self.close = close
        self._count = max(1, count)
        self._seconds = 0.0  # of computing, and the points that took it
        self._points = 0

    def outcomes(self, experiment: Experiment, points: Sequence[Point]) -> Iterator[list[Result]]:
        """Outcomes in chunks, in order of completion."""
        payload = _packed(experiment)
        waiting, suspects = deque(points), deque[Point]()
        deaths: Counter[int] = Counter()
        running: dict[Future[list[Result]], Chunk] = {}
        try:
            while waiting or running or suspects:
                while waiting and len(running) < _AHEAD * self._count:
                    chunk = self._next(waiting)
                    running[self._started(payload, chunk)] = chunk
                alone = not running
                if alone:
                    chunk = [suspects.popleft()]
                    running[self._started(payload, chunk)] = chunk
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    chunk = running.pop(future)
                    found = _result(future)
                    if found is None:
                        found = _lost(experiment, chunk, alone, deaths, waiting, suspects)
                    else:
                        self._seconds += sum(outcome.seconds for _, outcome in found)
                        self._points += len(found)
                    yield found
        finally:
            for future in running:
                future.cancel()

    def _next(self, waiting: deque[Point]) -> Chunk:
        """The points of the next chunk: about one second's work, and fewer towards the end."""
        size = int(_CHUNK_SECONDS * self._points / max(self._seconds, 1e-9)) if self._points else 1
        size = min(size, _CHUNK_MOST, -(-len(waiting) // (_AHEAD * self._count)))
        return [waiting.popleft() for _ in range(max(1, size))]

    def _started(self, payload: bytes, chunk: Chunk) -> Future[list[Result]]:
        executor = self._executor()
        try:
            return executor.submit(computed, payload, chunk)
        except BrokenExecutor as error:
            rule = f"a worker died, and this {type(executor).__name__} takes no more work"
            advice = "what is computed is in the file of path=: go on from there with another executor"
            raise MechanismError(Fault("executor", rule, None, advice)) from error


def _result(future: Future[list[Result]]) -> list[Result] | None:
    """The result of a chunk; None if it was lost with its worker."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except Exception as error:
        if type(error).__name__ == "KilledWorker":  # of Dask, when several workers died with it
            return None
        raise


def _lost(
    experiment: Experiment,
    chunk: Chunk,
    alone: bool,
    deaths: Counter[int],
    waiting: deque[Point],
    suspects: deque[Point],
) -> list[Result]:
    """Queue the points of a lost chunk again; return failures of those that killed their worker."""
    failed: list[Result] = []
    for point in chunk:
        number = point[0]
        deaths[number] = deaths[number] + 1 if alone else min(deaths[number] + 1, _TOGETHER)
        if deaths[number] < _TOGETHER:
            waiting.append(point)
        elif deaths[number] < _TOGETHER + _ALONE:
            suspects.append(point)
        else:
            reason = f"its process died {_ALONE} times with nothing else in work: killed, or out of memory"
            failed.append((number, Outcome(np.full(experiment.width, np.nan), reason, 0.0)))
    return failed


def workers_of(executor: Any, processes: int | None) -> Workers:
    """The workers of an executor: a Dask client, its scheduler's address, or one of `concurrent.futures`.

    Without one, those of this machine: loky processes, by default one per core; with 1, this process.
    Raises MechanismError for anything else, Unsupported if a library is missing.
    """
    with Check("study") as check:
        if processes is not None:
            processes = check.integer("processes", processes, 1)
            if executor is not None:
                check.fault(
                    "the executor determines how many processes there are", processes, "leave out one"
                )
    if executor is None:
        return Here() if processes == 1 else _of_loky(processes)
    if isinstance(executor, str):
        client = needed("distributed", "a Dask cluster", "cluster").Client(executor)
        return _of_client(client, client.close)
    if hasattr(executor, "get_executor") and hasattr(executor, "nthreads"):
        return _of_client(executor)
    if isinstance(executor, Executor) or hasattr(executor, "submit"):
        return Pool(lambda: executor, getattr(executor, "_max_workers", 0) or _cores())
    rule = "it must be a Dask client, the address of a scheduler, or an executor of concurrent.futures"
    raise MechanismError(Fault("executor", rule, executor, "leave it out to use the cores of this machine"))


def _of_client(client: Any, close: Callable[[], None] = lambda: None) -> Workers:
    served = client.get_executor(pure=False)
    return Pool(lambda: served, sum(client.nthreads().values()), close)


def _of_loky(processes: int | None) -> Workers:
    loky = needed("loky", "a study over several processes")
    count = processes or _cores()
    if count == 1:
        return Here()
    return Pool(lambda: loky.get_reusable_executor(max_workers=count), count)  # another one where it broke


def _cores() -> int:
    return int(needed("loky", "a study over several processes").cpu_count())


def _packed(experiment: Experiment) -> bytes:
    """The experiment, serialised for other processes, including functions defined in a notebook."""
    packer = needed("cloudpickle", "a study over several processes")
    try:
        packed: bytes = packer.dumps(experiment)
    except Exception as error:
        rule = f"it cannot be sent to other processes: {type(error).__name__}: {error}"
        raise MechanismError(
            Fault("study", rule, None, "use processes=1, or leave out what cannot be pickled")
        ) from error
    return packed


def computed(payload: bytes, points: Chunk) -> list[Result]:
    """Outcomes of points, in a worker."""
    experiment = _unpacked(payload)
    return [(number, experiment.at(number, values)) for number, values in points]


@lru_cache(maxsize=4)
def _unpacked(payload: bytes) -> Experiment:
    experiment: Experiment = pickle.loads(payload)
    return experiment
