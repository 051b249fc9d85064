"""Storage of grid heights: rows of numbers if there are few, a packed text if there are many.

The text is "rows x columns: ..." with the bytes of the numbers (float64, little endian), all first bytes
first, deflated and in base64. So files stay short, and descriptions compare and hash like others.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from functools import lru_cache
from typing import Any, Final

import numpy as np

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import as_tuple
from bellcrank.mechanism.plain import extents
from bellcrank.mechanism.ranges import range_of

MOST: Final = 4_000_000
"""Samples that a terrain may have."""
_FEW: Final = 256  # samples that files show as numbers
_HEAD: Final = re.compile(r"(\d{1,7}) x (\d{1,7}): ")


class _Unreadable(ValueError):
    """A text that holds no heights."""


def checked_heights(check: Check, name: str, value: Any) -> Any:
    """The stored form of heights (rows, columns); their faults are noted."""
    stand_in = ((0.0, 0.0), (0.0, 0.0))
    if isinstance(value, str):
        try:
            rows = unpacked(value)
        except _Unreadable as error:
            shown = value if len(value) < 60 else f"{value[:60]}..."
            check.fault(f"{name} must be numbers, or a packed text: {error}", shown, "save the file anew")
            return stand_in
    else:
        shape = extents(value)
        if len(shape) == 2 and not _counts(check, name, *shape):
            return stand_in
        if len(shape) == 2 and _holes(check, name, np.asarray(value)):
            return stand_in
        noted = len(check.faults)
        rows = check.array(name, value, (None, None), "m")
        if len(check.faults) > noted:
            return stand_in
    if not _counts(check, name, *rows.shape):
        return stand_in
    if _holes(check, name, rows):
        return stand_in
    if np.max(np.abs(rows)) > range_of("m").most:
        check.fault(f"{name} must lie within {range_of('m').most:g} m", float(np.max(np.abs(rows))))
        return stand_in
    return as_tuple(rows) if rows.size <= _FEW else packed(rows)


def _counts(check: Check, name: str, rows: int, columns: int) -> bool:
    if rows < 2 or columns < 2:
        check.fault(f"{name} must have at least 2 rows and 2 columns", (rows, columns))
    elif rows * columns > MOST:
        rule = f"{name} must have at most {MOST} samples"
        check.fault(rule, f"{rows} x {columns}", "take a larger spacing, or several terrains")
    else:
        return True
    return False


def _holes(check: Check, name: str, rows: np.ndarray) -> bool:
    """Whether heights are missing, which is noted with the place of the first one."""
    if rows.dtype.kind != "f" or np.all(np.isfinite(rows)):
        return False
    missing = np.argwhere(~np.isfinite(rows))
    j, i = missing[0].tolist()
    count = f"{len(missing)} heights, the first" if len(missing) > 1 else "the height"
    check.fault(f"{name} must be finite", float(rows[j, i]), f"{count} in row {j}, column {i}, from 0 on")
    return True


def packed(rows: np.ndarray) -> str:
    """Heights (rows, columns) as a text."""
    size = np.ascontiguousarray(rows, dtype="<f8")
    planes = np.ascontiguousarray(size.view(np.uint8).reshape(-1, 8).T)  # alike bytes together
    text = base64.b64encode(zlib.compress(planes.tobytes(), 9)).decode()
    return f"{rows.shape[0]} x {rows.shape[1]}: {text}"


@lru_cache(maxsize=8)
def unpacked(text: str) -> np.ndarray:
    """Heights (rows, columns) from a text, not to be written to. Raises ValueError for any other text."""
    head = _HEAD.match(text)
    if head is None:
        raise _Unreadable('it must start as "rows x columns: "')
    shape = int(head[1]), int(head[2])
    size = 8 * shape[0] * shape[1]
    if size > 8 * MOST:
        raise _Unreadable(f"there must be at most {MOST} samples")
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text[head.end() :], validate=True), size + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise _Unreadable("it is damaged") from error
    if len(data) != size or not unpacker.eof:
        raise _Unreadable(f"it does not hold {shape[0]} x {shape[1]} numbers")
    planes = np.frombuffer(data, dtype=np.uint8).reshape(8, -1)
    rows = np.ascontiguousarray(planes.T).view("<f8").reshape(shape).astype(float)
    rows.flags.writeable = False
    return rows
