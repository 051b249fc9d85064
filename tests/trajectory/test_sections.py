"""Section loads: closed forms, both sides of cuts, other formulations, and sums of what acts."""

from __future__ import annotations

import numpy as np
import pytest
from rigs import examples, floating
from rigs.forced_arm import arm

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank import gallery
from bellcrank.expression import rotation_z, translation
from bellcrank.mechanism import JOINT_KINDS
from bellcrank.mechanism.rotation_arrays import conjugate, rotate
from bellcrank.trajectory.loads import loads_on

G = 9.81
L, M = 2.0, 3.0
THIN = (1e-4, M * L**2 / 12.0 + 0.5e-4, M * L**2 / 12.0 + 0.5e-4)
A, B = (-L / 2, 0, 0), (L / 2, 0, 0)


SLOW = gallery.groups()["Compliant mechanisms"]  # of leaves, which are stiff: short steps


def beam(**options):
    """A uniform bar from x = 0 to x = L."""
    mech = bc.Mechanism("beam", **options)
    return mech, mech.add_body("beam", M, THIN, position=(L / 2, 0, 0))


def at_rest(mech, **options):
    return bc.simulate(mech, 1e-3, output_step=1e-3, **options)[:1]


def of_x(section):
    return section.distance, section.force[0], section.moment[0]


def test_a_cantilever_with_a_load_at_its_end():
    mech, bar = beam()
    mech.add_joint("weld", bc.Fixed(), mech.ground.marker(), bar.marker(A))
    mech.add_force("load", bc.Wrench(force=(5.0, 7.0, -20.0), moment=(3.0, 0.0, 0.0)), bar.marker(B))
    section = at_rest(mech).section("beam", A, B, 41)
    x, force, moment = of_x(section)
    rest = L - x
    np.testing.assert_allclose(
        force, np.column_stack([0 * x + 5, 0 * x + 7, -20 - M * G * rest / L]), atol=1e-10
    )
    about_y = 20.0 * rest + M * G / L * rest**2 / 2.0  # r x F = (rest, 0, 0) x (.., 7, -20)
    np.testing.assert_allclose(moment, np.column_stack([0 * x + 3, about_y, 7.0 * rest]), atol=1e-10)
    assert section.force_unique.all()
    assert section.moment_unique.all()
    worst = section.worst("bending")
    assert worst.value == pytest.approx(np.hypot(20 * L + M * G * L / 2, 7 * L))
    assert (worst.distance, worst.time) == (0.0, 0.0)


def test_a_simply_supported_beam():
    mech, bar = beam()
    mech.add_joint("left", bc.Spherical(), mech.ground.marker(), bar.marker(A))
    ahead = mech.ground.marker((L, 0, 0), axis="x")
    mech.add_joint("right", bc.PlungingConstantVelocity(), ahead, bar.marker(B, axis="x"))
    load, at = 50.0, 0.6
    mech.add_force("load", bc.Wrench(force=(0, 0, -load)), bar.marker((at - L / 2, 0, 0)))
    section = at_rest(mech).section("beam", A, B, 21)
    x, force, moment = of_x(section)
    assert list(x).count(at) == 2  # before and after the jump of the shear force
    left = load * (L - at) / L + M * G / 2.0
    shear = M * G * x / L - left + load * (np.arange(len(x)) > np.flatnonzero(x == at)[0])
    bending = M * G * x**2 / (2 * L) - left * x + load * np.maximum(x - at, 0.0)
    np.testing.assert_allclose(force[:, 2], shear, atol=1e-9)
    np.testing.assert_allclose(moment[:, 1], bending, atol=1e-9)
    np.testing.assert_allclose(force[:, :2], 0.0, atol=1e-9)
    assert section.force_unique.all()
    assert section.moment_unique.all()


