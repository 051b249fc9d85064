"""Curves that touch a surface, and roll on it: geometry, closed forms, and an integration of its own."""

import numpy as np
import pytest
from rigs.agreement import agreed
from scipy.integrate import solve_ivp

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.expression.compiled import evaluate

X, Y, S, HEADING, LEAN = bc.symbols("x y s heading lean")
EACH = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
EXACT = {"method": "dopri5", "tolerance": 1e-12}


def dish(x, y):
    return (x, y, 0.1 * x * x + 0.15 * y * y - 0.05 * x * y)


DISH = dish(X, Y)
PLANE = (X, Y, 0.0)
ELLIPSE = (0.4 * ex.cos(S), 0.25 * ex.sin(S), 0.0)
BENT = (0.4 * ex.cos(S), 0.25 * ex.sin(S), 0.05 * ex.sin(2 * S))
AT = {X: 0.3, Y: -0.2, S: 0.4, HEADING: 0.8, LEAN: 0.5}


def circle(radius):
    return (radius * ex.cos(S), radius * ex.sin(S), 0.0)


def matrix(transform, values):
    rotation = [e for row in transform.rotation for e in row]
    found = np.eye(4)
    found[:3, :3] = np.reshape(evaluate(rotation, values), (3, 3))
    found[:3, 3] = evaluate(list(transform.position), values)
    return found


def numbers(formulas, values):
    return np.array(evaluate([ex.Expression(0.0) + f for f in formulas], values))


def slope(formulas, symbol, values):
    return numbers([ex.derivative(ex.Expression(0.0) + f, symbol) for f in formulas], values)


@pytest.mark.parametrize("curve", [ELLIPSE, BENT])
def test_the_curve_touches_the_surface(curve):
    joint = bc.CurveOnSurface((X, Y), DISH, S, curve, HEADING, LEAN, up=(0, 0, 1))
    pose = matrix(joint.transform, AT)
    point = pose @ [*numbers(curve, AT), 1.0]
    np.testing.assert_allclose(point[:3], numbers(DISH, AT), atol=1e-14)
    first, second = slope(DISH, X, AT), slope(DISH, Y, AT)
    normal = np.cross(first, second)
    tangent = pose[:3, :3] @ slope(curve, S, AT)
    assert tangent @ normal == pytest.approx(0.0, abs=1e-14)
    along = tangent / np.linalg.norm(tangent)
    assert along @ first / np.linalg.norm(first) == pytest.approx(np.cos(0.8))
    assert np.cross(first, along) @ normal > 0.0


def test_lean_is_from_upright_about_the_heading():
    joint = bc.CurveOnSurface((X, Y), PLANE, S, circle(0.3), HEADING, LEAN)
    values = {X: 0.0, Y: 0.0, S: -np.pi / 2, HEADING: 0.0, LEAN: 0.0}
    centre = matrix(joint.transform, values)[:3, 3]
    np.testing.assert_allclose(centre, (0.0, 0.0, 0.3), atol=1e-15)
    leaning = matrix(joint.transform, {**values, LEAN: 0.2})[:3, 3]
    np.testing.assert_allclose(leaning, (0.0, -0.3 * np.sin(0.2), 0.3 * np.cos(0.2)), atol=1e-15)


@pytest.mark.parametrize("curve", [ELLIPSE, BENT])
def test_rolling_means_that_the_material_point_at_the_contact_stands_still(curve):
    joint = bc.RollingCurve((X, Y), DISH, S, curve, HEADING, LEAN, up=(0, 0, 1))
    rows = np.array([evaluate(list(row), AT) for row in joint.rolling])
    _, _, ways = np.linalg.svd(rows)
    for rates in (*ways[2:], np.array([0.3, -1.0, 0.2, 0.5, 0.7])):
        h = 1e-6
        before, after = (
            matrix(
                joint.transform, {s: v + sign * h * r for (s, v), r in zip(AT.items(), rates, strict=True)}
            )
            for sign in (-1, 1)
        )
        point = [*numbers(curve, AT), 1.0]
        velocity = ((after - before) @ point)[:3] / (2 * h)
        assert np.linalg.norm(velocity) == pytest.approx(np.linalg.norm(rows @ rates), abs=1e-8)


