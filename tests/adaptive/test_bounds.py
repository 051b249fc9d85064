"""Adaptive accelerations: at rest as by other formulations, and within bounds, also of uneven linkages."""

from dataclasses import replace

import numpy as np
import pytest
from rigs import examples, floating
from rigs.adaptive import largest_difference, linkage, per_joint
from rigs.agreement import close
from rigs.uneven_linkages import broken_bound

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import SimulationError, Unsupported
from bellcrank.gallery.random_trees import TOPOLOGIES, random_tree
from bellcrank.mechanism import JOINT_KINDS
from bellcrank.mechanism.rotation import multiply, rotate
from bellcrank.run.quasistatic import MEASURES
from benchmarks.adaptive import Start
from benchmarks.adaptive_linkages import molecule, random_forces

TOLERANCE = 1e-9
REASONS = "takes trees of joints|takes no stops|takes no rotors|given by formulas|bends in every direction"


def stopped(state):
    return replace(state, velocity=0.0 * state.velocity, angular_velocity=0.0 * state.angular_velocity)


def compared(mechanism, *others, moves=True):
    """Accelerations of the formulation and of others agree, at rest and as it moves."""
    model = compile_mechanism(mechanism)
    if moves:
        compared(mechanism, *others, moves=False)
    start = model.initial if moves else stopped(model.initial)
    state = bc.prepare(model, "lagrange").project(start)
    if not moves:
        state = stopped(state)
    found = bc.prepare(model, "adaptive").accelerate(state)
    for other in others:
        expected = bc.prepare(model, other).accelerate(state)
        arrays = [np.hstack([each.linear, each.angular]) for each in (found, expected)]
        close(*arrays, TOLERANCE, other)
    return found, expected


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_random_trees(topology, floats):
    for seed, size in enumerate((1, 2, 5, 20, 100)):
        found, expected = compared(
            random_tree(size, topology, seed=seed, floating=floats), "recursive", "lagrange"
        )
        close(found.reactions, expected.reactions, 100 * TOLERANCE, "reactions")
        close(found.multipliers, expected.multipliers, 100 * TOLERANCE, "multipliers")


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_trees_of_two_thousand_bodies(topology):
    """A bush so large has bodies with so many joints that lagrange takes one of its rows for redundant."""
    others = ("recursive",) if topology == "bush" else ("recursive", "lagrange")
    compared(random_tree(2000, topology, seed=4), *others)


@pytest.mark.parametrize("name", JOINT_KINDS)
def test_joints_of_every_kind(name):
    """What joints leave of a pair of bodies: a tree is taken, or refused in words."""
    mech = floating.pair(examples.joint(name), seed=2, hung=True).mechanism
    if not _core.Adaptive.refusals(compile_mechanism(mech).core):
        compared(mech, "lagrange")
        return
    with pytest.raises(Unsupported, match=REASONS) as refused:
        bc.prepare(mech, "adaptive")
    assert "Use formulation='lagrange'" in str(refused.value)


STEPS = 10_000


def measured(measure, all_joints, left_out):
    """The error of joint accelerations (n,) where some are taken as zero, by its definition."""
    if measure.endswith("linkage"):
        error, whole = np.sqrt(np.sum(left_out**2)), np.sqrt(np.sum(all_joints**2))
    else:
        error, whole = left_out.max(initial=0.0), all_joints.max(initial=0.0)
    if measure.startswith("absolute") or error == 0.0:
        return error
    return error / whole


@pytest.mark.parametrize("measure", MEASURES)
def test_the_bound_holds_in_random_steps(measure):
    """Every step refines to a random bound, then further, and goes on to another configuration."""
    rng = np.random.default_rng(MEASURES.index(measure))
    runs, steps = 100, STEPS // 4 // 100
    for number in range(runs):
        core, _, floats = linkage(rng, measure, number)
        for _ in range(steps):
            core.refine(0.0)
            exact = per_joint(core)
            exact[floats] = 0.0
            core.begin()
            scale = 1.0 if measure.startswith("relative") else max(exact.max(), 1e-300)
            last = np.inf
            for bound in scale * np.sort(10.0 ** rng.uniform(-9, 0, 3))[::-1]:
                error = core.refine(bound)
                assert error <= bound
                assert error <= last
                last = error
                left_out = exact.copy()
                left_out[core.computed] = 0.0
                assert measured(measure, exact, left_out) <= bound * (1.0 + 1e-9)
                assert measured(measure, exact, left_out) <= error * (1.0 + 1e-9)
            core.move()


@pytest.mark.parametrize("measure", MEASURES)
def test_the_error_falls_joint_by_joint(measure):
    core, _, floats = linkage(np.random.default_rng(3), measure, 11, size=300)
    core.refine(0.0)
    exact = per_joint(core)
    exact[floats] = 0.0
    core.begin()
    left_out, seen = exact.copy(), 0
    errors = [measured(measure, exact, left_out)]
    while len(core.computed) < len(exact):
        before = core.error
        core.refine(np.nextafter(before, 0.0))
        if core.error == before:  # all that is left is rounding
            assert before <= 1e-11 * max(1.0, errors[0])
            break
        assert core.error < before
        left_out[core.computed[seen:]] = 0.0
        seen = len(core.computed)
        errors.append(measured(measure, exact, left_out))
        if core.error == 0.0:
            break
    assert np.all(np.diff(errors) <= 0.0)


