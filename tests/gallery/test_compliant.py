"""Compliant mechanisms of the gallery against what is published of them."""

import numpy as np
import pytest
from scipy.optimize import brentq

import bellcrank as bc
from bellcrank import gallery as make

SPAN, RISE = 0.1, 0.001


def stepped(mech, times):
    """Rests at times, each from the one before."""
    found = []
    for time in times:
        rest = bc.statics(mech, time)
        mech = rest.at
        found.append(rest)
    return found


@pytest.mark.parametrize("crossing", [0.5, 0.127322])
def test_the_stiffness_of_a_cross_spring_pivot_by_wittrick(crossing):
    """To the parts in a thousand that the leaves, side by side, twist."""
    mech = make.cross_spring_pivot(crossing=crossing)
    EI = 200e9 * 0.012 * 0.0003**3 / 12
    expected = 8.0 * EI / 0.06 * (1.0 - 3.0 * crossing + 3.0 * crossing**2)
    mech.add_force("push", bc.Wrench(moment=(0, 0, 1e-3 * expected)), mech.bodies["plate"])
    w, _, _, z = bc.statics(mech).state.rotation[0]
    assert 1e-3 / (2.0 * np.arctan2(z, w)) == pytest.approx(1.0, rel=2e-3)


def pseudo_rigid(angle, crank=0.03, length=0.1, base=0.15):
    """Howell's rocker: its turn, and the moment on the crank by virtual work, at a turn of the crank."""
    gamma, coupler = 0.8517, np.hypot(base, crank)
    spring = gamma * 2.65 * 200e9 * 0.01 * 0.0005**3 / 12 / length

    def turn(at):
        pin = np.array([0.0, length]) + crank * np.array([-np.sin(at), np.cos(at)])

        def gap(theta):
            foot = np.array([base, (1.0 - gamma) * length])
            return (
                np.linalg.norm(foot + gamma * length * np.array([-np.sin(theta), np.cos(theta)]) - pin)
                - coupler
            )

        return brentq(gap, -1.0, 1.0, xtol=1e-14)

    slope = (turn(angle + 1e-5) - turn(angle - 1e-5)) / 2e-5
    theta = turn(angle)
    tip = np.array([base, (1.0 - gamma) * length]) + gamma * length * np.array(
        [-np.sin(theta), np.cos(theta)]
    )
    return tip, spring * theta * slope


def driven_four_bar():
    mech = make.flexure_four_bar()
    mech.add_drive("motor", "crank pivot", position=bc.expression.t)
    return mech


def test_a_compliant_four_bar_by_howells_rocker():
    """Up to three radians either way. Moments to 4 %: by Howell a leaf is 2.65/0.8517 = 3.11 EI/L^3 stiff at
    its tip, where 3 is exact; tips to 0.2 % of the length.
    """
    mech = driven_four_bar()
    angles = np.concatenate([np.linspace(0.0, 3.0, 8), np.linspace(-0.1, -3.0, 8)])
    rests = [*stepped(mech, angles[:8]), *stepped(mech, angles[8:])]
    moments = np.array([rest.drives["motor"].effort for rest in rests])
    end = list(mech.bodies).index("leaf/8")
    tips = np.array([rest.state.position[end][:2] for rest in rests])
    expected = [pseudo_rigid(angle) for angle in angles]
    largest = np.abs(moments).max()
    assert largest > 0.03
    assert moments == pytest.approx([moment for _, moment in expected], abs=0.03 * largest)
    small = stepped(driven_four_bar(), [0.05])[0].drives["motor"].effort
    assert small / pseudo_rigid(0.05)[1] == pytest.approx(3.0 * 0.8517 / 2.65, rel=2e-3)
    assert tips == pytest.approx(np.array([tip for tip, _ in expected]), abs=2e-3 * 0.1)


def when(push):
    """The time at which a bistable snap is pushed down by a part of its rise."""
    return np.arccos(1.0 - push / 1.05) / (2.0 * np.pi)


