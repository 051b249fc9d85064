"""A run that was tampered with fails its verification; an honest one does not, whatever its kind."""

from dataclasses import replace

import numpy as np
import pytest
from rigs.honest_runs import accusations, pendulum
from rigs.tampering import RUNS, WAYS, box, recorded, tampered

import bellcrank as bc

SAMPLE = (
    "time: doubled",
    "time: second half shifted",
    "time: one frame early",
    "bodies/rotation: reversed",
    "bodies/position: one frame shifted",
    "bodies/velocity: one frame by 0.1 % more",
    "reactions/wrench: one frame times 5",
    "forces/effort: one frame times 5",
    "multipliers/value: one frame by 0.1 % more",
    "points, force: one frame times 5",
    "points, slips: all flipped",
    "events/time: zeroed",
    "ledger/work: all shifted",
    "energy/kinetic: two frames swapped",
    "coordinates/position: a frame late",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {kind: recorded(kind, folder, duration=0.3, ledger=True) for kind in RUNS}


@pytest.mark.parametrize("kind", RUNS)
def test_tampering_is_caught_and_its_place_is_named(kind, files, tmp_path):
    assert bc.verify(bc.Trajectory.load(files[kind])).passed, str(bc.verify(bc.Trajectory.load(files[kind])))
    done = 0
    for way in SAMPLE:
        if tampered(files[kind], tmp_path / "copy.h5", way):
            verdict = bc.verify(bc.Trajectory.load(tmp_path / "copy.h5"))
            assert not verdict.passed, way
            assert verdict.faults, way
            done += 1
    assert done >= 6


def test_the_catalogue_is_long():
    assert len(WAYS) > 60


@pytest.mark.parametrize("seed", [3, 5, 7, 9, 10, 11, 12, 13, 14, 15, 106, 20067, 20084])
def test_honest_runs_are_not_accused(seed):
    assert accusations(seed) == ""


@pytest.mark.parametrize(
    ("method", "law", "check"),
    [
        ("adams", {"restitution": 0.8}, "contact force"),
        ("moreau", {"restitution": 0.8}, "impacts"),
        ("moreau", {"restitution": 0.0}, "impacts"),
        ("moreau", {"friction": 0.1}, "friction"),
    ],
)
def test_a_run_under_another_law_of_contact_is_caught(method, law, check):
    options = {"method": method, "output_step": 2e-3} | ({"step": 1e-3} if method == "moreau" else {})
    run = bc.simulate(box(), 0.5, **options)
    assert bc.verify(box(), run).passed
    verdict = bc.verify(box(**law), run)
    assert not verdict[check].passed, str(verdict)
    assert verdict[check].where == "force 'floor'"


def test_a_speed_at_an_event_is_judged_while_something_touches():
    run = bc.simulate(box(), 0.5, output_step=2e-3)
    assert bc.verify(run).passed
    for number, event in enumerate(run.events):
        state = replace(event.state, velocity=1.05 * event.state.velocity)
        events = [*run.events[:number], replace(event, state=state), *run.events[number + 1 :]]
        wrong = bc.Trajectory(run.layout, run.store, run.status, run.statistics, run.origin, tuple(events))
        assert not bc.verify(wrong).passed, event.name


@pytest.mark.parametrize("restitution", [0.5, 0.9])
def test_another_restitution_of_a_stop_between_two_is_caught(restitution):
    def rod(bounce):
        mech = bc.Mechanism("rod")
        body = mech.add_body("rod", 1.0, (0.01, 0.08, 0.08), position=(0.5, 0, 0))
        ends = mech.ground.marker(axis="y"), body.marker((-0.5, 0, 0), axis="y")
        mech.add_joint("pivot", bc.Revolute(), *ends, bc.Limit(-0.3, 1.0, restitution=bounce))
        return mech

    run = bc.simulate(rod(0.7), 1.5, output_step=5e-3)
    assert bc.verify(rod(0.7), run).passed
    assert not bc.verify(rod(restitution), run)["impacts: stops"].passed


def test_the_absolute_tolerance_of_slow_runs_is_no_accusation():
    made = bc.gallery.catalogue()["prosthetic_shoulder"]()
    run = bc.simulate(made, 0.4, method="bdf", tolerance=1e-7, output_step=2e-3, ledger=True)
    for part in (run, run[:60], run[20:80]):
        assert bc.verify(part).passed, str(bc.verify(part))


@pytest.mark.parametrize("method", ["adams", "moreau"])
def test_another_start_and_another_gravity_are_caught(method):
    run = bc.simulate(box(), 0.3, method=method, output_step=2e-3)
    other = box()
    other.replace(other.bodies["box"], velocity=(1.2, 0, 0))
    assert not bc.verify(other, run)["start"].passed
    leaning = bc.Mechanism("thrown box", gravity=(0.0, 0.2, -9.81))
    sloping = box()
    leaning.replace(leaning.ground, shapes=sloping.ground.shapes)
    body = sloping.bodies["box"]
    leaning.add_body("box", shapes=body.shapes, position=body.position, velocity=body.velocity,
                     angular_velocity=body.angular_velocity)  # fmt: skip
    leaning.add_force("floor", sloping.forces["floor"].kind, "box", "ground")
    verdict = bc.verify(leaning, run)
    assert not verdict["velocities"].passed, str(verdict)
    assert verdict["velocities"].where == "body 'box'"


def test_a_start_that_the_run_does_not_have_is_said():
    run = bc.simulate(box(), 0.1, output_step=2e-3)
    assert "the first frame is at" in bc.verify(run[5:])["start"].where
    again = bc.simulate(box(), 0.1, state=run.at(0.1), output_step=2e-3)
    assert "a given state" in bc.verify(again)["start"].where


def test_a_state_that_was_set_is_an_event():
    with bc.start(pendulum(np.random.default_rng(0)), output_step=2e-3) as run:
        run.advance(0.05)
        run.set_state(replace(run.state, angular_velocity=0.5 * run.state.angular_velocity))
        run.advance(0.05)
        made = run.stop()
    (event,) = [event for event in made.events if event.name == "state set"]
    assert event.time == pytest.approx(0.05)
    assert bc.verify(made).passed, str(bc.verify(made))
    silent = bc.Trajectory(made.layout, made.store, made.status, made.statistics, made.origin, ())
    assert not bc.verify(silent)["velocities"].passed


def test_runs_say_when_their_frames_are():
    run = bc.simulate(box(), 0.1, output_step=2e-3)
    told = run.statistics
    assert (told["first_frame"], told["last_frame"]) == (0.0, 0.1)
    assert told["shortest_interval"] == pytest.approx(2e-3)
    part = run[::5]
    assert part.statistics["longest_interval"] == pytest.approx(0.01)
    assert part.statistics["part"] == "11 of 51 frames"
    two = bc.simulate(
        box(), 0.1, state=replace(run.at(0.1), velocity=0.0 * run.at(0.1).velocity), output_step=2e-3
    )
    joined = bc.concatenate([run, two])
    assert float(joined.statistics["joined_at"]) == 0.1
    assert joined.statistics["last_frame"] == pytest.approx(0.2)
    assert bc.verify(joined).passed, str(bc.verify(joined))