def test_a_bound_of_zero_is_exact():
    for number in range(40):
        core, _, _ = linkage(np.random.default_rng(number), "relative_linkage", number)
        core.refine(0.0)
        refined = core.accelerations()
        assert len(core.computed) >= np.count_nonzero(np.diff(core.first_freedoms))
        core.solve()
        exact = core.accelerations()
        np.testing.assert_allclose(refined, exact, rtol=0.0, atol=1e-12 * np.abs(exact).max())


def test_refining_keeps_what_is_computed():
    core, _, _ = linkage(np.random.default_rng(0), "relative_joint", 5, size=400)
    core.refine(0.1)
    first = core.computed
    core.refine(1e-3)
    np.testing.assert_array_equal(core.computed[: len(first)], first)
    assert len(core.computed) > len(first)


def test_a_linkage_without_forces_is_at_rest():
    core, _, _ = linkage(np.random.default_rng(1), "relative_joint", 2, forces=False)
    assert core.refine(0.0) == 0.0
    assert len(core.computed) <= 1  # a body that hangs on nothing
    assert isinstance(core, _core.Quasistatics)


HINGES = (2, 5, 9)  # of hinged bodies of 1e-4 to 1e4 kg


def hinged(seed, count=100, decades=8.0):
    """Bodies on hinges with random axes, each on any of those before it."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("hinged")
    bodies = [mech.ground]
    for k in range(count):
        mass = float(10.0 ** (decades * rng.uniform(-0.5, 0.5)))
        q, carrier = rng.normal(size=4), bodies[int(rng.integers(0, k + 1))]
        body = mech.add_body(f"b{k}", mass=mass, inertia=(0.1 * mass,) * 3, com=tuple(rng.normal(0, 0.3, 3)))
        at = carrier.marker(tuple(rng.normal(0, 0.5, 3)), rotation=tuple(q / np.linalg.norm(q)))
        mech.add_joint(f"j{k}", bc.Revolute(), at, body.marker())
        bodies.append(body)
    bc.assemble(mech)
    return mech


@pytest.mark.parametrize("seed", range(0, 1200, 400))
def test_bounds_of_random_linkages(seed):
    assert broken_bound(seed) == ""


@pytest.mark.parametrize("seed", [5196, 5206])
def test_totals_of_which_no_digit_is_known_are_not_small(seed):
    """What is not opened counted as nothing where its total, and the size of its terms, came out negative."""
    assert broken_bound(seed) == ""


def test_joints_of_several_axes_lose_nothing_along_them():
    """The inverse inertia before such a joint was not symmetric: all digits were lost, and few reported."""
    assert broken_bound(72296) == ""


@pytest.mark.parametrize("seed", HINGES)
def test_bounds_of_hinged_bodies(seed):
    """Joins lost up to 1e-3 of these, and said nothing."""
    mech = hinged(seed)
    run = bc.start(mech, mode="quasistatic")
    assert run.refine(1e-6) <= 1e-6
    assert largest_difference(run, mech) <= 1e-6


def test_the_formulation_agrees_with_others():
    for seed in range(6):
        mech = hinged(seed)
        system = bc.prepare(mech, "adaptive")
        found, expected = system.accelerate(), bc.prepare(mech, "recursive").accelerate()
        whole = np.abs(expected.angular).max()
        np.testing.assert_allclose(found.angular, expected.angular, rtol=0, atol=1e-11 * whole)


def test_errors_of_steps_are_recorded():
    run = bc.simulate(hinged(1), 0.01, mode="quasistatic", step=1e-3, max_error=1e-4)
    assert 0.0 < run.statistics["error"] <= 1e-4


def test_light_atoms_at_the_ends_of_a_molecule_need_no_more_digits():
    """They lose what they are uncertain of themselves, and not what the heavy ones before them are."""
    tree = molecule(5000)
    for count in (1, 10, 100):
        start = Start.of(random_forces(tree, count, seed=1))
        steps = start.steps(3e-7)
        assert steps.advance(2.0**-19, 20)
        assert 0.0 < steps.refine(2.0**-19) <= 2.0**-19
        assert not steps.is_exact


def test_rounding_is_a_part_of_the_error():
    """Forces that balance leave accelerations to rounding, whose relative error is not small."""
    mech = bc.Mechanism("balanced", gravity=(0.0, 0.0, -9.81))
    carrier = mech.ground
    for k in range(5):
        rod = mech.add_body(
            f"rod {k}", mass=1.0, inertia=(0.1, 0.1, 0.01), com=(0, 0, -0.5), position=(0, 0, -1.0 * k)
        )
        hinge = {"axis": (0.6, 0.8, 0.0)}
        mech.add_joint(
            f"pin {k}",
            bc.Revolute(),
            carrier.marker((0, 0, -1.0 if k else 0.0), **hinge),
            rod.marker(**hinge),
        )
        carrier = rod
    run = bc.start(mech, mode="quasistatic")
    found = run.refine(1e-3)
    accelerations = [abs(rates[0]) for rates in run.accelerations.values()]
    assert max(accelerations, default=0.0) < 1e-12
    assert found in (0.0, 1.0)


def test_masses_that_no_digits_bear_are_refused_by_name():
    mech = bc.Mechanism("hopeless")
    carrier = mech.ground
    for k, mass in enumerate((1e-28, 1e27, 1e-28, 1e27, 1e-28, 1e27)):
        body = mech.add_body(f"b{k}", mass=mass, inertia=(mass,) * 3, com=(0.1, 0.2, 0.3), position=(k, 0, 0))
        mech.add_joint(f"j{k}", bc.Spherical(), carrier.marker((1.0 if k else 0.0, 0, 0)), body.marker())
        carrier = body
    run = bc.start(mech, mode="quasistatic")
    assert run.refine(1e-3) > 1e-3
    with pytest.raises(SimulationError, match=r"masses from 1e-28 kg \(body 'b0'\) to 1e\+27 kg"):
        run.advance()


BOUNDS = (1e-2, 1e-3, 1e-4, 1e-6)
WIDE = (213, 372, 555, 801, 900, 1535, 1643)  # of links whose errors were up to 80 times those reported


def links(seed, decades=4.0, unit=0.02, count=24):
    """Hinged links of about one mass, each on one of the three before it; a link scales with its length."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("links", gravity=(0.0, 0.0, -9.81))
    bodies, poses = [mech.ground], [(np.zeros(3), (1.0, 0.0, 0.0, 0.0))]
    for k in range(count):
        mass, length = (float(10.0 ** (d * rng.uniform(-0.5, 0.5))) for d in (0.6, decades))
        length *= unit
        carrier, turn = int(rng.integers(max(0, k - 3), k + 1)), rng.normal(size=4)
        turn, at = tuple(turn / np.linalg.norm(turn)), length * rng.normal(0, 0.5, 3)
        origin, rotation = poses[carrier]
        poses.append((origin + np.array(rotate(rotation, tuple(at))), multiply(rotation, turn)))
        com, inertia = length * rng.normal(0, 0.3, 3), np.array([0.1, 0.12, 0.08]) * mass * length**2
        link = mech.add_body(
            f"b{k}",
            mass=mass,
            inertia=tuple(inertia),
            com=tuple(com),
            position=tuple(poses[-1][0]),
            rotation=poses[-1][1],
        )
        mech.add_joint(
            f"j{k}", bc.Revolute(), bodies[carrier].marker(tuple(at), rotation=turn), link.marker()
        )
        bodies.append(link)
    return mech


