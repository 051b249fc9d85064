"""The layout of frames against the core's own count of what it writes."""

import numpy as np
import pytest

from bellcrank.trajectory.layout import CoordinateColumn, FrameLayout, MultiplierColumn


def layout(accelerations: bool) -> FrameLayout:
    columns = (
        CoordinateColumn("a", "x", "m"),
        CoordinateColumn("b", "x", "m"),
        CoordinateColumn("b", "y", "m"),
    )
    efforts = (MultiplierColumn("drive", "drive", "N"),)
    return FrameLayout("m", ("one", "two", "three"), columns, efforts, ("a", "c"), accelerations)


@pytest.mark.parametrize("accelerations", [False, True])
def test_width_counts_what_the_core_observes(accelerations):
    """observation_size of the core: 13 per body, 2 per coordinate, 2 per row, 8 per reaction, 4, 6 per body.

    Accelerations of the coordinates, 3 here, are added to it.
    """
    assert layout(accelerations).width == 13 * 3 + 2 * 3 + 2 * 1 + 8 * 2 + 4 + (
        18 + 3 if accelerations else 0
    )


def test_sections_follow_each_other_without_gaps():
    columns = list(layout(True).columns.values())
    assert columns[0] == slice(0, 1)
    assert [c.stop for c in columns[:-1]] == [c.start for c in columns[1:]]
    assert columns[-1].stop == 1 + layout(True).width


def test_sections_hold_their_columns():
    plain = layout(False)
    row = np.arange(1 + plain.width)
    assert row[plain.columns["velocity"]].tolist() == list(range(1 + 21, 1 + 30))
    assert row[plain.columns["kinetic"]].tolist() == [plain.width - 3]
    assert "acceleration" not in plain.columns


def test_places_by_name():
    plain = layout(False)
    assert plain.joint_coordinates == {"a": slice(0, 1), "b": slice(1, 3)}
    assert plain.joints == ("a", "c", "b")
    assert plain.body_number["two"] == 1
    assert plain.reaction_number["c"] == 1
    assert plain.multiplier_numbers("drive", "limit", "drive") == (0,)
    assert plain.multiplier_numbers("drive", "limit") == ()