def test_loads_that_redundant_joints_share_are_marked():
    mech, bar = beam()
    mech.add_joint("left", bc.Fixed(), mech.ground.marker(), bar.marker(A))
    mech.add_joint("right", bc.Fixed(), mech.ground.marker((L, 0, 0)), bar.marker(B))
    mech.add_joint(
        "hook",
        bc.Fixed(),
        bar.marker((0, 0, 0)),
        mech.add_body("hook", 1.0, (1, 1, 1), position=(L / 2, 0, 0)).marker(),
    )
    run = at_rest(mech)
    assert not run.section("beam", A, B).force_unique.any()
    assert not run.section("beam", A, B).moment_unique.any()
    assert run.section("hook", (-0.1, 0, 0), (0.1, 0, 0), mass="lump").moment_unique.all()


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
def test_a_rotating_rod_is_pulled(formulation):
    mech, bar = beam(gravity=(0, 0, 0))
    speed = 7.0
    mech.add_joint("hub", bc.Revolute(), mech.ground.marker(), bar.marker(A))
    mech.add_drive("motor", "hub", position=f"{speed}*t")
    run = bc.simulate(mech, 0.5, output_step=0.05, formulation=formulation)
    section = run.section("beam", A, B, 11)
    tension = M * speed**2 * (L**2 - section.distance**2) / (2 * L)
    np.testing.assert_allclose(section.axial, np.tile(tension, (len(run), 1)), rtol=1e-9, atol=1e-9)
    assert section.worst("tension").value == pytest.approx(M * speed**2 * L / 2)
    assert section.worst("compression").value == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(section.bending, 0.0, atol=1e-8)


def test_a_falling_chimney_bends():
    """M(x) = m g sin(theta) x (L - x)^2 / (4 L^2), largest at a third of its height."""
    mech = bc.Mechanism("chimney")
    bar = mech.add_body("bar", M, (M * L**2 / 12, M * L**2 / 12, 1e-9), position=(0, 0, L / 2))
    mech.add_joint(
        "foot",
        bc.Revolute(),
        mech.ground.marker(axis="y"),
        bar.marker((0, 0, -L / 2), axis="y"),
        position=0.3,
    )
    run = bc.simulate(mech, 0.6, method="dopri5", tolerance=1e-11, output_step=0.05)
    section = run.section("bar", (0, 0, -L / 2), (0, 0, L / 2), 31)
    x, lean = section.distance, run.joint("foot").position
    closed = M * G * np.sin(lean) * x * (L - x) ** 2 / (4 * L**2)
    np.testing.assert_allclose(np.abs(section.size("bending")), closed, atol=1e-8)
    assert section.worst().distance == pytest.approx(L / 3, abs=L / 60)
    across = M * G * np.sin(lean) / 4 * (1 - x / L) * (1 - 3 * x / L)
    np.testing.assert_allclose(section.size("shear"), np.abs(across), atol=1e-8)


def crank(**options):
    mech = gallery.slider_crank(0.3, 0.9, rod_mass=2.0, slider_mass=1.5)
    mech.add_drive("motor", "pivot", position="pi/4 + 20*t")
    options = {"output_step": 2e-3, "accelerations": True, **options}
    return bc.simulate(mech, 2 * np.pi / 20, **options)