def test_relative_curvature_against_differences():
    """How fast the curve rises from the surface at both sides of the point of contact."""
    joint = bc.CurveOnSurface((X, Y), DISH, S, BENT, HEADING, LEAN, up=(0, 0, 1))
    pose, h = matrix(joint.transform, AT), 1e-3
    (found,) = evaluate([joint.regular], AT)
    normal = np.cross(slope(DISH, X, AT), slope(DISH, Y, AT))
    normal /= np.linalg.norm(normal)

    def height(step):
        """Of a point of the curve over the surface, along the normal at the contact; and how far on it is."""
        point = (pose @ [*numbers(BENT, {**AT, S: AT[S] + step}), 1.0])[:3]
        x, y = point[:2]
        for _ in range(30):  # the surface's point below it along the normal
            gap = point - numbers(DISH, {X: x, Y: y})
            off = gap - (gap @ normal) * normal
            x, y = x + off[0], y + off[1]
        return gap @ normal

    length = np.linalg.norm(slope(BENT, S, AT))
    second = (height(h) + height(-h)) / (h * length) ** 2
    assert found == pytest.approx(second, rel=1e-4)


def coin(radius=0.3, mass=1.3, lean=0.3, turning=2.0, rolling=3.0, falling=0.1, heading=0.2, gravity=9.81):
    """A thin disc on its edge on a plane.

    turning, rolling, falling: rates of heading, of the point of contact along the edge, of the lean, rad/s.
    """
    mech = bc.Mechanism("coin", gravity=(0, 0, -gravity))
    moment = mass * radius**2 / 4
    body = mech.add_body("coin", mass=mass, inertia=(moment, moment, 2 * moment))
    kind = bc.RollingCurve((X, Y), PLANE, S, circle(radius), HEADING, LEAN)
    start = {"x": 0.0, "y": 0.0, "s": -np.pi / 2, "heading": heading, "lean": lean}
    speed = radius * rolling
    rates = {"x": speed * np.cos(heading), "y": speed * np.sin(heading), "s": rolling}
    rates |= {"heading": turning, "lean": falling}
    mech.add_joint("edge", kind, mech.ground, body, position=start, velocity=rates)
    return mech


def integrated(times, radius=0.3, mass=1.3, g=9.81):
    """The same coin by its equations in axes that go with heading and lean, about the centre of the disc.

    With n = -(ψ' sin θ + σ) about the disc's axis, A and C = 2 A the moments of inertia:
    (A + m R²) θ'' = m g R sin θ - A ψ'² sin θ cos θ - (C + m R²) ψ' n cos θ,
    A ψ'' cos θ = 2 A ψ' θ' sin θ + C θ' n,  (C + m R²) n' = m R² ψ' θ' cos θ.
    """
    A, more = mass * radius**2 / 4, mass * radius**2
    C = 2 * A

    def rate(_, state):
        _, _, _, turn, lean, turning, falling, n = state
        sine, cosine = np.sin(lean), np.cos(lean)
        along = -(turning * sine + n)
        fall = more * g / radius * sine - A * turning**2 * sine * cosine - (C + more) * turning * n * cosine
        return [
            radius * along * np.cos(turn),
            radius * along * np.sin(turn),
            along,
            turning,
            falling,
            (2 * A * turning * falling * sine + C * falling * n) / (A * cosine),
            fall / (A + more),
            more * turning * falling * cosine / (C + more),
        ]

    start = [0.0, 0.0, -np.pi / 2, 0.2, 0.3, 2.0, 0.1, -(2.0 * np.sin(0.3) + 3.0)]
    found = solve_ivp(rate, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-12)
    return found.y[:5].T


@EACH
def test_rolling_coin_against_an_integration_of_its_own(formulation):
    run = bc.simulate(coin(), duration=3.0, formulation=formulation, **EXACT)
    expected = integrated(run.time)
    assert np.ptp(expected[:, 4]) > 0.9
    np.testing.assert_allclose(run.joint("edge").position, expected, atol=2e-8)
    assert np.abs(run.energy.drift).max() < 1e-9
    assert run.violation.velocity.max() < 1e-11


@EACH
@pytest.mark.parametrize(("lean", "turning"), [(0.3, 3.0), (-0.7, -5.0), (1.2, 7.0)])
def test_steady_circles(formulation, lean, turning):
    """A ψ'² sin θ cos θ - (C + m R²) (ψ' sin θ + σ) ψ' cos θ = m g R sin θ (Neimark, Fufaev, chapter 3)."""
    radius, g = 0.3, 9.81
    axial = (0.25 * turning**2 * np.sin(lean) * np.cos(lean) - g / radius * np.sin(lean)) / (
        1.5 * turning * np.cos(lean)
    )
    rolling = axial - turning * np.sin(lean)
    mech = coin(lean=lean, turning=turning, rolling=rolling, falling=0.0)
    run = bc.simulate(mech, duration=1.5, formulation=formulation, **EXACT)
    position = run.joint("edge").position
    np.testing.assert_allclose(position[:, 4], lean, atol=1e-8)
    np.testing.assert_allclose(position[:, 3], 0.2 + turning * run.time, atol=1e-7)
    centre = np.array([-np.sin(0.2), np.cos(0.2)]) * radius * rolling / turning
    np.testing.assert_allclose(
        np.linalg.norm(position[:, :2] - centre, axis=1), abs(radius * rolling / turning), atol=1e-7
    )


