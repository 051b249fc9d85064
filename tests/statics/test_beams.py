"""Beams at rest against closed forms and the elastica by shooting: shape, buckling, loads of sections."""

import numpy as np
import pytest
from rigs.cosserat import clamped

import bellcrank as bc
from bellcrank.mechanism.rotation import about, from_rotation_vector, multiply, rotate


def cantilever(segments, EA=1e5, GA=None, EI=1.0, GJ=1.0, gravity=0.0, force=None, **given):
    """A beam of length 1 and of mass 1 along x that is clamped at the origin, loaded at its tip."""
    mech = bc.Mechanism("cantilever", gravity=(0, 0, -gravity))
    section = bc.Section.general(EA=EA, GA=EA if GA is None else GA, GJ=GJ, EI=EI, mass_per_length=1.0)
    beam = mech.add_beam("beam", section, start="ground", end=(1, 0, 0), segments=segments, **given)
    if force is not None:
        mech.add_force("load", bc.Wrench(force=force), beam.marker(1.0))
    return mech, beam


def tip(mech, beam):
    """The position of the tip at rest; the mechanism is moved there."""
    bc.find_equilibrium(mech, tolerance=1e-9)
    return np.array(mech.bodies[beam.nodes[-1]].position)


@pytest.mark.parametrize("turn", [0.5 * np.pi, np.pi])
@pytest.mark.parametrize("segments", [4, 8])
@pytest.mark.parametrize("about_axis", ["y", "z"])
def test_an_end_moment_bends_it_to_an_arc(turn, segments, about_axis):
    """The arc, anywhere in space, is in balance with two moments at its ends, to rounding."""
    rng = np.random.default_rng(segments)
    place, pose = rng.normal(size=3), from_rotation_vector(tuple(rng.normal(size=3)))
    mech = bc.Mechanism("arc", gravity=(0, 0, 0))
    section = bc.Section.general(EA=1e3, GA=(4e2, 5e2), GJ=2.0, EI=(3.0, 1.5), mass_per_length=1.0)
    beam = mech.add_beam("beam", section, start=(0, 0, 0), end=(1, 0, 0), segments=segments)
    axis = np.eye(3)["xyz".index(about_axis)]
    stiffness = section.EI["yz".index(about_axis)]
    for k, name in enumerate(beam.nodes):
        angle = turn * k / segments
        sideways = np.cross(axis, (1, 0, 0))
        arc = (np.sin(angle) * np.array((1.0, 0, 0)) + (1 - np.cos(angle)) * sideways) / turn
        mech.replace(
            mech.bodies[name],
            position=place + rotate(pose, tuple(arc)),
            rotation=multiply(pose, about(tuple(axis), angle)),
        )
    for sign, node in ((-1, 0), (1, -1)):
        moment = sign * stiffness * turn * np.array(rotate(pose, tuple(axis)))
        mech.add_force(f"moment {node}", bc.Wrench(moment=moment), beam.nodes[node])
    found = bc.prepare(mech, "lagrange").accelerate()
    masses = [mech.bodies[name].mass for name in beam.nodes]
    inertia = mech.bodies[beam.nodes[0]].inertia[1][1]
    assert np.array(masses)[:, None] * found.linear == pytest.approx(0.0, abs=1e-11 * 1e3)
    assert found.angular == pytest.approx(0.0, abs=1e-11 * stiffness * turn / inertia)
    loads = bc.statics(mech, pinned=beam.nodes).beam("beam")
    expected = stiffness * turn * axis
    assert loads.moment([0.0, 0.3, 1.0])[0] == pytest.approx(np.tile(expected, (3, 1)), abs=1e-9)
    assert loads.force([0.0, 0.3, 1.0])[0] == pytest.approx(0.0, abs=1e-9)
    assert loads.strain_energy[0] == pytest.approx(0.5 * stiffness * turn**2, rel=1e-12)


