"""The order of each method, their options, the method "auto", and evaluations for an accuracy."""

import math

import numpy as np
import pytest
from rigs.chains import spinning_chain
from rigs.singular_linkages import singular_linkage

import bellcrank as bc
from bellcrank import gallery
from bellcrank.run.plan import METHODS, method_options, output_times
from benchmarks import integrators
from benchmarks.oracle_problems import problems

DURATION = 0.8


def final(run):
    return np.concatenate(
        [np.concatenate([b.position[-1], b.rotation[-1], b.velocity[-1]]) for b in map(run.body, run.bodies)]
    )


@pytest.fixture(scope="module")
def reference():
    mech = spinning_chain()
    return mech, final(bc.simulate(mech, DURATION, method="dopri5", tolerance=1e-13))


def error(mech, exact, method, step):
    """With tolerances that never bind, dopri5 takes steps of max_step: its order can be measured too."""
    options = {"step": step}
    if METHODS[method].adaptive:
        options |= {"tolerance": 1e6, "max_step": step}
    run = bc.simulate(mech, DURATION, method=method, output_step=DURATION, **options)
    assert run.statistics["steps"] == round(DURATION / step)
    return float(np.max(np.abs(final(run) - exact)))


@pytest.mark.parametrize(
    ("method", "steps"),
    [
        ("semi_implicit_euler", (1e-3, 5e-4, 2.5e-4)),
        ("rk4", (0.02, 0.01, 0.005)),
        ("dopri5", (0.02, 0.01, 0.005)),
    ],
)
def test_each_method_has_its_order(reference, method, steps):
    """The slope of log(error) over log(step), fitted; also a constrained mechanism keeps the order."""
    mech, exact = reference
    errors = [error(mech, exact, method, step) for step in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    order = METHODS[method].order
    assert order - 0.3 < slope < order + 0.7, f"errors {errors}"


def test_the_tolerance_is_kept(reference):
    """Each factor of 100 in the tolerance brings the error down by a factor of at least 20."""
    mech, exact = reference
    errors = [
        float(np.max(np.abs(final(bc.simulate(mech, DURATION, method="dopri5", tolerance=t)) - exact)))
        for t in (1e-6, 1e-8, 1e-10)
    ]
    assert errors[1] < errors[0] / 20
    assert errors[2] < errors[1] / 20
    assert errors[2] < 1e-7


def test_semi_implicit_euler_is_symplectic():
    """Without constraints the energy of an oscillator stays bounded over a thousand periods."""
    mech = bc.Mechanism("oscillator", gravity=(0, 0, 0))
    ball = mech.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1.0))
    anchor = mech.ground.marker()
    mech.add_force("spring", bc.Bushing(stiffness=(1.0, 1.0, 1.0)), anchor, ball.marker())
    run = bc.simulate(mech, 2000 * math.pi, method="semi_implicit_euler", step=0.05, output_step=math.pi)
    assert np.max(np.abs(run.energy.total - 0.5)) < 0.02
    assert np.max(run.energy.total[-100:]) > 0.48


def test_constraints_hold_after_every_method(reference):
    mech, _ = reference
    for method in METHODS:
        run = bc.simulate(mech, 0.3, method=method)
        assert np.max(run.violation.position) < 1e-9
        assert np.max(run.violation.velocity) < 1e-9


@pytest.mark.parametrize(
    "options", [{"step": 0.01}, {"method": "dopri5"}, {"method": "dopri5", "step": 1.0}], ids=str
)
def test_whole_turns_are_counted_however_long_the_steps(options):
    """A flywheel of 1000 rad/s turns 10 rad in 10 ms; its motion is so easy that dopri5 would leap."""
    mech = bc.Mechanism("flywheel", gravity=(0, 0, 0))
    wheel = mech.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0, 0, 1000.0))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), wheel.marker())
    run = bc.simulate(mech, 1.0, output_step=0.25, **options)
    assert run.joint("axle").position[:, 0] == pytest.approx(1000.0 * run.time, abs=1e-6)