def test_the_rod_of_a_slider_crank_by_integrals_from_its_other_end():
    """By recorded accelerations and the reaction at its start; Gauss's rule over what lies before cuts."""
    run = crank()
    rod, pin = run.body("rod"), run.joint("crank pin")
    start, end = (-0.45, 0.0, 0.0), (0.45, 0.0, 0.0)
    section = run.section("rod", start, end, 13)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    ux, uy = ((rod.point(tip) - rod.position) for tip in ((1, 0, 0), (0, 1, 0)))
    for k, x in enumerate(section.distance):
        cut = rod.point((start[0] + x, 0, 0))
        force, moment = -pin.force, -pin.moment - np.cross(rod.point(start) - cut, pin.force)
        for node, weight in zip(nodes, weights, strict=True):
            point = (start[0] + x * (1 + node) / 2, 0.0, 0.0)
            own = 2.0 / 0.9 * weight * x / 2 * (rod.point_acceleration(point) - [0, -9.81, 0])
            force = force + own
            moment = moment + np.cross(rod.point(point) - cut, own)
        size = np.abs(section.force).max()
        np.testing.assert_allclose(section.axial[:, k], np.sum(force * ux, axis=1), atol=1e-9 * size)
        np.testing.assert_allclose(section.shear[:, k, 0], np.sum(force * uy, axis=1), atol=1e-9 * size)
        np.testing.assert_allclose(section.bending[:, k, 1], moment[:, 2], atol=1e-9 * size)


@pytest.mark.parametrize("formulation", ["recursive", "symbolic", "dca"])
def test_formulations_agree_on_the_rod_of_a_slider_crank(formulation):
    start, end = (-0.45, 0.0, 0.0), (0.45, 0.0, 0.0)
    sections = [
        crank(formulation=name, method="dopri5", tolerance=1e-12).section("rod", start, end, 7)
        for name in ("lagrange", formulation)
    ]
    size = np.abs(sections[0].force).max()
    np.testing.assert_allclose(sections[1].force, sections[0].force, atol=1e-9 * size)
    np.testing.assert_allclose(sections[1].moment, sections[0].moment, atol=1e-9 * size)


@pytest.fixture(scope="module")
def arms():
    options = {"method": "dopri5", "tolerance": 1e-12, "output_step": 0.02, "accelerations": True}
    return {name: bc.simulate(arm(), 0.4, formulation=name, **options) for name in ("lagrange", "recursive")}


def unbalanced(run):
    """What all loads on each body have beyond the rates of its momenta, relative to their sizes."""
    model, worst = run.origin.model, 0.0
    for number, body in enumerate(run.bodies):
        total, sizes = np.zeros((len(run), 6)), np.zeros((len(run), 6))
        for load in loads_on(body, model, run.layout, run.store):
            load.add_to(total)
            np.add.at(sizes, slice(None) if load.frames is None else load.frames, np.abs(load.wrench))
        history, mass, inertia = run.body(body), model.mass[number], model.inertia[number]
        back = conjugate(history.rotation)
        spin, turned = (rotate(back, x) for x in (history.angular_velocity, history.angular_acceleration))
        needed = mass * rotate(back, history.com_acceleration - model.gravity)
        gained = turned @ inertia + np.cross(spin, spin @ inertia)
        left = total - np.concatenate([gained + np.cross(history.com, needed), needed], axis=1)
        size = 1e-6 + np.abs(sizes).max() + np.abs(np.concatenate([gained, needed], axis=1)).max()
        worst = max(worst, float(np.abs(left).max()) / size)
    return worst


def recorded(mech, **options):
    options = {"formulation": "lagrange", "output_step": 0.01, "accelerations": True, **options}
    return bc.simulate(mech, 0.05, **options)


def test_all_loads_on_a_body_give_it_its_acceleration(arms):
    assert unbalanced(arms["lagrange"]) < 1e-10
    assert unbalanced(arms["recursive"]) < 1e-10


@pytest.mark.parametrize("name", [n for n in JOINT_KINDS if n != "Free"])
def test_all_loads_count_of_joints(name):
    assert unbalanced(recorded(floating.pair(examples.joint(name), seed=2, hung=True).mechanism)) < 1e-9


@pytest.mark.parametrize(
    ("kind", "ends"),
    [case[1:] for case in examples.constraints()],
    ids=[case[0] for case in examples.constraints()],
)
def test_all_loads_count_of_constraints(kind, ends):
    rig = floating.carried if getattr(kind, "closed", False) else floating.constrained
    assert unbalanced(recorded(rig(kind, ends, seed=2).mechanism)) < 1e-9


