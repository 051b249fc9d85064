"""Scalar functions against SciPy's splines, closed forms and differences, and through points of CSV files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import BSpline, CubicSpline, PPoly

import bellcrank as bc
from bellcrank import _core as core
from bellcrank.errors import MechanismError

HOLD, LINEAR, PERIODIC = 0, 1, 2
KNOTS = np.array([-2.0, -0.5, 0.0, 0.3, 1.0, 2.5, 4.0])
VALUES = np.array([1.0, -1.0, 2.0, 0.5, 0.5, 3.0, 1.0])


def params(pieces, extrapolation, *more):
    """Flat parameters from SciPy's pieces, whose coefficients start with the highest power."""
    order, count = pieces.c.shape
    sets = [p.c[::-1].T.ravel() for p in (pieces, *more)]
    return np.concatenate([[order, count, extrapolation], pieces.x, *sets])


def piecewise(pieces, extrapolation=HOLD):
    return core.Function("piecewise", params(pieces, extrapolation))


def places(low, high, breaks):
    """Inside, exactly on the breaks, and next to them."""
    inside = np.random.default_rng(0).uniform(low, high, size=200)
    near = np.concatenate([np.nextafter(breaks, -np.inf), breaks, np.nextafter(breaks, np.inf)])
    return np.concatenate([inside, near[(near >= low) & (near <= high)]])


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 5])
def test_splines_of_any_degree(degree):
    rng = np.random.default_rng(degree)
    inner = np.sort(rng.uniform(-1.0, 3.0, size=40))
    knots = np.concatenate([[-1.0] * (degree + 1), inner, [3.0] * (degree + 1)])
    spline = BSpline(knots, rng.normal(size=len(knots) - degree - 1), degree)
    pieces = PPoly.from_spline(spline)
    keep = np.diff(pieces.x) > 0.0  # SciPy keeps the empty pieces of repeated knots
    pieces = PPoly(pieces.c[:, keep], np.append(pieces.x[:-1][keep], pieces.x[-1]))
    x = places(-1.0, 3.0, pieces.x)
    got = piecewise(pieces)(x)
    for order in range(3):
        expected = spline(x, order)
        np.testing.assert_allclose(got[:, order], expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())


def test_hold_extrapolation():
    spline = CubicSpline(KNOTS, VALUES)
    got = piecewise(spline, HOLD)(np.array([-7.0, 9.0]))
    assert got.tolist() == [[pytest.approx(VALUES[0]), 0.0, 0.0], [pytest.approx(VALUES[-1]), 0.0, 0.0]]


def test_linear_extrapolation():
    spline = CubicSpline(KNOTS, VALUES)
    got = piecewise(spline, LINEAR)(np.array([-7.0, 9.0]))
    for row, edge, x in zip(got, (-2.0, 4.0), (-7.0, 9.0), strict=True):
        slope = float(spline(edge, 1))
        assert row == pytest.approx([float(spline(edge)) + slope * (x - edge), slope, 0.0])


def test_periodic_extrapolation():
    spline = CubicSpline(KNOTS, VALUES, bc_type="periodic")
    x = np.linspace(-30.0, 30.0, 997)
    got = piecewise(spline, PERIODIC)(x)
    for order in range(3):
        np.testing.assert_allclose(got[:, order], spline(x, order), rtol=0, atol=1e-11)
    seams = piecewise(spline, PERIODIC)(np.array([-2.0, 4.0, 10.0, -8.0]))
    np.testing.assert_allclose(seams, np.tile(seams[0], (4, 1)), atol=1e-12)


@pytest.mark.parametrize("extrapolation", [HOLD, LINEAR, PERIODIC])
@pytest.mark.parametrize("shift", [0.0, 3.0, -10.0])
def test_integral_of_a_piecewise_polynomial(extrapolation, shift):
    """With the origin inside the range, after it and before it; x on every side."""
    spline = CubicSpline(KNOTS + shift, VALUES, bc_type="periodic")
    function = piecewise(spline, extrapolation)
    breaks = [*(spline.x + 6.0 * k for k in range(-4, 5))] if extrapolation == PERIODIC else [spline.x]
    for x in (-13.0, -2.0, -1.3, 0.0, 0.1, 0.3, 3.9, 4.0, 7.7, 14.0):
        cuts = np.unique(np.concatenate(breaks))
        cuts = cuts[(cuts > min(0.0, x)) & (cuts < max(0.0, x))]
        ends = [min(0.0, x), *cuts, max(0.0, x)]
        parts = [
            quad(lambda s: function(np.array([s]))[0, 0], a, b, epsabs=1e-13)[0] for a, b in pairwise(ends)
        ]
        assert function.integral(x) == pytest.approx(np.sign(x) * sum(parts), rel=1e-11, abs=1e-11)


def test_rational_draws_an_exact_circle():
    """A quarter circle as a quadratic NURBS curve: x = N_x/W, y = N_y/W with weights 1, 1/√2, 1."""
    knots = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    weights = np.array([1.0, np.sqrt(0.5), 1.0])

    def component(values):
        pieces = []
        for coefficients in (weights * values, weights):
            c = PPoly.from_spline(BSpline(knots, coefficients, 2)).c[:, 2:3]
            pieces.append(PPoly(c, [0.0, 1.0]))
        return core.Function("rational", params(pieces[0], HOLD, pieces[1]))

    x, y = component(np.array([1.0, 1.0, 0.0])), component(np.array([0.0, 1.0, 1.0]))
    u = np.linspace(0.0, 1.0, 51)
    px, py = x(u), y(u)
    np.testing.assert_allclose(px[:, 0] ** 2 + py[:, 0] ** 2, 1.0, atol=1e-15)
    # Differentiated twice: p·p' = 0 and p·p'' + p'·p' = 0.
    np.testing.assert_allclose(px[:, 0] * px[:, 1] + py[:, 0] * py[:, 1], 0.0, atol=1e-14)
    turn = px[:, 0] * px[:, 2] + py[:, 0] * py[:, 2] + px[:, 1] ** 2 + py[:, 1] ** 2
    np.testing.assert_allclose(turn, 0.0, atol=1e-13)
    assert py[-1, 0] == pytest.approx(1.0)