def modes(Q):
    """Shallow clamped cosine beams by modes 1 - cos(N x), N = 2 pi, 6 pi, 10 pi, ..., as Qiu and others do.

    At the thrust N^2 = 16 pi^2, which the next mode bears alone: force (peak, trough) and push there, and how
    the force falls between them; by E I rise/span^3 and the rise.
    """
    number = np.arange(2, 8000, 4) * np.pi
    under = number**4 - 16.0 * np.pi**2 * number**2
    shape, per_force = np.where(number < 7.0, 0.5 * number**4, 0.0) / under, -4.0 / under
    full = 0.25 * (2.0 * np.pi) ** 2 / 4.0 - 16.0 * np.pi**2 / (12.0 * Q**2)
    sums = [
        np.sum(a * b * number**2) / 4.0 for a, b in ((per_force,) * 2, (shape, 2.0 * per_force), (shape,) * 2)
    ]
    forces = np.sort(np.roots([sums[0], sums[1], sums[2] - full]).real)[::-1]
    pushes = 1.0 - 2.0 * (shape.sum() + per_force.sum() * forces)
    return forces, pushes, -0.5 / per_force.sum()


def test_a_bistable_snap_by_its_modes():
    """Shallow and slender, to 1.5 % of the peak; what is published, of the first mode alone, to 8 %."""
    Q = 6.25
    mech = make.bistable_snap(SPAN, RISE, RISE / Q)
    unit = 2.8e9 * 0.01 * (RISE / Q) ** 3 / 12 * RISE / SPAN**3
    (peak, trough), (first, last), slope = modes(Q)
    pushes = np.array([0.05, first, 0.4, 0.8, 4.0 / 3.0, 1.7, last, 1.97])
    rests = stepped(mech, when(pushes))
    forces = np.array([-0.5 * rest.drives["push"].effort / unit for rest in rests])
    falling = peak + slope * (pushes[1:7] - first)
    assert forces[1:7] == pytest.approx(falling, abs=0.015 * peak)
    assert falling[3] == pytest.approx(0.0, abs=1e-2)
    assert forces[6] == pytest.approx(trough, abs=0.015 * peak)
    published = 8.0 * np.pi**4 - 6.0 * np.pi**4 * pushes[2:6]
    assert forces[2:6] == pytest.approx(published, abs=0.08 * 740.0)
    assert forces[1] == pytest.approx(740.0, rel=0.05)
    assert forces[6] == pytest.approx(-370.0, rel=0.1)
    assert forces[0] < forces[1]
    assert forces[7] > 0.0  # it has snapped through


def test_the_second_rest_of_a_bistable_snap():
    """Pushed beyond and let go it stays below, where the force vanishes again; pushed less it comes back."""
    for pushed, rests_at in ((1.0, 0.0), (1.95, 1.97)):
        mech = stepped(make.bistable_snap(), when(np.linspace(0.05, pushed, 12)))[-1].at
        mech.remove(mech.drives["push"])
        rest = bc.statics(mech)
        assert rest.equilibrium.stability == "stable"
        assert -rest.position["push"][1] / 0.003 == pytest.approx(rests_at, abs=0.03)


def test_a_gripper_by_pseudo_rigid_bodies():
    """Its ratio and stiffness for small pushes; both jaws alike for large ones."""
    mech = make.gripper()
    EI = 200e9 * 0.01 * 0.0002**3 / 12
    stiffness = 2.0 * (2.0 + 4.0) * EI / 0.02 / 0.01**2
    before = {name: np.array(mech.position_in_world(f"{name}.tip")) for name in ("upper", "lower")}
    for push, within in ((1e-5, 3e-3), (3e-4, 0.04)):
        twin = mech.copy()
        twin.add_force("push", bc.Wrench(force=(stiffness * push, 0, 0)), "plunger")
        rest = bc.statics(twin).at
        moved = rest.bodies["plunger"].position[0] - mech.bodies["plunger"].position[0]
        tips = {name: np.array(rest.position_in_world(f"{name}.tip")) - before[name] for name in before}
        assert moved == pytest.approx(push, rel=max(within, 6e-3))
        assert tips["upper"][1] / moved == pytest.approx(0.05 / 0.01, rel=within)
        assert tips["lower"] == pytest.approx(tips["upper"] * (1, -1, -1), abs=1e-5 * push)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make.cross_spring_pivot(angle=4.0, thickness=0.1), "angle, .* got 4.0; thickness"),
        (lambda: make.flexure_four_bar(crank=0.06), "crank must be less than half of length"),
        (lambda: make.bistable_snap(rise=0.02, thickness=0.01), "shallow, got 0.02; rise must be 2.31"),
        (lambda: make.gripper(arm=0.005, reach=0.001), "must be less than reach.*must be half of leaf"),
    ],
)  # fmt: skip
def test_refused_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