@pytest.mark.parametrize("seed", [75, 228, 2915, 3291, 0, 40])
def test_bounds_of_random_lengths(seed):
    """The first of them moved by more than was asked for and said."""
    assert broken_bound(seed, lengths=True) == ""


@pytest.mark.parametrize("seed", WIDE)
def test_bounds_of_links_of_a_millimetre_and_a_metre(seed):
    """What is little of the force on a long link is many times the moment on a short one."""
    mech = links(seed)
    run = bc.start(mech, mode="quasistatic")
    for bound in BOUNDS:
        assert run.refine(bound) <= bound
        assert largest_difference(run, mech) <= run.error * (1.0 + 1e-9)


@pytest.mark.parametrize("count", [12, 24])
@pytest.mark.parametrize("seed", [176, 284, 293, 1140])
def test_links_that_are_nearly_even(seed, count):
    """Their rounding is not measured but taken as it may be at worst; it was up to 12 times more."""
    mech = links(seed, decades=1.2, count=count)
    run = bc.start(mech, mode="quasistatic")
    assert run.refine(1e-9) <= 1e-9
    assert largest_difference(run, mech) <= run.error


@pytest.mark.parametrize("decades", [1.2, 1.8, 2.4])
def test_errors_of_many_uneven_links_are_not_overrated(decades):
    """Thirty-two digits would cost fifteen times as much."""
    run = bc.start(links(3, decades=decades, count=500), mode="quasistatic")
    for bound in BOUNDS:
        assert run.refine(bound) <= bound
        assert not run._core.is_exact


@pytest.mark.parametrize("seed", [3, 4])
def test_the_unit_of_length_changes_nothing(seed):
    """Micrometres, or kilometres, make angles accelerate by other numbers, of the same errors."""
    found = []
    for unit in (1.0, 2.0**-20, 2.0**10):
        run = bc.start(links(seed, decades=2.4, unit=unit), mode="quasistatic")
        run.refine(1e-4)
        found.append((sorted(run.accelerations), run.error))
    assert found[0][0] == found[1][0] == found[2][0]
    np.testing.assert_allclose([error for _, error in found], found[0][1], rtol=1e-3)
