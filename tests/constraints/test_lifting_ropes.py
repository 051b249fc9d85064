"""Ropes that leave wheels and come back: a weight that swings against a peg, against pieces of its motion."""

import numpy as np
import pytest
from rigs.ropes import FORMULATIONS, G

import bellcrank as bc

PEG, R = np.array([0.0, -1.0]), 0.05
SURE = {"method": "dopri5", "tolerance": 1e-10}


def way(point):
    """Length from the origin over the right side of the peg to a point x, z, and the arc."""
    to, first = point - PEG, np.arcsin(R)
    second = np.arctan2(to[0], -to[1]) - np.arcsin(R / np.hypot(*to))
    arc = first - second
    if arc < 0.0:
        return np.hypot(*point), arc
    return np.sqrt(1.0 - R**2) + R * arc + np.sqrt(to @ to - R**2), arc


def swung(kind, **given):
    """A weight on a rope from the origin past the right side of a peg, which it lies on at the start."""
    mech = bc.Mechanism("peg")
    along = np.array([np.sin(-0.8), -np.cos(-0.8)])
    at = PEG + R * np.array([-along[1], along[0]]) + along
    bob = mech.add_body("bob", 1.0, (0, 0, 0), position=(at[0], 0, at[1]))
    ends = mech.ground.marker(), mech.ground.marker((0, 0, -1), z_axis="y"), bob
    add = mech.add_force if kind is bc.ElasticRope else mech.add_constraint
    add("rope", kind((0.0, R, 0.0), **given), *ends)
    return mech


def ways(run):
    return np.array([way(point) for point in run.body("bob").position[:, [0, 2]]]).T


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_weight_swings_against_a_peg(formulation):
    """Its length stays, on the peg and off it, and so does its energy; both ways are found as events."""
    run = bc.simulate(swung(bc.Rope, leaves=(2,)), 4.0, formulation=formulation, **SURE)
    length, arc = ways(run)
    assert arc.min() < -0.8
    assert arc.max() > 0.8
    assert np.ptp(length) < 1e-11
    assert np.ptp(run.energy.total) < 1e-7
    assert [event.name for event in run.events] == [
        f"rope {w} wheel 2" for w in ("leaves", "touches", "leaves")
    ]
    for event in run.events:
        assert way(event.state.position[0, [0, 2]])[1] == pytest.approx(0.0, abs=1e-12)


def test_it_moves_as_its_pieces_do():
    """On the peg as a rope that stays there, up to where it lifts off; then as a rod from the nail."""
    run = bc.simulate(swung(bc.Rope, leaves=(2,)), 1.8, **SURE)
    lifts = run.events[0].time
    staying = swung(bc.Rope)
    up_to = bc.simulate(staying, lifts - 1e-9, **SURE)
    state = up_to.final_state if hasattr(up_to, "final_state") else up_to.at(lifts - 1e-9)
    free = bc.Mechanism("free")
    bob = free.add_body("bob", 1.0, (0, 0, 0), position=state.position[0], velocity=state.velocity[0])
    free.add_joint("rod", bc.Distance(), free.ground.marker(), bob)
    after = bc.simulate(free, 1.2, **SURE)
    for t in (0.3, 0.9, 1.2):
        there = run.at(lifts + t)
        assert there.position[0] == pytest.approx(after.at(t).position[0], abs=1e-6)
    assert run.at(0.5).position[0] == pytest.approx(up_to.at(0.5).position[0], abs=1e-8)


def test_the_tension_off_the_peg_is_that_of_a_pendulum():
    run = bc.simulate(swung(bc.Rope, leaves=(2,)), 1.0, output_step=1e-4, accelerations=True, **SURE)
    tension, arc = run.constraint("rope").effort, ways(run)[1]
    off = np.flatnonzero(arc < 0.0)[0]
    speed = np.linalg.norm(run.body("bob").velocity[off])
    at = run.body("bob").position[off, [0, 2]]
    expected = speed**2 / np.hypot(*at) - G * at[1] / np.hypot(*at)
    assert tension[off] == pytest.approx(expected, rel=1e-4)
    assert bc.verify(
        swung(bc.Rope, leaves=(2,)), bc.simulate(swung(bc.Rope, leaves=(2,)), 1.0, **SURE)
    ).passed


@pytest.mark.parametrize("damping", [0.0, 20.0])
def test_an_elastic_rope_leaves_too(damping):
    mech = swung(bc.ElasticRope, stiffness=1e4, leaves=(2,), damping=damping)
    run = bc.simulate(mech, 3.0, **SURE)
    length, arc = ways(run)
    assert arc.min() < -0.5
    stretch = np.maximum(0.0, length - length[0])
    if not damping:
        assert run.force("rope").quantity("tension") == pytest.approx(1e4 * stretch / length[0], abs=1e-7)
        assert np.ptp(run.energy.total) < 1e-6
    else:
        assert np.all(
            np.diff(
                run.energy.kinetic + G * run.body("bob").position[:, 2] + 0.5 * 1e4 * stretch**2 / length[0]
            )
            < 1e-6
        )
    assert "rope leaves wheel 2" in [event.name for event in run.events]


