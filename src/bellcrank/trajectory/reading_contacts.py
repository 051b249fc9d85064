"""The points of contact that a run's file holds, checked."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank.trajectory.checked_file import CheckedFile
from bellcrank.trajectory.checked_values import check_finite, check_within
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.run_file import CONTACTS
from bellcrank.trajectory.store import POINT, points_of

_MOST_POINTS: Final = 1e9  # that touch in a frame


def read_contacts(file: CheckedFile, layout: FrameLayout, counts: Any) -> Any:
    """The points that touch, checked against how many there are in each frame."""
    if not layout.contacts:
        return None
    counts = np.asarray(counts)
    if not np.all((counts >= 0) & (counts == np.floor(counts)) & (counts < _MOST_POINTS)):
        raise file.error("'contacts/count' must be whole numbers, not negative")
    total = int(counts.sum())
    rows = file.rows(CONTACTS.path, "f", (None, POINT.itemsize // 8), total)[:total]
    check_finite(file, CONTACTS.path, rows)
    points = points_of(rows)
    check_within(file, CONTACTS.path, np.unique(points["contact"]).tolist(), 0, len(layout.contacts))
    check_within(file, CONTACTS.path, np.unique(points["shapes"]).tolist(), 0, len(layout.contact_shapes))
    return points