@pytest.mark.parametrize("name", sorted(set(gallery.catalogue()) - set(SLOW)))
def test_all_loads_count_in_the_gallery(name):
    assert unbalanced(recorded(gallery.catalogue()[name]())) < 1e-8


def test_all_loads_count_of_formulas():
    mech = bc.Mechanism("written")
    u = bc.symbol("u")
    coil = bc.CustomJoint(
        (u,), translation(0.2 * ex.cos(u), 0.3 * ex.sin(u), 0.1 * u) @ rotation_z(u), units="rad"
    )
    one, two = (mech.add_body(name, 1.0, (0.1, 0.2, 0.3), com=(0.1, 0, 0.05)) for name in ("one", "two"))
    mech.add_joint("coil", coil, mech.ground, one.marker((0.1, 0.2, 0)))
    mech.add_joint("hinge", bc.Spherical(), one.marker((0.3, 0, 0)), two)
    p = bc.EndPose("p")
    wavy = bc.CustomConstraint(p, p.position.z - 0.1 * ex.sin(p.position.x))
    mech.add_constraint("wavy", wavy, two.marker((0.1, 0, 0.2)))
    mech.add_force("coiled", bc.TorsionSpring(2.0, 0.1), "coil")
    bc.assemble(mech)
    assert unbalanced(recorded(mech)) < 1e-9


def test_cuts_from_the_other_side_give_the_opposite(arms):
    start, end, up = (-0.5, 0.0, 0.0), (0.4, 0.0, 0.02), (0, 0, 1)
    for run in arms.values():
        one = run.section("rod", start, end, [0.1, 0.33, 0.52, 0.8], up=up, mass="lump")
        other = run.section(
            "rod",
            end,
            start,
            one.distance[-1] + 0.0 - one.distance + (np.hypot(0.9, 0.02) - 0.8),
            up=up,
            mass="lump",
        )
        turned = np.array([-1.0, -1.0, 1.0])  # x and y of the sections point back
        np.testing.assert_allclose(other.force * turned, -one.force, atol=1e-9)
        np.testing.assert_allclose(other.moment * turned, -one.moment, atol=1e-9)


def test_formulations_agree_where_every_force_acts(arms):
    one, other = (run.section("rod", (-0.5, 0, 0), (0.4, 0, 0), mass="lump") for run in arms.values())
    np.testing.assert_allclose(other.force, one.force, atol=1e-7)
    np.testing.assert_allclose(other.moment, one.moment, atol=1e-7)