def test_a_screw_passes_half_a_turn():
    """The nut falls with a = g/(1 + (2 pi/p)^2 I/m) through several turns."""
    mech = bc.Mechanism("screw")
    nut = mech.add_body("nut", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mech.add_joint("thread", bc.Screw(pitch=0.2), mech.ground.marker(), nut.marker())
    run = bc.simulate(mech, 5.0, method="dopri5")
    fall = 9.81 / (1.0 + (2 * math.pi / 0.2) ** 2 * 0.1)
    assert run.body("nut").position[:, 2] == pytest.approx(-0.5 * fall * run.time**2, abs=1e-8)
    assert np.max(np.abs(run.energy.total - run.energy.total[0])) < 1e-8


def test_output_times_end_where_the_run_ends():
    fixed = method_options("rk4", 1.0, 1e-3)
    times = output_times(0.0, 1.0, 0.1, fixed)
    assert times == pytest.approx(np.linspace(0, 1, 11))
    assert times[-1] == 1.0
    assert output_times(2.0, 1.0, 0.4, fixed) == pytest.approx([2.0, 2.4, 2.8, 3.0])
    assert output_times(0.0, 1.0, 5.0, fixed).tolist() == [0.0, 1.0]
    assert len(output_times(0.0, 60.0, None, fixed)) == 1001


def test_a_default_step_fits_a_short_run():
    assert method_options("rk4", 1e-4).step == 1e-4


def test_all_faults_of_the_options_come_at_once():
    with pytest.raises(bc.MechanismError) as caught:
        method_options("rk4", 1.0, step=-1.0, max_step=0.1, rtol=1e-3)
    assert len(caught.value.faults) == 3


def whip(stiffness, damping):
    """A chain whose joints, the first one apart, are damped torsion springs."""
    mech = gallery.chain(5, length=0.2, angle=0.3)
    for name in list(mech.joints)[1:]:
        mech.add_force(f"spring of {name}", bc.TorsionSpring(stiffness, damping), joint=name)
    return mech


def mount():
    """A block on a stiff bushing, which carries a pendulum."""
    mech = bc.Mechanism("mount")
    block = mech.add_body("block", shapes=[bc.Box(size=(0.4, 0.3, 0.2), density=2000.0)])
    bushing = bc.Bushing((1e7,) * 3, (1e7,) * 3, (1e5,) * 3, (1e5,) * 3)
    mech.add_force("mount", bushing, mech.ground.marker(), block.marker())
    arm = mech.add_body("arm", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.5, 0.0, 0.0))
    y_axis = (0.0, 1.0, 0.0)
    mech.add_joint("hinge", bc.Revolute(), block.marker(axis=y_axis), arm.marker((-0.5, 0, 0), axis=y_axis))
    return mech


STIFF = {
    "whip": lambda: whip(1e4, 100.0),
    "mount": mount,
    "governor": gallery.flyball_governor,
    "rotors": lambda: gallery.puma560(driven=False),
}
SMOOTH = {
    "double pendulum": (gallery.double_pendulum, 5.0),
    "squeezer": (gallery.andrews_squeezer, 0.05),
    "platform": (gallery.stewart_platform, 1.0),
    "chain": (lambda: gallery.chain(10, angle=0.3), 5.0),
    "springs": (lambda: whip(1e3, 0.0), 1.0),
}


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("name", STIFF)
def test_stiff_motions_go_on_by_bdf(name, formulation):
    run = bc.simulate(STIFF[name](), 1.0, method="auto", formulation=formulation)
    told = run.statistics
    assert told["method"] == "bdf"
    assert 0.0 < told["stiff_since"] < 0.5
    assert told["linearizations"] > 0
    assert "difference_evaluations" not in told
    exact = bc.simulate(STIFF[name](), 1.0, method="bdf", tolerance=1e-11, formulation=formulation)
    for body in run.bodies:
        np.testing.assert_allclose(run.body(body).position, exact.body(body).position, atol=2e-6)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
@pytest.mark.parametrize("name", SMOOTH)
def test_motions_that_are_not_stiff_stay_with_adams(name, tolerance):
    make, duration = SMOOTH[name]
    run, other = (
        bc.simulate(make(), duration, method=method, tolerance=tolerance) for method in ("auto", "adams")
    )
    assert run.statistics["method"] == "adams"
    assert "stiff_since" not in run.statistics
    assert "stiff_since" not in other.statistics
    for body in run.bodies:
        np.testing.assert_array_equal(run.body(body).position, other.body(body).position)


def test_adams_says_since_when_a_motion_is_stiff():
    run = bc.simulate(whip(1e4, 100.0), 0.1, method="adams")
    assert run.statistics["method"] == "adams"
    assert 0.0 < run.statistics["stiff_since"] < 0.05


def test_a_stiff_run_in_parts_is_the_run_in_one():
    times = np.linspace(0.0, 0.5, 51)
    whole = bc.simulate(whip(1e4, 100.0), times=times, method="auto")
    live = bc.start(whip(1e4, 100.0), method="auto")
    for _ in times[1:]:
        live.advance(0.01)
    parts = live.stop()
    assert parts.statistics["method"] == "bdf"
    for body in whole.bodies:
        np.testing.assert_allclose(parts.body(body).position, whole.body(body).position, atol=2e-6)