@pytest.mark.parametrize(("load", "error"), [(1.0, 2e-6), (10.0, 6e-5)])
def test_the_elastica_is_of_fourth_order(load, error):
    exact = clamped(1.0, 1e5, 1e5, force=(0.0, load))
    assert exact[1] == pytest.approx({1.0: 0.301731, 10.0: 0.810709}[load], abs=1e-6)
    missed = []
    for segments in (4, 8, 16):
        place = tip(*cantilever(segments, force=(0, 0, load)))
        missed.append(np.linalg.norm(place[[0, 2]] - exact[:2]))
        assert place[1] == pytest.approx(0.0, abs=1e-9)
    assert missed[1] < error
    assert missed[0] / missed[1] > 11.0
    assert missed[1] / missed[2] > 11.0


def test_a_beam_that_is_soft_in_shear():
    exact = clamped(1.0, 50.0, 20.0, force=(1.0, 4.0))
    place = tip(*cantilever(8, EA=50.0, GA=20.0, force=(1.0, 0, 4.0)))
    assert place[[0, 2]] == pytest.approx(exact[:2], abs=2e-5)


def test_own_weight():
    """Its tip falls by 0.89 of the length."""
    exact = clamped(1.0, 1e6, 1e6, weight=(0.0, -40.0))
    missed = [
        np.linalg.norm(tip(*cantilever(segments, EA=1e6, gravity=40.0))[[0, 2]] - exact[:2])
        for segments in (8, 16, 32)
    ]
    assert missed[1] < 3e-5
    assert missed[0] / missed[1] > 11.0
    assert missed[1] / missed[2] > 13.0


@pytest.mark.parametrize(("part", "stability"), [(0.995, "stable"), (1.005, "unstable")])
@pytest.mark.parametrize("segments", [4, 8])
def test_eulers_load(part, stability, segments):
    mech, _ = cantilever(segments, EA=1e6, force=(-part * np.pi**2 / 4, 0, 0))
    assert bc.find_equilibrium(mech, leave_unstable=False).stability == stability


def test_princeton():
    """The Princeton beam experiment, 13.345 N at 45 degrees; the places are those of shooting."""
    width, height, shear = 3.2024e-3, 12.377e-3, 71.7e9 / 2.62
    mech = bc.Mechanism("princeton", gravity=(0, 0, 0))
    section = bc.Section.rectangle(height, width, E=71.7e9, nu=0.31, density=2800.0)
    assert pytest.approx(shear * 0.836 * height * width**3 / 3, rel=2e-3) == section.GJ
    beam = mech.add_beam("beam", section, start="ground", end=(0.508, 0, 0), segments=8)
    load = 13.345 * np.sqrt(0.5)
    mech.add_force("load", bc.Wrench(force=(0, load, load)), beam.marker(0.508))
    found = tip(mech, beam)
    assert found == pytest.approx((0.477639, 0.015342, 0.156588), abs=2e-6)


def test_loads_of_sections_are_those_of_the_elastica():
    """Under a load at the tip and its weight: moments balance, and forces are those beyond, everywhere."""
    weight, pull = 6.0, (1.0, 0.0, -2.0)
    mech, _ = cantilever(8, EA=1e4, gravity=weight, force=pull)
    rest = bc.statics(mech)
    beam = rest.beam("beam")
    s = np.linspace(0.0, 1.0, 33)
    place, force, moment = beam.position(s)[0], beam.force(s)[0], beam.moment(s)[0]
    assert moment[0] == pytest.approx(-rest.joints["beam/start"].moment, abs=1e-7)
    assert force[0] == pytest.approx(-rest.joints["beam/start"].force, abs=1e-7)
    assert np.linalg.norm(force, axis=1) == pytest.approx(np.hypot(1.0, -2.0 - (1.0 - s) * weight), rel=2e-5)
    fine = np.linspace(0.0, 1.0, 4001)
    axis = beam.position(fine)[0]
    for k, at in enumerate(s):
        beyond = fine >= at
        spread = np.trapezoid(axis[beyond, 0] - place[k, 0], fine[beyond])
        last = axis[-1] - place[k]
        by_hand = weight * spread + 2.0 * last[0] + 1.0 * last[2]
        assert moment[k, 1] == pytest.approx(by_hand, abs=2e-3)
    assert moment[-1] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("segments", [2, 3, 4, 6, 8])