def test_a_load_moves_with_what_slides():
    mech, rail = beam()
    mech.add_joint("weld", bc.Fixed(), mech.ground.marker(), rail.marker(A))
    cart = mech.add_body("cart", 4.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    mech.add_joint(
        "slide", bc.Prismatic(), rail.marker(A, axis="x"), cart.marker(axis="x"), position=0.5, velocity=1.0
    )
    run = bc.simulate(mech, 1.0, output_step=0.1)
    section = run.section("beam", A, B, [0.0, 0.8])
    x = 0.5 + run.time
    own = M * G * L / 2, M * G / L * 1.2**2 / 2
    np.testing.assert_allclose(section.bending[:, 0, 0], own[0] + 4.0 * G * x, atol=1e-9)
    np.testing.assert_allclose(
        section.bending[:, 1, 0], own[1] + 4.0 * G * np.maximum(x - 0.8, 0.0), atol=1e-9
    )


def test_massless_rods_pull_at_their_ends():
    mech, bar = beam()
    mech.add_joint("hinge", bc.Spherical(), mech.ground.marker(), bar.marker(A))
    mech.add_joint("stay", bc.Distance(), bar.marker((0.5, 0, 0)), mech.ground.marker((0.0, 0, 1.5)))
    section = at_rest(mech).section("beam", A, B, 11)
    x, force, _ = of_x(section)
    pull = M * G * (L / 2) / 1.5 * np.sqrt(2.0)  # at 45 degrees
    np.testing.assert_allclose(force[x > 1.5 + 1e-9, 0], 0.0, atol=1e-9)
    np.testing.assert_allclose(force[x < 1.5, 0], -pull / np.sqrt(2.0), atol=1e-9)


def test_contacts_load_a_beam_where_they_touch():
    mech = bc.Mechanism("plank")
    plank = mech.add_body("plank", shapes=[bc.Box(size=(L, 0.4, 0.1), density=600.0)], position=(L / 2, 0, 0))
    mech.add_joint("weld", bc.Fixed(), mech.ground.marker(), plank.marker(A))
    solid = bc.Sphere(radius=0.1, density=2000.0)
    ball = mech.add_body("ball", shapes=[solid], position=(0.71, 0, 0.15), velocity=(1.0, 0, 0))
    mech.add_force("touch", bc.Contact(1e6, dissipation=1.0), plank, ball)
    run = bc.simulate(mech, 1.0, method="dopri5", output_step=0.05)
    section = run.section("plank", A, B, [0.0, 1.0])
    push = run.force("touch").wrench("plank")[:, 5]
    at = run.body("ball").position[:, 0]
    mass = 600.0 * L * 0.4 * 0.1
    np.testing.assert_allclose(section.force[:, 0, 2], push - mass * G, atol=1e-7)
    np.testing.assert_allclose(
        section.force[:, 1, 2], np.where(at > 1.0, push, 0.0) - mass * G / 2, atol=1e-7
    )
    with pytest.raises(bc.MechanismError, match="resampled"):
        run.resample(step=0.1).section("plank", A, B)


def test_where_the_mass_is():
    mech = bc.Mechanism("two")
    solids = [
        bc.Box(size=(1.0, 0.1, 0.1), density=1000.0),
        bc.Sphere(radius=0.2, density=2000.0, position=(0.5, 0, 0)),
    ]
    mace = mech.add_body("mace", shapes=solids)
    weld = mech.add_joint("weld", bc.Fixed(), mech.ground.marker((-0.5, 0, 0)), mace.marker((-0.5, 0, 0)))
    odd = mech.add_body("odd", 1.0, (0.1, 0.1, 0.1), com=(0.1, 0, 0), position=(3, 0, 0))
    mech.add_joint("other", bc.Fixed(), mech.ground.marker((3, 0, 0)), odd.marker())
    run = at_rest(mech)
    section = run.section("mace", (-0.5, 0, 0), (0.5, 0, 0), [0.0, 0.5, 1.0])
    ball = 2000.0 * 4 / 3 * np.pi * 0.2**3
    np.testing.assert_allclose(
        section.force[0, :, 2], -G * np.array([10.0 + ball, 5.0 + ball, ball / 2]), rtol=1e-9
    )
    assert section.moment[0, 2, 1] == pytest.approx(G * ball / 2 * 3 / 8 * 0.2)
    with pytest.raises(bc.MechanismError, match="body 'odd': it is not known where along it its mass is"):
        run.section("odd", (0, 0, 0), (1, 0, 0))
    with pytest.raises(bc.MechanismError, match="a uniform bar from start to end has another inertia"):
        run.section("odd", (-0.4, 0, 0), (0.6, 0, 0), mass="bar")
    lump = run.section("odd", (0, 0, 0), (1, 0, 0), [0.05, 0.15], mass="lump")
    np.testing.assert_allclose(lump.force[0, :, 2], [-G, 0.0], atol=1e-12)
    assert weld.name == "weld"


def test_faults_name_what_is_wrong():
    run = crank()
    with pytest.raises(bc.MechanismError, match="body 'rood'"):
        run.section("rood", (0, 0, 0), (1, 0, 0))
    with pytest.raises(bc.MechanismError, match="fewer than two places"):
        run.section("slider")
    with pytest.raises(bc.MechanismError, match="same point"):
        run.section("rod", (0, 0, 0), (0, 0, 0))
    with pytest.raises(bc.MechanismError, match="up must not be along"):
        run.section("rod", (0, 0, 0), (1, 0, 0), up=(2, 0, 0))
    with pytest.raises(bc.MechanismError, match="cuts"):
        run.section("rod", (-0.45, 0, 0), (0.45, 0, 0), 1)
    with pytest.raises(bc.MechanismError, match="mass"):
        run.section("rod", (-0.45, 0, 0), (0.45, 0, 0), mass="rod")
    with pytest.raises(bc.MechanismError, match="the load"):
        run.section("rod", (-0.45, 0, 0), (0.45, 0, 0)).worst("bend")
    with pytest.raises(bc.MechanismError, match="simulate with reactions=True"):
        crank(reactions=False).section("rod", (-0.45, 0, 0), (0.45, 0, 0))


def test_of_files_parts_and_no_frames(tmp_path):
    run = crank()
    start, end = (-0.45, 0.0, 0.0), (0.45, 0.0, 0.0)
    np.testing.assert_allclose(run.section("rod").force, run.section("rod", start, end).force, atol=1e-9)
    run.save(tmp_path / "run.h5")
    one, other = (
        run.section("rod", start, end),
        bc.Trajectory.load(tmp_path / "run.h5").section("rod", start, end),
    )
    np.testing.assert_array_equal(one.force, other.force)
    np.testing.assert_allclose(run[5:9].section("rod", start, end).moment, one.moment[5:9], atol=1e-12)
    assert run[:0].section("rod", start, end).force.shape == (0, 51, 3)
    with pytest.raises(bc.MechanismError, match="no frames"):
        run[:0].section("rod", start, end).worst()


def test_inverse_dynamics_has_the_loads_of_the_run():
    mech = gallery.slider_crank(0.3, 0.9, rod_mass=2.0, slider_mass=1.5)
    mech.add_drive("motor", "pivot", position="pi/4 + 20*t")
    inverse = bc.inverse_dynamics(mech, 0.1, step=0.02).section("rod")
    forward = bc.simulate(mech, 0.1, output_step=0.02, method="dopri5", tolerance=1e-12).section("rod")
    np.testing.assert_allclose(inverse.force, forward.force, atol=1e-6)
    np.testing.assert_allclose(inverse.moment, forward.moment, atol=1e-6)
    assert not inverse.force_unique.any()


def test_a_ball_in_a_tube_leaves_nothing_to_redundant_joints():
    mech = gallery.slider_crank(0.3, 0.9)
    mech.remove(mech.joints["slider pin"])
    rod, slider = mech.bodies["rod"], mech.bodies["slider"]
    mech.add_joint("tube", bc.PointOnLine(), slider.marker(), rod.marker((0.45, 0, 0)))
    section = bc.simulate(mech, 0.05).section("rod")
    assert section.force_unique.all()
    assert section.moment_unique.all()


def test_a_line_across_the_body_is_refused():
    """The frame of a rod has z along it: by a line along x all of its mass would lie at one end."""
    mech = bc.Mechanism("pendulum")
    mech.add_rod("rod", (0, 0, 0), (1, 0, 0), radius=0.02)
    mech.join("pin", bc.Revolute(), ["ground", "rod"], at=(0, 0, 0), axis="y")
    run = bc.simulate(mech, 0.01)
    with pytest.raises(bc.MechanismError, match=r"its centre of mass is 0\.5 m beside the line"):
        run.section("rod", (0, 0, 0), (1, 0, 0))
    along = run.section("rod", (0, 0, 0), (0, 0, 1)).worst("bending")
    assert along.value == pytest.approx(
        mech.bodies["rod"].mass * 9.81 / 27.0, rel=1e-3
    )  # at a third, by d'Alembert