def test_a_rope_lifts_off_between_two_wheels():
    """Arcs of the neighbours change with it: a lid on a rope over two rollers is raised from a third one."""
    mech = bc.Mechanism("rollers")
    ends = [mech.ground.marker((x, 0, 0), z_axis="y") for x in (-1.0, 1.0)]
    roller = mech.add_body("roller", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("lift", bc.Prismatic(), mech.ground, roller, position=0.1)
    mech.add_drive("up", "lift", position="0.1 - 0.21*t")
    loads = []
    for name, x in (("one", -1.2), ("two", 1.2)):
        load = mech.add_body(name, 2.0, (0.1, 0.1, 0.1), position=(x, 0, -2))
        mech.add_joint(f"guide {name}", bc.Prismatic(), mech.ground.marker((x, 0, -2)), load)
        loads.append(load)
    held = mech.add_drive("held", "guide one", position=0.0)
    assert held
    way = (loads[0], ends[0], roller.marker(z_axis="y"), ends[1], loads[1])
    mech.add_constraint("rope", bc.Rope((0.0, 0.2, 0.2, 0.2, 0.0), leaves=(3,)), *way)
    run = bc.simulate(mech, 1.0, **SURE)
    name, time = run.events[0].name, run.events[0].time
    assert (name, round(time, 9)) == ("rope leaves wheel 3", round(0.1 / 0.21, 9))
    up = run.joint("lift").position[:, 0]
    over = 2.0 * np.sqrt(
        1.0 + np.maximum(up, 0.0) ** 2
    )  # wheels of one size: arcs are those of their directions
    sunk = run.joint("guide two").position[:, 0]
    assert sunk - sunk[0] == pytest.approx(over - over[0], abs=1e-10)
    assert bc.rope_path(mech, "rope", run.at(0.9)).length == pytest.approx(
        bc.rope_path(mech, "rope").length, abs=1e-10
    )
    off = bc.rope_path(mech, "rope", run.at(0.9))
    assert off.wraps[2] == 0.0
    assert off.straight[1:3, :, 2].ravel() == pytest.approx([0.2] * 4, abs=1e-12)
    assert bc.verify(mech, run).passed


SPEED = 1.3


def unwinding(wrap=0.7, free=0.8):
    """Without weight the bob goes on an involute of the peg with one speed, then around the nail.

    With its free length l and the angle of wrap b,  l' = -R b' = R v/l. It leaves where l = l0 + R b0.
    """
    mech = bc.Mechanism("unwinding", gravity=(0, 0, 0))
    first = np.arcsin(R)  # the direction of the part before the peg, from straight down
    along = np.array([np.sin(first - wrap), -np.cos(first - wrap)])
    out = np.array([-along[1], along[0]])
    at = PEG + R * out + free * along
    velocity = (SPEED * out[0], 0, SPEED * out[1])
    bob = mech.add_body("bob", 1.0, (0, 0, 0), position=(at[0], 0, at[1]), velocity=velocity)
    peg = mech.ground.marker((0, 0, -1), z_axis="y")
    mech.add_constraint("rope", bc.Rope((0.0, R, 0.0), leaves=(2,)), mech.ground.marker(), peg, bob)
    time = ((free + R * wrap) ** 2 - free**2) / (2 * R * SPEED)
    length = np.sqrt(1.0 - R**2) + R * wrap + free
    turned = first + SPEED * 0.5 / length
    return mech, time, length * np.array([np.sin(turned), 0.0, -np.cos(turned)])


@pytest.mark.parametrize(
    ("method", "options", "time_error", "error"),
    [
        *((name, {"tolerance": 1e-11}, 1e-9, 1e-9) for name in ("dopri5", "adams", "bdf", "esdirk")),
        ("rk4", {"step": 2e-3}, 1e-9, 1e-11),
        ("moreau", {"step": 2e-4}, 2e-8, 4e-8),
        ("semi_implicit_euler", {"step": 5e-4}, 1e-4, 4e-4),
    ],
)
def test_steps_end_where_it_leaves(method, options, time_error, error):
    """Half a second later it is where the closed form says, to the order of the method."""
    mech, time, there = unwinding()
    run = bc.simulate(mech, time + 0.5, method=method, **options)
    (event,) = run.events
    assert event.name == "rope leaves wheel 2"
    assert event.time == pytest.approx(time, abs=time_error)
    assert run.body("bob").position[-1] == pytest.approx(there, abs=error)


def test_methods_keep_their_order():
    """rk4 at a quarter of the step, swinging onto the peg and off it: as where nothing changes."""
    ends = [
        bc.simulate(swung(bc.Rope, leaves=(2,)), 2.4, method="rk4", step=step).body("bob").position[-1]
        for step in (8e-3, 4e-3, 2e-3, 5e-4)
    ]
    errors = [np.linalg.norm(one - ends[-1]) for one in ends[:-1]]
    assert errors[0] / errors[1] > 10.0
    assert errors[1] / errors[2] > 10.0


def test_without_it_the_run_ends_by_name():
    with pytest.raises(bc.SimulationError, match="it lifts off the wheel at end 2"):
        bc.simulate(swung(bc.Rope), 2.0)


def test_faults():
    with pytest.raises(bc.MechanismError, match="leaves names end 1, which is no wheel between the ends"):
        bc.Rope((0.0, 0.2, 0.0), leaves=(1,))
    with pytest.raises(bc.MechanismError, match="leaves names the ends 2 and 3, which are neighbours"):
        bc.Rope((0.0, 0.2, 0.2, 0.0), leaves=(2, 3))
    with pytest.raises(bc.MechanismError, match="leaves names end 2, on which it does not slide freely"):
        bc.Rope((0.0, 0.2, 0.0), gripped=(2,), leaves=(2,))
    with pytest.raises(bc.MechanismError, match="cannot be slack, in layers or rough"):
        bc.Rope((0.0, 0.2, 0.0), slack=True, leaves=(2,))
    with pytest.raises(bc.MechanismError, match="a rope that leaves wheels cannot be rough"):
        bc.ElasticRope((0.0, 0.2, 0.2, 0.0), 1e4, rough=2, coefficient=0.2, leaves=(3,))