def test_loads_of_a_stiff_beam_are_exact(segments):
    """Shear is linear and bending quadratic under its weight, at nodes and between them."""
    mech, _ = cantilever(segments, EA=1e7, EI=1e3, GJ=1e3, gravity=1.0)
    beam = bc.statics(mech).beam("beam")
    s = np.linspace(0.0, 1.0, 13)
    assert beam.force(s)[0, :, 2] == pytest.approx(-(1.0 - s), abs=1e-5)
    assert beam.moment(s)[0, :, 1] == pytest.approx(0.5 * (1.0 - s) ** 2, abs=1e-5)
    assert beam.deflection(1.0)[0, 2] == pytest.approx(
        -1.0 / 8e3 - 0.5e-7, rel=2e-2 if segments < 6 else 1e-4
    )
    assert beam.curvature(0.25)[0, 1] == pytest.approx(0.5 * 0.75**2 / 1e3, rel=1e-4)


def test_loads_beside_a_support_within():
    """A beam on a post in its middle: the shear jumps there, and the moments are those of two cantilevers."""
    mech = bc.Mechanism("beam", gravity=(0, 0, -1.0))
    section = bc.Section.general(EA=1e7, GA=1e7, GJ=1e3, EI=1e3, mass_per_length=1.0)
    beam = mech.add_beam("beam", section, start=(0, 0, 0), end=(2, 0, 0), segments=7, stations=(0.8,))
    mech.add_joint("post", bc.Fixed(), mech.ground.marker((0.8, 0, 0)), beam.marker(0.8))
    found = bc.statics(mech).beam("beam")
    assert found.force([0.0, 0.4, 0.7999999])[0, :, 2] == pytest.approx([0.0, 0.4, 0.8], abs=1e-5)
    assert found.force([0.8, 1.4, 2.0])[0, :, 2] == pytest.approx([-1.2, -0.6, 0.0], abs=1e-5)
    assert found.moment([0.4, 0.7999999, 0.8, 1.4])[0, :, 1] == pytest.approx(
        [0.08, 0.32, 0.72, 0.18], abs=1e-5
    )


def test_what_is_asked_of_a_beam():
    mech, _ = cantilever(4, gravity=1.0)
    beam = bc.statics(mech).beam("beam")
    assert repr(beam) == "<beam 'beam': 5 nodes, 1 frames>"
    assert beam.position().shape == (1, 5, 3)
    assert beam.moment(0.5).shape == (1, 3)
    assert beam.moment([0.5]).shape == (1, 1, 3)
    assert beam.largest_turn.shape == beam.strain_energy.shape == (1,)
    with pytest.raises(bc.MechanismError, match=r"station must lie on the beam, which is 1 m long"):
        beam.force(1.5)
    with pytest.raises(bc.Unsupported, match="give a section with sizes"):
        beam.stress(0.0)
    with pytest.raises(bc.MechanismError, match=r"no beam of this name.*did you mean 'beam'"):
        bc.statics(mech).beam("beem")


def bend(segments, dense=64):
    """The bend of Bathe and Bolourchi (1979): a clamped arc of 45 degrees, loaded across its plane."""
    mech = bc.Mechanism("bend", gravity=(0, 0, 0))
    section = bc.Section.general(EA=1e7, GA=5e6, GJ=5e6 / 6, EI=1e7 / 12, mass_per_length=1.0)
    angle = np.linspace(0.0, np.pi / 4, dense + 1)
    arc = 100.0 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle), np.zeros(dense + 1)])
    beam = mech.add_beam("beam", section, start="ground", end=arc[-1], points=arc[1:-1], segments=segments)
    return mech, beam