@pytest.mark.parametrize("rolling", [1.0, 3.2, 3.4, 8.0])
def test_when_an_upright_disc_stands(rolling):
    """λ² = (m g R - C (C + m R²) σ²/A)/(A + m R²): it stands above σ² = g/(3 R), 3.3015 rad/s here."""
    radius, g = 0.3, 9.81
    mech = coin(lean=0.0, turning=0.0, rolling=rolling, falling=0.0, heading=0.0)
    matrix = bc.prepare(mech, "symbolic").linearize().state_matrix()
    assert (len(matrix.displacements), len(matrix.speeds)) == (5, 3)
    values = matrix.eigenvalues()
    moving = values[np.abs(values) > 1e-6]
    np.testing.assert_allclose(moving**2, 2 * [(g / radius - 3.0 * rolling**2) / 1.25], rtol=1e-11)
    assert (values.real.max() < 1e-9) == (3 * radius * rolling**2 > g)


@EACH
@pytest.mark.parametrize(
    "settings", [{"method": "rk4", "step": 1e-3}, {"method": "dopri5", "tolerance": 1e-9}]
)
def test_a_disc_that_comes_to_lie_flat_is_told(formulation, settings):
    with pytest.raises(bc.SimulationError, match="joint 'edge'") as caught:
        bc.simulate(coin(turning=0.0, rolling=0.0), duration=2.0, formulation=formulation, **settings)
    kept = caught.value.trajectory
    assert kept.time[-1] > 0.3
    assert np.all(kept.joint("edge").position[:, 4] < np.pi / 2)


def test_it_cannot_start_flat():
    with pytest.raises(bc.MechanismError, match=r"joint 'edge': it cannot start here"):
        bc.simulate(coin(lean=np.pi / 2), duration=1.0)


def test_a_flat_disc_is_not_linearized():
    mech = bc.Mechanism("flat")
    disc = mech.add_body("disc", mass=1.0, inertia=(0.1, 0.1, 0.2))
    kind = bc.RollingCurve((X, Y), PLANE, S, circle(0.3), HEADING, LEAN)
    mech.add_joint("edge", kind, mech.ground, disc, position={"s": 0.5})
    with pytest.raises(bc.MechanismError, match=r"linearize: joint 'edge': at .* it hardly moves with"):
        bc.prepare(mech, "symbolic").linearize()


def on_dish(kind, seed=2):
    """A body with a curved edge in a dish, which another one moves along with."""
    mech = bc.Mechanism("dish", gravity=(0.3, -0.5, -9.81))
    dish = mech.add_body("dish", mass=2.0, inertia=(0.5, 0.6, 0.8), angular_velocity=(0.2, -0.1, 0.5))
    mech.add_joint("ball", bc.Spherical(), mech.ground, dish.marker((0.1, 0.0, -0.4)))
    rocker = mech.add_body("rocker", mass=1.0, inertia=(0.02, 0.03, 0.025), com=(0.02, 0.01, 0.03))
    start = {symbol.name: value for symbol, value in AT.items()}
    rates = {"heading": 0.7, "lean": -0.4, "s": 0.5}
    ends = dish.marker((0.05, 0.1, 0.0)), rocker.marker((0.0, 0.02, 0.0))
    mech.add_joint("edge", kind, *ends, position=start, velocity=rates)
    return mech


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
@pytest.mark.parametrize("rolls", [False, True])
def test_formulations_agree(formulation, rolls):
    kind = (bc.RollingCurve if rolls else bc.CurveOnSurface)(
        (X, Y), DISH, S, BENT, HEADING, LEAN, up=(0, 0, 1)
    )
    agreed(on_dish(kind), formulation)