def test_rational_of_several_pieces():
    rng = np.random.default_rng(3)
    numerator = CubicSpline(KNOTS, rng.normal(size=7))
    denominator = CubicSpline(KNOTS, rng.uniform(2.0, 3.0, size=7))
    function = core.Function("rational", params(numerator, LINEAR, denominator))
    x = rng.uniform(-2.0, 4.0, size=50)
    np.testing.assert_allclose(function(x)[:, 0], numerator(x) / denominator(x), rtol=1e-13)
    inside = x[np.min(np.abs(x[:, None] - KNOTS), axis=1) > 0.03]
    h = 1e-3
    around = np.stack([function(inside + k * h)[:, 0] for k in range(-3, 4)])
    first = np.array([-1, 9, -45, 0, 45, -9, 1]) @ around / (60.0 * h)
    second = np.array([2, -27, 270, -490, 270, -27, 2]) @ around / (180.0 * h**2)
    np.testing.assert_allclose(function(inside)[:, 1], first, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(function(inside)[:, 2], second, rtol=1e-6, atol=1e-6)
    assert not function.integrable
    with pytest.raises(ValueError, match="no integral in closed form"):
        function.integral(1.0)


@pytest.mark.parametrize("omega", [0.0, 1e-9, 1e-3, 2.0, -40.0])
def test_harmonic(omega):
    offset, slope, amplitude, phase = 0.3, -0.7, 1.5, 0.4
    function = core.Function("harmonic", [offset, slope, amplitude, omega, phase])
    x = np.linspace(-3.0, 3.0, 41)
    angle = omega * x + phase
    got = function(x)
    np.testing.assert_allclose(got[:, 0], offset + slope * x + amplitude * np.sin(angle), atol=1e-14)
    np.testing.assert_allclose(got[:, 1], slope + amplitude * omega * np.cos(angle), atol=1e-13)
    np.testing.assert_allclose(got[:, 2], -amplitude * omega**2 * np.sin(angle), atol=1e-11)
    for end in (-2.9, 0.0, 1e-3, 1.7):
        expected = quad(lambda s: function(np.array([s]))[0, 0], 0.0, end, epsabs=1e-12, limit=200)[0]
        assert function.integral(end) == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_malformed_functions_are_refused():
    good = params(CubicSpline(KNOTS, VALUES), HOLD)
    cases = {
        "start with order": [4.0, 6.0],
        "order 0.0.* not in 1..64": [0.0, *good[1:]],
        "number of pieces 2.5": [4.0, 2.5, *good[2:]],
        "none of 0 hold, 1 linear, 2 periodic": [4.0, 6.0, 3.0, *good[3:]],
        "4 and 6 pieces need 34 parameters, 33 given": good[:-1],
        "not finite": [*good[:-1], np.inf],
        "break 2 at -0.5.* does not exceed": [*good[:4], good[4], good[4], *good[6:]],
    }
    for message, bad in cases.items():
        with pytest.raises(ValueError, match=message):
            core.Function("piecewise", bad)
    ones = PPoly([[1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="denominator is not positive at x = 0"):
        core.Function("rational", params(ones, HOLD, PPoly([[0.0]], [0.0, 1.0])))
    with pytest.raises(ValueError, match=r"harmonic function: 5 parameters .* 4 given"):
        core.Function("harmonic", [1.0, 2.0, 3.0, 4.0])
    for message, bad in {
        "each piece needs an amplitude, an omega and a phase": [4.0, 1.0],
        "waves function: order 4 and 6 pieces need 34 parameters, 16": good,
        "waves function: a parameter is not finite": [*good, *[0.0] * 17, np.inf],
    }.items():
        with pytest.raises(ValueError, match=message):
            core.Function("waves", bad)
    known = ["expression", "harmonic", "piecewise", "rational", "waves"]
    with pytest.raises(ValueError, match=f"unknown function kind 'spline'; known: {', '.join(known)}"):
        core.Function("spline", good)
    assert core.function_kinds() == known


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
    "no unit in the heading": ("t,a [1/2]\n0,0\n1,1\n", {}, "unit: this is not a unit", [None]),
    "no unit given": ("t,a\n0,0\n1,1\n", {"unit": "* t"}, "this is not a unit", [None]),
    "unit of x": ("t,a\n0,0\n1,1\n", {"x_unit": "furlong"}, "x_unit: this unit is not known", [None]),
    "two units of x": ("t [s],a\n0,0\n1,1\n", {"x_unit": "ms"}, "states another unit, 's'", [None]),
    "no such number for x": ("t,a\n0,0\n1,1\n", {"x": 5}, "x: there are 2 columns", [None]),
    "many short rows": ("t;a\n0;0\n" + "1\n" * 30, {}, "this row has", list(range(3, 23))),
    "many rows": ("t,a\n" + "0,x\n" * 30, {}, "a number is needed here", list(range(2, 22))),
    "option": ("0,0\n1,1\n", {"extrapolation": "cyclic"}, "extrapolation", [None]),
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