def test_a_step_without_a_tolerance_means_rk4():
    mech = spinning_chain()
    run = bc.simulate(mech, 0.2, method="auto", step=1e-3)
    assert run.statistics["method"] == "rk4"
    assert run.statistics["steps"] == 200
    run = bc.simulate(mech, 0.2, method="auto", step=1e-4, tolerance=1e-8)
    assert run.statistics["method"] == "adams"
    assert method_options("auto", 1.0, 1e-3, max_step=0.1).method.name == "auto"


def test_the_highest_order_holds_for_both():
    run = bc.simulate(gallery.double_pendulum(), 1.0, method="auto", max_order=4)
    assert run.statistics["highest_order"] == 4
    run = bc.simulate(whip(1e4, 100.0), 0.2, method="auto", max_order=3)
    assert run.statistics["method"] == "bdf"
    assert run.statistics["highest_order"] <= 3


@pytest.mark.parametrize("seed", [4, 11, 24, 31])
def test_what_only_looked_stiff_goes_on_by_adams(seed):
    """At a singular pose accelerations follow rounding: steps of bdf would vanish in microseconds."""
    run = bc.simulate(singular_linkage(seed).mechanism, 0.1, formulation="dca", output_step=0.05)
    assert run.status == "finished"
    assert run.statistics["method"] == "adams"
    assert "bdf" not in run.statistics["choice"]


PROBLEMS = {problem.name: problem for problem in problems()}
REFERENCES = [name for name, problem in PROBLEMS.items() if not problem.stiff]
TOLERANCES = tuple(10.0**-k for k in range(4, 12))
ACCURACIES = (1e-4, 1e-5, 1e-6, 1e-7)


@pytest.fixture(scope="module")
def ends():
    return {name: integrators.exact(problem) for name, problem in PROBLEMS.items()}


@pytest.fixture(scope="module")
def cvode():
    pytest.importorskip("sksundae", reason="CVODE comes with scikit-sundae")
    return integrators.cvode_work


@pytest.mark.parametrize("name", PROBLEMS)
def test_both_solve_the_same_equations(name, ends, cvode):
    """Written out independently in minimal coordinates."""
    method = "BDF" if PROBLEMS[name].stiff else "Adams"
    assert cvode(PROBLEMS[name], method, ends[name], (1e-12,)).errors[0] < 1e-8


def compare(ours, theirs, most):
    """The geometric mean over accuracies: single ones carry the luck of single runs."""
    ratios = [ours.needed(accuracy) / theirs.needed(accuracy) for accuracy in ACCURACIES]
    mean = math.exp(float(np.mean(np.log(ratios))))
    assert mean <= most, f"{ours.method} takes {ratios} of the evaluations of {theirs.method}"


@pytest.mark.parametrize("formulation", integrators.FORMULATIONS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_bdf_beside_cvode(name, formulation, ends, cvode):
    problem = PROBLEMS[name]
    compare(
        integrators.own_work(problem, "bdf", formulation, ends[name], TOLERANCES),
        cvode(problem, "BDF", ends[name], TOLERANCES),
        1.5,
    )


@pytest.mark.parametrize("formulation", integrators.FORMULATIONS)
@pytest.mark.parametrize("name", REFERENCES)
def test_adams_beside_cvode(name, formulation, ends, cvode):
    problem = PROBLEMS[name]
    compare(
        integrators.own_work(problem, "adams", formulation, ends[name], TOLERANCES),
        cvode(problem, "Adams", ends[name], TOLERANCES),
        1.4,
    )


@pytest.mark.parametrize("name", REFERENCES)
def test_adams_beside_dormand_prince(name, ends):
    """Where accuracy is asked for, many orders beat one."""
    problem = PROBLEMS[name]
    adams = integrators.own_work(problem, "adams", "lagrange", ends[name], TOLERANCES)
    dopri = integrators.own_work(problem, "dopri5", "lagrange", ends[name], TOLERANCES)
    assert adams.needed(1e-7) < dopri.needed(1e-7)


def test_bdf_beside_dormand_prince(ends):
    """On the stiff governor an explicit method is bound by its stability."""
    problem = PROBLEMS["governor"]
    bdf = integrators.own_work(problem, "bdf", "lagrange", ends["governor"], (1e-6, 1e-8))
    dopri = integrators.own_work(problem, "dopri5", "lagrange", ends["governor"], (1e-3, 1e-6))
    assert max(bdf.evaluations) < 0.2 * min(dopri.evaluations)


def test_needed_is_between_runs():
    work = integrators.Work("p", "m", (1.0, 0.1), (1e-2, 1e-4), (100, 400))
    assert work.needed(1e-3) == pytest.approx(200.0)
    assert math.isnan(work.needed(1e-6))
    assert np.isclose(work.needed(1e-4), 400.0)
