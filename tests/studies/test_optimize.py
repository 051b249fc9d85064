"""`bc.optimize`: minima that are known, constraints that are active, regions where every run fails."""

import numpy as np
import pytest
from rigs.studied import four_bar, oscillator, pendulum

import bellcrank as bc

QUICK = {"duration": 1.0, "step": 0.01}
SEARCHES = ["SLSQP", "L-BFGS-B", "Nelder-Mead", "COBYLA", "differential_evolution"]


def distance(run):
    """Least, zero, where the mass is at x = 0.2 m in the end: cos(sqrt(k/m) T) = 0.2."""
    return (run.joint("track").position[-1, 0] - 0.2) ** 2


STIFFNESS = np.arccos(0.2) ** 2


@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_finds_a_minimum_that_is_known(search):
    found = bc.optimize(
        oscillator(), {"stiffness": (0.5, 9.0)}, distance, search=search, guess={"stiffness": 4.0}, **QUICK
    )
    assert found.values["stiffness"] == pytest.approx(STIFFNESS, rel=1e-3)
    assert found.value < 1e-6
    assert found.converged
    assert found.search == search
    assert found.mechanism.parameters["stiffness"].value == found.values["stiffness"]
    assert found.failures == 0
    assert found.runs == len(found.history)


def test_the_rule_that_chooses_a_search():
    mech, box = oscillator(), {"stiffness": (0.5, 9.0)}
    near = bc.optimize(mech, box, distance, guess={"stiffness": 4.0}, **QUICK)
    assert (near.search, "a guess is given" in near.reason) == ("L-BFGS-B", True)
    bound = {"max joint.track.x": (None, 2.0)}
    near = bc.optimize(mech, box, distance, guess={"stiffness": 4.0}, constraints=bound, **QUICK)
    assert near.search == "SLSQP"
    wide = bc.optimize(mech, box, distance, budget=40, **QUICK)
    assert (wide.search, wide.converged) == ("differential_evolution", False)
    assert "budget of 40 runs" in wide.message
    assert wide.runs <= 60


def test_the_global_search_is_not_caught_in_the_nearest_minimum():
    """Two stiffnesses bring the mass to 0.2 m; the measure prefers the farther one."""

    def measure(run):
        end = (run.joint("track").position[-1, 0] - 0.2) ** 2
        turning = run.joint("track").velocity[-1, 0]
        return end + (0.1 if turning < 0 else 0.0)

    found = bc.optimize(oscillator(), {"stiffness": (0.5, 30.0)}, measure, seed=3, **QUICK)
    assert found.values["stiffness"] == pytest.approx((2 * np.pi - np.arccos(0.2)) ** 2, rel=1e-3)


def test_largest_values():
    found = bc.optimize(
        oscillator(),
        {"damping": (0.0, 5.0)},
        "final joint.track.x",
        maximize=True,
        guess={"damping": 1.0},
        **QUICK,
    )
    near = bc.sweep(
        oscillator(), {"damping": np.linspace(0, 5, 51)}, "final joint.track.x", processes=1, **QUICK
    )
    assert found.value >= near.values.max() - 1e-6
    assert "maximize" in found.to_dict()


@pytest.mark.parametrize("search", ["SLSQP", "COBYLA", "Nelder-Mead", "differential_evolution"])
def test_an_active_constraint(search):
    """The least stiffness, by its own number, with which the mass gets to x = 0.5 m."""
    found = bc.optimize(
        oscillator(),
        {"stiffness": (0.2, 9.0), "damping": (0.0, 1.0)},
        "peak force.spring",
        constraints={"final joint.track.x": (None, 0.5)},
        search=search,
        guess={"stiffness": 4.0, "damping": 0.1},
        **QUICK,
    )
    assert found.constraints["final joint.track.x"] == pytest.approx(0.5, abs=2e-3)
    assert found.values["stiffness"] == pytest.approx((np.pi / 3) ** 2, rel=2e-2)
    assert found.values["damping"] < 0.05


def test_failing_runs_are_counted_and_avoided():
    """The longest coupler is best, up to where the crank no longer gets around; beyond, every run fails."""
    found = bc.optimize(
        four_bar(),
        {"coupler": (0.30, 0.80)},
        lambda run: -run.body("coupler").com_position[0, 1],
        analysis="inverse_dynamics",
        duration=1.1,
        step=0.05,
        seed=1,
    )
    assert found.failures > 3
    assert all(entry.reason for entry in found.history if np.isnan(entry.value))
    assert 0.30 <= found.values["coupler"] <= 0.57
    assert f"{found.failures} failed" in str(found)


def test_where_all_runs_fail_the_first_reason_is_told():
    with pytest.raises(bc.MechanismError, match=r"all \d+ runs failed, the first for this: .*inertia"):
        bc.optimize(
            pendulum(),
            {"length": (0.01, 0.02)},
            "max body.rod.speed",
            guess={"length": 0.015},
            budget=20,
            **QUICK,
        )


def test_constraints_that_nothing_keeps():
    with pytest.raises(bc.MechanismError, match="keeps the constraints"):
        bc.optimize(
            oscillator(),
            {"stiffness": (1.0, 2.0)},
            distance,
            constraints={"max joint.track.x": (None, -3.0)},
            budget=30,
            **QUICK,
        )


def test_processes_change_nothing():
    given = {"guess": {"stiffness": 4.0}, **QUICK}
    one = bc.optimize(oscillator(), {"stiffness": (0.5, 9.0)}, distance, **given)
    two = bc.optimize(oscillator(), {"stiffness": (0.5, 9.0)}, distance, processes=2, **given)
    assert [entry.value for entry in one.history] == [entry.value for entry in two.history]


def test_the_course_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    found = bc.optimize(
        four_bar(),
        {"coupler": (0.30, 0.80)},
        "peak drive.motor",
        analysis="inverse_dynamics",
        duration=0.5,
        step=0.05,
        budget=40,
    )
    found.plot(tmp_path / "course.png")
    assert (tmp_path / "course.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"parameters": ["stifness"]}, "did you mean 'stiffness'"),
        ({"search": "newton"}, "search must be one of 'auto'"),
        ({"search": "L-BFGS-B", "constraints": {"max joint.track.x": (None, 1)}}, "takes no constraints"),
        ({"constraints": {"max joint.track.x": 3}}, "its bounds must be (low, high)"),
        ({"constraints": {"max joint.track.x": (None, None)}}, "one of them given"),
        ({"constraints": {"top joint.track.x": (0, 1)}}, "a text is a reduction"),
        ({"measure": ["max joint.track.x", "min joint.track.x"]}, "one is made least"),
        ({"budget": 0}, "budget must be a whole number"),
        ({"maximize": 3}, "maximize must be True or False"),
        ({"measure": "max joint.track.xx"}, "no quantity of this name"),
        ({"stp": 1}, "did you mean 'step'"),
    ],
)
def test_wrong_input(changed, said):
    given = {"parameters": {"stiffness": (1.0, 2.0)}, "measure": distance, **QUICK} | changed
    with pytest.raises(bc.MechanismError) as caught:
        bc.optimize(oscillator(), **given)
    assert said in str(caught.value)


def test_bounds_are_needed():
    mech = bc.Mechanism("free")
    mass = mech.add_parameter("mass", 1.0)
    mech.add_body("body", mass=mass, inertia=(1, 1, 1))
    with pytest.raises(bc.MechanismError, match="parameter 'mass' needs two bounds"):
        bc.optimize(mech, ["mass"], "final body.body.z", **QUICK)