def test_rolling_is_sliding_with_two_velocity_constraints():
    sliding = on_dish(bc.CurveOnSurface((X, Y), DISH, S, BENT, HEADING, LEAN, up=(0, 0, 1)))
    rolling = on_dish(bc.RollingCurve((X, Y), DISH, S, BENT, HEADING, LEAN, up=(0, 0, 1)))
    names = ("x", "y", "s", "heading")
    ends = [bc.EndCoordinate(name) for name in names]
    x, y, s, heading = (end.value for end in ends)
    bent = (0.4 * ex.cos(s), 0.25 * ex.sin(s), 0.05 * ex.sin(2 * s))
    by_ends = bc.RollingCurve((x, y), dish(x, y), s, bent, heading, LEAN, up=(0, 0, 1))
    rows = [sum(f * end.rate for f, end in zip(row, ends, strict=False)) for row in by_ends.rolling]
    held = (sliding.joints["edge"].coordinate(name) for name in names)
    sliding.add_constraint("rolls", bc.VelocityConstraint(tuple(ends), rows), *held)
    one, two = bc.prepare(rolling), bc.prepare(sliding)
    two.set_state(one.project())
    first, second = one.accelerate(), two.accelerate()
    np.testing.assert_allclose(second.linear, first.linear, atol=1e-10)
    np.testing.assert_allclose(second.angular, first.angular, atol=1e-9)


@EACH
def test_a_rocker_in_a_dish_keeps_its_energy(formulation):
    kind = bc.RollingCurve((X, Y), DISH, S, ELLIPSE, HEADING, LEAN, up=(0, 0, 1))
    mech = bc.Mechanism("rocker", gravity=(0, 0, -9.81))
    body = mech.add_body("rocker", mass=1.0, inertia=(0.02, 0.03, 0.05))
    start = {"x": 0.3, "y": -0.2, "s": -1.4, "heading": 0.8, "lean": 0.3}
    rates = {"s": 3.0, "heading": 3.0}
    mech.add_joint("edge", kind, mech.ground, body, position=start, velocity=rates)
    run = bc.simulate(mech, duration=0.5, formulation=formulation, method="dopri5", tolerance=1e-11)
    assert np.abs(run.energy.drift).max() < 1e-8
    assert np.ptp(run.joint("edge").position[:, 4]) > 0.1


FILE = """\
bellcrank: 1
parameters: {R: 0.3}
bodies:
  coin: {mass: 1, inertia: [0.0225, 0.0225, 0.045]}
joints:
  edge:
    type: RollingCurve
    first: ground
    second: coin
    parameters: [x, y]
    surface: [x, y, 0]
    parameter: s
    curve: [R*cos(s), R*sin(s), 0]
    heading: h
    lean: l
    position: {l: 0.3}
"""


def test_in_files():
    mech = bc.loads(FILE)
    assert mech.joints["edge"].kind.free == ("x", "y", "s", "h", "l")
    run = bc.simulate(mech.with_parameters(R=0.25), duration=0.1)
    assert run.joint("edge").position[-1, 4] > 0.3
    with pytest.raises(bc.MechanismError, match="this name is taken"):
        bc.loads(FILE.replace("lean: l", "lean: h"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"curve": (0.3, 0.0, 0.0)}, "the curve does not depend on its parameter 's'"),
        ({"surface": (X, X, 0.0)}, "the surface does not depend on its parameter 'y'"),
        ({"lean": HEADING}, "must have different names"),
        ({"heading": 2 * HEADING}, "heading must be 1 symbol"),
        ({"up": (0, 0, 0)}, "up must be a direction"),
    ],
)
def test_messages(change, said):
    given = {"parameters": (X, Y), "surface": PLANE, "parameter": S, "curve": circle(0.3)}
    with pytest.raises(bc.MechanismError, match=said):
        bc.RollingCurve(**{**given, "heading": HEADING, "lean": LEAN, **change})


def test_rows_are_named_in_the_users_words():
    mech = coin()
    mech.add_drive("steer", "edge", "heading", velocity=0.5)
    mech.add_drive("roll", "edge", "s", velocity=0.2)
    model = bc.prepare(mech, "lagrange").model
    assert [model.row_text(row) for row in range(model.row_count)] == [
        "joint 'edge' (the curve touches the surface)",
        "joint 'edge' (the curve rolls without sliding along itself)",
        "joint 'edge' (the curve does not slide sideways)",
        "drive 'steer' (heading)",
        "drive 'roll' (s)",
    ]


def test_a_failure_names_the_rule_of_the_joint():
    """The coin is to turn about its axle, and its point of contact to stand still."""
    mech = coin(turning=0.0, falling=0.0)
    mech.replace(mech.joints["edge"], velocity=())
    for coordinate, speed in (("s", 1.0), ("x", 0.0), ("y", 0.0)):
        mech.add_drive(f"drive {coordinate}", "edge", coordinate, velocity=speed)
    with pytest.raises(bc.AssemblyError) as caught:
        bc.simulate(mech, 0.1)
    assert "joint 'edge' (the curve rolls without sliding along itself)" in str(caught.value)
    assert "drive 'drive s' (s)" in str(caught.value)