def test_a_bent_beam_follows_its_points():
    mech, beam = bend(8)
    assert beam.length == pytest.approx(25.0 * np.pi, rel=1e-9)
    for k, name in enumerate(beam.nodes):
        angle = k * np.pi / 32
        expected = 100.0 * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.0])
        assert mech.bodies[name].position == pytest.approx(expected, abs=1e-7)
        x = rotate(mech.bodies[name].rotation, (1.0, 0.0, 0.0))
        assert x == pytest.approx((np.cos(angle), np.sin(angle), 0.0), abs=1e-6)
    assert mech.forces["beam/e3"].kind.unloaded == pytest.approx((1, 0, 0, 0, 0, 0.01), abs=1e-7)
    rest = bc.statics(mech).beam("beam")
    assert rest.moment() == pytest.approx(0.0, abs=1e-4)
    assert rest.deflection() == pytest.approx(0.0, abs=1e-9)
    assert rest.curvature(30.0)[0] == pytest.approx((0, 0, 0.01), abs=1e-7)


@pytest.mark.parametrize(("segments", "error"), [(8, 2e-5), (16, 2e-6)])
def test_the_bend_in_space(segments, error):
    mech, beam = bend(segments)
    mech.add_force("load", bc.Wrench(force=(0, 0, 600.0)), beam.marker(beam.length))
    assert tip(mech, beam) == pytest.approx((47.1504, 15.6848, 53.4749), abs=1e-4 + error * beam.length)


def test_a_bent_beam_is_written_and_placed(tmp_path):
    mech, _ = bend(4, dense=8)
    whole = bc.Mechanism("whole", gravity=(0, 0, 0))
    whole.place(mech, "left", position=(1, 2, 3), rotation=bc.rotation("x", 0.5))
    bc.save(whole, tmp_path / "whole.yaml")
    again = bc.load(tmp_path / "whole.yaml")
    assert again == whole
    rest = bc.statics(again).beam("left/beam")
    assert rest.moment() == pytest.approx(0.0, abs=1e-4)


ALLOY = {"E": 70e9, "nu": 0.3, "density": 2700}
ROOT, TIP = bc.Section.rectangle(0.02, 0.04, **ALLOY), bc.Section.rectangle(0.012, 0.015, **ALLOY)


def shaped(segments, tapered, twisted, bent):
    """A cantilever that is tapered, twisted, or bent along an uneven curve, under a load at its end."""
    mech = bc.Mechanism("blade", gravity=(0, 0, 0))
    s = np.linspace(0.0, 1.0, 65)
    curve = np.column_stack([1.4 * s, 0.5 * s**2, 0.3 * np.sin(2 * s)])
    given = {"points": curve[1:-1]} if bent else {}
    end = curve[-1] if bent else (1.5, 0, 0)
    length = bc.Beam("blade", ROOT, (0, 0, 0), end, **given).length
    section = bc.Section.tapered((0.0, length), (ROOT, TIP)) if tapered else ROOT
    if twisted:
        given["twist"] = bc.Table((0.0, length), (0.0, 1.2))
    beam = mech.add_beam("blade", section, "ground", end, segments, up=(0.1, -0.2, 1.0), **given)
    load = bc.Wrench(force=(50, -250.0, 400.0), moment=(20, 30, -10))
    mech.add_force("load", load, beam.marker(beam.length))
    return mech, beam


@pytest.mark.parametrize(
    ("shape", "error"),
    [
        ((True, False, False), 2e-5),
        ((False, True, False), 3e-6),
        ((False, False, True), 5e-6),
        ((True,) * 3, 5e-5),
    ],
)
def test_beams_of_any_shape_are_of_fourth_order(shape, error):
    places = [tip(*shaped(segments, *shape)) for segments in (8, 16, 32)]
    limit = places[2] + (places[2] - places[1]) / 15.0
    coarse, fine = (np.linalg.norm(place - limit) / 1.5 for place in places[:2])
    assert coarse < error
    assert coarse / fine > 13.0


