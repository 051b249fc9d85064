"""Functions through the points of CSV files: separators, decimal commas, units, columns, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError


def table(folder, text, **given):
    path = folder / "motion.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return bc.Table.from_csv(path, **given)


PLAIN = [0.0, 0.5, 2.0], [0.0, np.pi / 2, -1.5]
SAME = {
    "commas": "t,a\n0,0\n0.5,1.5707963267948966\n2,-1.5\n",
    "blanks after commas": "t, a\r\n0, 0\r\n0.5, 1.5707963267948966\r\n2, -1.5\r\n",
    "semicolons": "t;a\n0;0\n0.5;1.5707963267948966\n2;-1.5",
    "decimal commas": "t;a\n0;0\n0,5;1,5707963267948966\n2;-1,5\n",
    "tabs": "t\ta\n0\t0\n0,5\t1,5707963267948966\n2\t-1.5\n",
    "blanks": "  t a\n 0   0\n 0.5 1.5707963267948966\n 2 -1.5\n",
    "quotes": '"t","a"\n"0","0"\n"0,5","1,5707963267948966"\n2,-1.5\n',
    "no headings": "0,0\n0.5,1.5707963267948966\n2,-1.5\n",
    "empty lines and comments": "# made by hand\n\nt,a\n0,0\n\n# half\n0.5,1.5707963267948966\n2,-1.5\n\n",
    "headings of numpy": "# t,a\n0,0\n5e-1,1.5707963267948966\n2,-1.5\n",
    "a mark": "\ufefft,a\n0,0\n0.5,1.5707963267948966\n2,-1.5\n",
    "a separator at the end": "t;a;\n0;0;\n0,5;1,5707963267948966;\n2;-1,5;\n",
    "units": "t [ms],a [deg]\n0,0\n500,90\n2000,-85.94366926962348\n",
    "units in parentheses": "t (ms);a (°)\n0;0\n500;90\n2000;-85,94366926962348\n",
    "units that are none": "t [s],a [1]\n0,0\n0.5,1.5707963267948966\n2,-1.5\n",
    "parentheses without units": "t (mine),a (left)\n0,0\n0.5,1.5707963267948966\n2,-1.5\n",
}


@pytest.mark.parametrize("name", SAME)
def test_tables_are_written_in_many_ways(tmp_path, name):
    found = table(tmp_path, SAME[name])
    np.testing.assert_allclose(found.x, PLAIN[0], rtol=1e-14)
    np.testing.assert_allclose(found.y, PLAIN[1], rtol=1e-14)


def test_a_table_may_be_in_utf_16(tmp_path):
    assert table(tmp_path, SAME["commas"].encode("utf-16")).x == (0.0, 0.5, 2.0)


@pytest.mark.parametrize("column", ["left", "left [deg]", 2, -1])
@pytest.mark.parametrize("x", ["t", "t [ms]", 1])
def test_columns_are_named_or_counted(tmp_path, column, x):
    found = table(
        tmp_path, "n,t [ms],left [deg]\n7,0,0\n7,500,180\n", column=column, x=x, interpolation="linear"
    )
    assert found == bc.Table((0.0, 0.5), (0.0, np.pi), "linear")


def test_units_are_given_where_headings_have_none(tmp_path):
    found = table(tmp_path, "0,0\n500,180\n", unit="deg", x_unit="ms")
    assert (found.x, found.y) == ((0.0, 0.5), (0.0, np.pi))
    assert table(tmp_path, "t [ms],a\n0,0\n500,180\n", unit="deg", x_unit="ms") == found


REFUSED = {
    "no number": ("t,a\n0,0\n1,x\n2,\n3,nan\n", {}, "a number is needed here", [3, 4, 5]),
    "commas everywhere": ("t,a\n0,0\n0,5,1,5\n", {}, "decimal commas need semicolons", [3]),
    "groups": ("t;a\n0;0\n1;1.234,5\n", {}, "digits are not grouped", [3]),
    "rows of other lengths": ("t;a\n0;0\n1\n2;3;4\n", {}, "this row has", [3, 4]),
    "no rows": ("", {}, "it holds no rows", [None]),
    "headings alone": ("t,a\n", {}, "2 rows of numbers", [None]),
    "one row": ("t,a\n0,0\n", {}, "2 rows of numbers", [None]),
    "times that fall": ("0,0\n1,1\n1,2\n", {}, "x must increase", [None]),
    "which column": ("t,a,b\n0,0,0\n1,1,1\n", {}, "which column is meant", [None]),
    "one column": ("0\n1\n", {}, "which column is meant", [None]),
    "no such column": ("t,angle\n0,0\n1,1\n", {"column": "angel"}, "did you mean 'angle'", [None]),
    "no such number": ("t,a\n0,0\n1,1\n", {"column": 2}, "there are 2 columns", [None]),
    "no heading": ("0,0\n1,1\n", {"column": "a"}, "it has no headings", [None]),
    "two of a name": ("t,a,a\n0,0,0\n1,1,1\n", {"column": "a"}, "several columns", [None]),
    "no column": ("t,a\n0,0\n1,1\n", {"column": 1.5}, "a heading or a number", [None]),
    "unit": ("t,a [furlong]\n0,0\n1,1\n", {}, "this unit is not known", [None]),
    "two units": ("t,a [deg]\n0,0\n1,1\n", {"unit": "rad"}, "states another unit, 'deg'", [None]),
    "encoding": (b"t,a\n0,\xff\n", {}, "it is not UTF-8", [2]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_clear_is_refused_with_its_line(tmp_path, name):
    text, given, rule, lines = REFUSED[name]
    with pytest.raises(MechanismError, match=rule) as raised:
        table(tmp_path, text, **given)
    assert [fault.location.line for fault in raised.value.faults] == lines
    assert {fault.location.file for fault in raised.value.faults} == {str(tmp_path / "motion.csv")}


def test_files_that_are_missing_or_named_wrongly(tmp_path):
    with pytest.raises(FileNotFoundError):
        bc.CubicSpline.from_csv(tmp_path / "none.csv")
    with pytest.raises(MechanismError, match="a path is needed"):
        bc.CubicSpline.from_csv(3)


def test_a_recorded_motion_drives_a_joint(tmp_path):
    """One call; what a run wrote as CSV is a motion for the next."""
    mech = bc.Mechanism()
    crank = mech.add_body("crank", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("pin", bc.Revolute(), mech.ground, crank)
    given = mech.copy()
    given.add_drive("servo", "pin", position="0.5*sin(2*t)")
    bc.simulate(given, 1.0, output_step=0.01).to_csv(tmp_path / "run.csv")
    mech.add_drive(
        "servo", "pin", position=bc.CubicSpline.from_csv(tmp_path / "run.csv", "joint.pin.theta_z")
    )
    run = bc.simulate(mech, 1.0, output_step=0.1)
    np.testing.assert_allclose(run.joint("pin").position[:, 0], 0.5 * np.sin(2 * run.time), atol=1e-4)
