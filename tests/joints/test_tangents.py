"""Derivatives of coordinates and force laws along any direction, against differences; no kind is without."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from bellcrank import _core as core

MOTION = 13  # numbers of a motion: r, q, rdot, omega
SPRING = CubicSpline([-3.0, -0.4, 0.0, 0.5, 3.0], [9.0, 2.0, 0.0, -3.0, -20.0])


KNOTS = np.linspace(0.0, 2.0 * np.pi, 9)


def spline(points, closed):
    """The numbers of a curve through points: parameters of kinds, which depend on the points linearly."""
    points[-1] = points[0]
    cubic = CubicSpline(KNOTS, points, bc_type="periodic" if closed else "natural")
    return cubic.c[::-1].transpose(1, 0, 2).ravel()


def curve(closed):
    points = np.stack([2.0 * np.cos(KNOTS), np.sin(KNOTS), 0.3 * np.sin(2 * KNOTS)], axis=1)
    return [closed, len(KNOTS) - 1, 0.0, 0.0, 1.0, *KNOTS, *spline(points, closed)]


def changes(params, rng):
    """A direction of parameters; that of a curve keeps it smooth, that of a cam its pieces."""
    if len(params) < 4 or len(params) in (len(BEAM), len(VARIED)):
        return rng.normal(size=len(params))
    if (own := len(params) - len(WAVES)) in (0, 1, 2):
        return np.concatenate([rng.normal(size=own), np.zeros(3), rng.normal(size=len(WAVES) - 3)])
    return np.concatenate([np.zeros(5 + len(KNOTS)), spline(rng.normal(size=(len(KNOTS), 3)), params[0])])


# Parameters of the kinds that take any.
PARAMETERS = {kind: [[], [2.0, 5.0, -1.5]] for kind in ("turned_x", "turned_y", "turned_z")}
PARAMETERS["tangent_span"] = PARAMETERS["tangent_slant"] = [[0.05], [-0.08], [0.0]]
PARAMETERS |= {
    kind: [curve(False), curve(True)]
    for kind in ("curve_normal_1", "curve_normal_2", "curve_parameter", "curve_angle")
}
WAVES = [3, 2, 2, 0.0, 2.0, 2 * np.pi, 0.1, 0.3, -0.05, 0.5, -0.2, 0.0, 0.2, 1.5, 0.4, -0.1, 0.7, 0.0]
BEAM = [0.7, *(np.eye(6) + 0.1)[np.triu_indices(6)], *[0.1, -0.2, 0.3, 0.2, -0.1, 0.4]]
VARIED = [*BEAM, *np.linspace(-0.05, 0.1, 21), *np.linspace(0.1, -0.05, 21)]
PARAMETERS |= {f"beam_{k}": [BEAM, VARIED] for k in range(1, 7)}
PARAMETERS |= {"cam_lift": [WAVES], "cam_slide": [[0.05, *WAVES]], "cam_swing": [[4.0, 3.9, *WAVES]]}
LAWS = {
    "linear": ([200.0, 5.0, 0.3, 7.0], core.Function("harmonic", [0.2, 0.5, 1.0, 2.0, 0.3])),
    "table": ([2.0], core.Function("piecewise", [4, 4, 1, *SPRING.x, *SPRING.c[::-1].T.ravel()])),
    "motor": ([0.4], core.Function("harmonic", [0.2, 0.5, 1.0, 2.0, 0.3])),
    "friction": ([0.4, 2.0, 3.0, 0.5, 0.3], None),
    "dry_friction": ([0.4, 2.0, 3.0, 3.5, 0.5, 1.5, 0.3, 0.2], None),
    "freewheel": ([1.0], None),
    "dry_brake": ([1.0], core.Function("harmonic", [2.0, 0.5, 1.0, 2.0, 0.3])),
    "brake": ([0.7], core.Function("harmonic", [2.0, 0.5, 1.0, 2.0, 0.3])),
    "rubber": ([40.0, 0.1, 0.6, 1.2], None),
    "one_sided": (
        [40.0, 2.0, 0.9, 1.0, 0.6, 1.5, 0.3, 1.1],
        core.Function("piecewise", [4, 4, 1, *SPRING.x, *SPRING.c[::-1].T.ravel()]),
    ),
    "gas": ([3.0, 4.0, -5.0, 1.3, 1.0], None),
    "servo": ([4.0, 0.5, 3.0, 6.0, 2.5], core.Function("harmonic", [0.2, 0.5, 1.0, 2.0, 0.3])),
    "stepper": ([3.0, 1.5, 0.8, 0.2], core.Function("harmonic", [0.2, 0.5, 1.0, 2.0, 0.3])),
}


def kinds(registry):
    return [name for name in registry() if not name.startswith("rig_")]


def unit(q):
    return q / np.linalg.norm(q)


def evaluated(kind, at):
    """What a coordinate is and does, (8,), at a motion with parameters."""
    r, q, rdot, omega = at[:3], unit(at[3:7]), at[7:10], at[10:MOTION]
    value, dr, domega, quadratic = core.evaluate_coordinate(kind, r, q, rdot, omega, at[MOTION:])
    return np.array([value, *dr, *domega, quadratic])


@pytest.mark.parametrize("kind", kinds(core.coordinate_kinds))
def test_coordinates_along_every_direction(kind, derivatives):
    rng, angular = np.random.default_rng(3), core.coordinate_kinds()[kind]
    for params in PARAMETERS.get(kind, [[]]):
        for _ in range(3):
            at = np.concatenate([rng.normal(size=MOTION), params])
            at[3:7] = unit(at[3:7])
            if kind.startswith("curve"):  # near the middle of a piece: across a knot third derivatives jump
                u = KNOTS[rng.integers(len(KNOTS) - 1)] + 0.4
                at[:3] = (2.0 * np.cos(u), np.sin(u), 0.3 * np.sin(2 * u)) + 0.1 * at[:3]
            directions = rng.normal(size=(6, len(at)))
            directions[:, 3:7] -= np.outer(directions[:, 3:7] @ at[3:7], at[3:7])
            directions[:, MOTION:] = [changes(params, rng) for _ in directions]
            directions[4, MOTION:] = 0.0
            directions[5, :MOTION] = 0.0
            found = core.coordinate_tangents(
                kind, at[:3], at[3:7], at[7:10], at[10:MOTION], at[MOTION:], directions
            )
            for direction, row in zip(directions, found, strict=True):

                def along(s, direction=direction, at=at):
                    return evaluated(kind, at + s * direction)

                wanted = derivatives(along, 0.0, 1e-3, angular)[1]
                np.testing.assert_allclose(row, wanted, rtol=1e-7, atol=1e-7, err_msg=f"{params[:2]}")


@pytest.mark.parametrize("kind", kinds(core.coordinate_kinds))
def test_coordinates_where_markers_coincide_have_no_nan(kind):
    params = PARAMETERS.get(kind, [[]])[0]
    at = np.concatenate([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], np.ones(6)])
    directions = np.eye(MOTION, MOTION + len(params))
    found = core.coordinate_tangents(kind, at[:3], at[3:7], at[7:10], at[10:], params, directions)
    assert np.isfinite(found).all()


def test_a_rotation_vector_near_none():
    """There it is twice the vector of the quaternion, whose gradient is the unit matrix."""
    q = [1.0, 1e-9, -2e-9, 0.0]
    directions = np.zeros((3, MOTION))
    directions[:, 4:7] = 0.5 * np.eye(3)
    for k, axis in enumerate("xyz"):
        found = core.coordinate_tangents(f"rot_{axis}", [0, 0, 0], q, [0, 0, 0], [0, 0, 0], [], directions)
        np.testing.assert_allclose(found[:, 0], np.eye(3)[k], atol=1e-8)


@pytest.mark.parametrize("kind", kinds(core.law_kinds))
def test_laws_by_value_rate_time_and_parameters(kind, derivatives):
    params, function = LAWS[kind]
    names = core.law_parameters()[kind]
    fixed = 3 + names.index("direction") if "direction" in names else None
    rng = np.random.default_rng(5)
    for _ in range(10):
        at = np.concatenate([rng.normal(size=3), params])
        found = core.law_slopes(kind, *at[:3], at[3:], function)
        for i, direction in enumerate(np.eye(len(at))):
            if i != fixed:

                def effort(s, d=direction, at=at):
                    return core.law_effort(kind, *(at + s * d)[:3], (at + s * d)[3:], function)

                wanted = derivatives(effort, 0.0, 1e-3)[1]
                assert found[i] == pytest.approx(wanted, rel=1e-7, abs=1e-7), (at, i)