def test_a_tapered_cantilever():
    """Small deflections: the load times ∫ (L - s)²/EI and ∫ 1/GA."""
    mech = bc.Mechanism("boom", gravity=(0, 0, 0))
    section = bc.Section.tapered((0.0, 0.5, 1.5), (ROOT, ROOT, TIP))
    beam = mech.add_beam("boom", section, "ground", (1.5, 0, 0), 24, stations=(0.5,))
    mech.add_force("load", bc.Wrench(force=(0, 0, -0.01)), beam.marker(1.5))
    x, w = np.polynomial.legendre.leggauss(40)
    s = np.concatenate([0.25 + 0.25 * x, 1.0 + 0.5 * x])
    weight = np.concatenate([0.25 * w, 0.5 * w])
    each = [section.at(one) for one in s]
    expected = 0.01 * (
        weight @ [(1.5 - one) ** 2 / at.EI[0] + 1.0 / at.GA[1] for one, at in zip(s, each, strict=True)]
    )
    rest = bc.statics(mech).beam("boom")
    assert rest.deflection(1.5)[0, 2] == pytest.approx(-expected, rel=1e-5)
    bending = 0.01 * (1.5 - 1.2)
    assert rest.moment(1.2)[0, 1] == pytest.approx(bending, rel=1e-6)
    assert rest.stress(1.2)[0] == pytest.approx(section.at(1.2).largest_stress(0.0, bending, 0.0), rel=1e-6)
    assert rest.curvature(1.2)[0, 1] == pytest.approx(bending / section.at(1.2).EI[0], rel=1e-6)
    assert rest.strain_energy[0] == pytest.approx(0.5 * 0.01 * expected, rel=1e-4)


def test_a_twisted_strip_bends_out_of_the_plane_of_its_load():
    """Twisted by a quarter turn, small deflections: ∫ (L - s) R(s) C Rᵀ(s) of the moment."""
    mech = bc.Mechanism("strip", gravity=(0, 0, 0))
    beam = mech.add_beam("strip", ROOT, "ground", (1.5, 0, 0), 12, twist=bc.Table((0, 1.5), (0, np.pi / 2)))
    mech.add_force("load", bc.Wrench(force=(0, 0, -0.01)), beam.marker(1.5))
    x, w = np.polynomial.legendre.leggauss(40)
    s, expected = 0.75 + 0.75 * x, np.zeros(2)
    for one, weight in zip(s, 0.75 * w, strict=True):
        angle = np.pi / 2 * one / 1.5
        R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        bent = R @ np.diag([1 / ROOT.EI[0], 1 / ROOT.EI[1]]) @ R.T @ np.array([0.01 * (1.5 - one), 0.0])
        shear = R @ np.diag([1 / ROOT.GA[0], 1 / ROOT.GA[1]]) @ R.T @ np.array([0.0, -0.01])
        expected += weight * ((1.5 - one) * np.array([bent[1], -bent[0]]) + shear)
    assert bc.statics(mech).beam("strip").deflection(1.5)[0, 1:] == pytest.approx(expected, rel=1e-5)
    assert mech.forces["strip/e3"].kind.unloaded == pytest.approx((1, 0, 0, np.pi / 3, 0, 0))


