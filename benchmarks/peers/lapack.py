"""LAPACK on one thread, in a process of its own: numpy's threads can be held to one only before it is loaded.

Reads a matrix and a right-hand side (npz) from standard input; prints microseconds per solution, a sample
a line.
"""

from __future__ import annotations

import io
import os
import sys
from time import process_time

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402  (after the threads)


def main(repeats: int, least: float) -> None:
    """Print the given number of samples, each of at least the given number of seconds."""
    given = np.load(io.BytesIO(sys.stdin.buffer.read()))
    matrix, right = given["matrix"], given["right"]

    def seconds(count: int) -> float:
        begun = process_time()
        for _ in range(count):
            np.linalg.solve(matrix, right)
        return process_time() - begun

    seconds(3)
    count = max(1, round(least / max(seconds(1), 1e-6)))
    for _ in range(repeats):
        print(1e6 * seconds(count) / count)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