def test_tapered_and_twisted_beams_in_files_and_runs(tmp_path):
    mech, beam = shaped(4, tapered=True, twisted=True, bent=False)
    bc.save(mech, tmp_path / "blade.yaml")
    assert bc.load(tmp_path / "blade.yaml") == mech
    mass = sum(body.mass for body in beam.bodies())
    x, w = np.polynomial.legendre.leggauss(8)
    expected = 0.75 * w @ [beam.section.at(0.75 + 0.75 * one).mass_per_length for one in x]
    assert mass == pytest.approx(expected, rel=1e-12)  # of a quadratic
    runs = [bc.simulate(mech, 0.05, formulation=name, tolerance=1e-9) for name in ("lagrange", "recursive")]
    ends = [run.body("blade/4").position[-1] for run in runs]
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)
    assert bc.verify(runs[0]).passed


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bc.Section.tapered((0.0, 1.0), (ROOT,)), "a section for each of two stations or more"),
        (lambda: bc.Section.tapered((0.1, 1.0), (ROOT, TIP)), "stations must ascend from 0"),
        (
            lambda: bc.Section.tapered((0.0, 1.0), (ROOT, bc.Section.circle(0.1, **ALLOY))),
            "sections must be of one kind: they are Circle, Rectangle",
        ),
        (lambda: shaped(2, True, False, False)[1].section.flexibility, "ask section.at"),
        (
            lambda: bc.Beam("b", bc.Section.tapered((0.0, 1.0), (ROOT, TIP)), (0, 0, 0), (2, 0, 0)),
            "the sections must reach its end, at 2 m",
        ),
        (
            lambda: list(
                bc.Beam(
                    "b",
                    bc.Section.tapered((0.0, 1.0), (ROOT, bc.Section.rectangle(0.001, 0.001, **ALLOY))),
                    (0, 0, 0),
                    (1, 0, 0),
                    2,
                ).forces()
            ),
            "give the beam more segments",
        ),
    ],
)
def test_what_is_refused_of_shapes(make, message):
    with pytest.raises((bc.MechanismError, bc.Unsupported), match=message):
        make()


def test_places_of_a_bent_beam_are_numbers():
    mech = bc.Mechanism("m")
    reach = mech.add_parameter("reach", 2.0, "m")
    section = bc.Section.circle(0.01, E=2e11, nu=0.3, density=7850)
    with pytest.raises(bc.MechanismError, match="with points or twist must be numbers"):
        mech.add_beam("beam", section, start=(0, 0, 0), end=(reach, 0, 0), points=[(1, 0, 0.2)])
    with pytest.raises(bc.MechanismError, match="neighbouring points must differ"):
        mech.add_beam("beam", section, start=(0, 0, 0), end=(2, 0, 0), points=[(0, 0, 0)])


def composite(coupling):
    """Stretching twists it: N = EA e + c k, M_x = c e + GJ k."""
    stiffness = np.diag([1e6, 4e5, 4e5, 200.0, 300.0, 500.0])
    stiffness[0, 3] = stiffness[3, 0] = coupling
    return bc.Section.composite(stiffness, mass_per_length=1.0, inertia_per_length=(2e-4, 1e-4, 1e-4))


def test_a_pulled_composite_beam_twists():
    """Without a moment k = -c e/GJ, so that N = (EA - c^2/GJ) e."""
    coupling, pull, length = 5000.0, 1000.0, 2.0
    mech = bc.Mechanism("spar", gravity=(0, 0, 0))
    beam = mech.add_beam("spar", composite(coupling), "ground", (length, 0, 0), segments=4)
    mech.add_force("pull", bc.Wrench(force=(pull, 0, 0)), beam.marker(length))
    rest = bc.statics(mech)
    strain = pull / (1e6 - coupling**2 / 200.0)
    place, (w, x, _, _) = rest.state.position[-1], rest.state.rotation[-1]
    assert place == pytest.approx((length * (1.0 + strain), 0, 0), abs=1e-9)
    assert 2.0 * np.arctan2(x, w) == pytest.approx(-coupling / 200.0 * strain * length, rel=1e-7)
    results = rest.beam("spar")
    assert results.force(0.7)[0] == pytest.approx((pull, 0, 0), abs=1e-6 * pull)
    assert results.curvature(0.7)[0, 0] == pytest.approx(-coupling / 200.0 * strain, rel=1e-7)
    assert results.strain_energy[0] == pytest.approx(0.5 * pull * strain * length, rel=1e-7)


def test_a_composite_section_without_coupling_is_a_general_one():
    plain = bc.Section.general(
        EA=1e6,
        GA=4e5,
        GJ=200.0,
        EI=(300.0, 500.0),
        mass_per_length=1.0,
        inertia_per_length=(2e-4, 1e-4, 1e-4),
    )
    ends = []
    for section in (plain, composite(0.0)):
        mech = bc.Mechanism("spar")
        beam = mech.add_beam("spar", section, "ground", (1, 0, 0), segments=4)
        mech.add_force("push", bc.Wrench(force=(0, 300.0, 200.0), moment=(20.0, 0, 0)), beam.marker(1.0))
        ends.append(bc.statics(mech).state.position[-1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-10)


def test_composite_sections_are_judged():
    lopsided = np.eye(6)
    lopsided[0, 1] = 0.5
    for stiffness, rule in ((lopsided, "symmetric"), (np.diag([1, 1, 1, 1, 1, -1.0]), "positive definite")):
        with pytest.raises(bc.MechanismError, match=rule):
            bc.Section.composite(stiffness, mass_per_length=1.0, inertia_per_length=(1, 1, 1))


@pytest.mark.parametrize("segments", [8, 32])
def test_steps_are_bent_along_stiff_segments(segments):
    """Straight steps stretch it by their squares, so that many are needed."""
    mech, _ = cantilever(segments, EA=1e6, force=(0, 1.0, 1.0))
    assert bc.find_equilibrium(mech).iterations <= 12


def test_a_straight_beam_becomes_a_circle():
    """Stiff sideways: else the moment, whose axis is fixed, makes it spiral out of the plane."""
    mech, beam = cantilever(8, EA=1e5, GA=1e9, EI=(1.0, 100.0), GJ=100.0)
    mech.add_force("moment", bc.Wrench(moment=(0, -2.0 * np.pi, 0)), beam.marker(1.0))
    assert tip(mech, beam) == pytest.approx((0, 0, 0), abs=1e-9)


def test_tapered_beams_by_parameters(tmp_path):
    """Length and diameter of a cone: derivatives against differences; stations as texts; in files."""
    mech = bc.Mechanism("cone")
    length, diameter = mech.add_parameter("length", 2.0, "m"), mech.add_parameter("diameter", 0.05, "m")
    sections = [bc.Section.circle(part * diameter, **ALLOY) for part in (1.0, 0.5)]
    cone = bc.Section.tapered([0.0, length], sections)
    assert bc.Section.tapered([0, "2 m"], [ROOT, TIP]).at("50 cm").width == pytest.approx(0.018)
    mech.add_beam("cone", cone, "ground", (length, 0, 0), 6)
    found = bc.statics(mech).sensitivity(of="body.cone/6.z", by=["length", "diameter"])
    for name, value in (("length", 2.0), ("diameter", 0.05)):
        sags = [
            bc.statics(mech.with_parameters(**{name: value * part})).at.bodies["cone/6"].position[2]
            for part in (1.0 + 1e-4, 1.0 - 1e-4)
        ]
        assert found["body.cone/6.z", name] == pytest.approx((sags[0] - sags[1]) / (2e-4 * value), rel=1e-5)
    bc.save(mech, tmp_path / "cone.yaml")
    assert "twist" not in (tmp_path / "cone.yaml").read_text()
    assert bc.load(tmp_path / "cone.yaml") == mech


def test_derivatives_by_a_taper_that_is_none_yet():
    """Where both ends are alike the flexibility has no slope, but a derivative of it."""
    mech = bc.Mechanism("bar")
    part = mech.add_parameter("part", 1.0)
    sections = [bc.Section.circle(0.05, **ALLOY), bc.Section.circle(0.05 * part, **ALLOY)]
    mech.add_beam("bar", bc.Section.tapered([0.0, 2.0], sections), "ground", (2, 0, 0), 2)
    found = bc.statics(mech).sensitivity(of="body.bar/2.z", by="part").array.item()
    sags = [
        bc.statics(mech.with_parameters(part=one)).at.bodies["bar/2"].position[2] for one in (1.0001, 0.9999)
    ]
    assert found == pytest.approx((sags[0] - sags[1]) / 2e-4, rel=1e-6)
