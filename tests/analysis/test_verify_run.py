"""A run from its file is judged by the mechanism in it: an honest one passes, tampering is named."""

import pickle
import shutil
from dataclasses import replace

import h5py
import numpy as np
import pytest
from rigs.honest_runs import accusations, pendulum
from rigs.tampering import RUNS, WAYS, box, recorded, tampered

import bellcrank as bc

Y = (0, 1, 0)
AT = 37


def machine():
    """A driven, geared wheel beside a swinging arm with a sliding bead on it, a strut, a load and a stop."""
    mech = bc.Mechanism("machine")
    wheel = mech.add_body("wheel", 1.0, (0.01, 0.02, 0.02), com=(0.02, 0, 0.01))
    other = mech.add_body("other", 2.0, (0.01, 0.02, 0.02), position=(0.3, 0, 0))
    arm = mech.add_body("arm", 2.0, (0.05, 0.2, 0.18), com=(0.05, 0.02, 0), position=(0.5, 0, 1))
    bead = mech.add_body("bead", 0.4, (0.01, 0.01, 0.01), com=(0.01, 0, 0.02), position=(0.6, 0, 1))
    mech.add_body("stone", 0.7, (0.01, 0.02, 0.02), velocity=(1, 2, 3), angular_velocity=(3, 1, 0))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(axis=Y), wheel.marker(axis=Y))
    mech.add_joint("bearing", bc.Revolute(), mech.ground.marker((0.3, 0, 0), axis=Y), other.marker(axis=Y))
    mech.add_constraint("mesh", bc.Gear(radii=(0.1, 0.2)), wheel.marker(axis=Y), other.marker(axis=Y))
    mech.add_joint(
        "hip", bc.Revolute(), mech.ground.marker((0, 0, 1), axis=Y), arm.marker((-0.5, 0, 0), axis=Y)
    )
    rail = bc.Limit(-0.5, 0.5)
    x = {"axis": (1, 0, 0)}
    mech.add_joint("rail", bc.Prismatic(), arm.marker((0.1, 0, 0), **x), bead.marker(**x), limits=rail)
    mech.add_drive("motor", "axle", velocity="3 + sin(2*t)")
    mech.add_force(
        "strut", bc.SpringDamper(80.0, 1.5, 0.7), mech.ground.marker((0, 0, 2)), arm.marker((0.3, 0, 0))
    )
    mech.add_force("coil", bc.TorsionSpring(6.0, 0.1, 0.2), "hip")
    mech.add_force("load", bc.Wrench(force=(0, 0, "-3*cos(t)"), moment=(0, 0.4, 0)), bead.marker((0, 0, 0.1)))
    return mech


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Files of a run with accelerations and of one without."""
    folder = tmp_path_factory.mktemp("runs")
    options = {"method": "dopri5", "tolerance": 1e-11, "output_step": 2.5e-3}
    found = {with_them: folder / f"{with_them}.h5" for with_them in (True, False)}
    for with_them, path in found.items():
        bc.simulate(machine(), 0.2, start=2.0, accelerations=with_them, path=path, **options)
    return found


@pytest.mark.parametrize("accelerations", [True, False])
def test_a_sound_run_passes(paths, accelerations):
    verdict = bc.verify(bc.Trajectory.load(paths[accelerations]))
    assert verdict.passed, str(verdict)
    assert not verdict.faults
    judged = {check.name for check in verdict.checks if check.value is not None}
    assert ("balance" if accelerations else "balance: impulses") in judged
    assert {"forces", "forces: energy", "energy", "energy record", "poses", "coordinates"} <= judged
    assert {"constraints: position", "constraints: velocity", "stops: loads", "ideal joints"} <= judged


def multiplied(factor, *place):
    def change(values):
        values[place] *= factor

    return change


def added(what, *place):
    def change(values):
        values[place] += what

    return change


def turned(frame, body, angle):
    """About the y axis of the world."""

    def change(values):
        w, x, y, z = values[frame, body]
        c, s = np.cos(angle / 2), np.sin(angle / 2)
        values[frame, body] = (c * w - s * y, c * x + s * z, c * y + s * w, c * z - s * x)

    return change


ALL = slice(None)
PLANTED = {
    "force at one frame": ("forces/effort", multiplied(1.001, AT, 0), "forces", "force 'strut'", AT),
    "sign of a force": ("forces/effort", multiplied(-1.0, ALL, 1), "forces", "force 'coil'", None),
    "sign of a load": ("forces/effort", multiplied(-1.0, AT, 3), "forces", "force 'load'", AT),
    "energy of a force": ("forces/energy", added(1e-3, AT, 1), "forces: energy", "force 'coil'", AT),
    "sign of a reaction": ("reactions/wrench", multiplied(-1.0, ALL, 3), "balance", "joint 'rail'", None),
    "one reaction": ("reactions/wrench", multiplied(1.01, AT, 2), "balance", "joint 'hip'", AT),
    "effort of a drive": ("multipliers/value", multiplied(1.01, AT, 3), "balance", "drive 'motor'", AT),
    "effort of a gear": ("multipliers/value", multiplied(-1.0, ALL, 2), "balance", "constraint 'mesh'", None),
    "an open stop": ("multipliers/value", added(0.1, AT, 1), "stops: loads", "limit of joint 'rail'", AT),
    "off a joint": ("bodies/position", added(1e-4, AT, 3, 1), "constraints: position", "joint 'rail'", AT),
    "place of what is free": ("bodies/position", added(1e-4, AT, 4, 1), "poses", "body 'stone'", AT),
    "turn about an axle": ("bodies/rotation", turned(AT, 2, 1e-4), "coordinates", "joint 'hip'", AT),
    "turn of what is free": ("bodies/rotation", turned(AT, 4, 1e-4), "poses", "body 'stone'", AT),
    "quaternion": ("bodies/rotation", multiplied(1.01, AT, 4), "rotations", "body 'stone'", AT),
    "velocity": ("bodies/velocity", added(1e-3, AT, 3, 1), "constraints: velocity", "joint 'rail'", AT),
    "coordinate": ("coordinates/position", added(1e-4, AT, 3), "coordinates", "joint 'rail'", AT),
    "rate": ("coordinates/velocity", added(1e-3, AT, 2), "coordinates: rates", "joint 'hip'", AT),
    "energy": ("energy/kinetic", multiplied(1.001, AT), "energy record", "kinetic energy", AT),
    "no number": ("reactions/wrench", added(np.nan, AT, 2), "numbers", "reactions of joint 'hip'", AT),
}  # fmt: skip


def planted(path, copy, what):
    name, change, *_ = PLANTED[what]
    shutil.copy(path, copy)
    with h5py.File(copy, "r+", libver="latest") as file:
        values = file[name][:]
        change(values)
        file[name][:] = values
    return bc.Trajectory.load(copy)


@pytest.mark.parametrize("what", PLANTED)
def test_what_was_planted_is_named(paths, tmp_path, what):
    run = planted(paths[True], tmp_path / "wrong.h5", what)
    verdict = bc.verify(run, samples=2)
    _, _, check, element, frame = PLANTED[what]
    found = verdict[check]
    assert not verdict.passed
    assert not found.passed, str(verdict)
    (fault,) = verdict.faults
    if check == "balance":  # of a body, which the element explains
        assert fault.element == element, str(verdict)
    else:
        assert found.where.startswith(element), str(verdict)
    if frame is not None:
        assert found.time == run.time[frame]
        assert fault.where == f"t = {found.time:.6g} s"


@pytest.mark.parametrize(
    "what", ["sign of a reaction", "one reaction", "effort of a drive", "sign of a force"]
)
def test_balances_are_judged_without_accelerations(paths, tmp_path, what):
    verdict = bc.verify(planted(paths[False], tmp_path / "wrong.h5", what), samples=2)
    assert not verdict["balance: impulses"].passed, str(verdict)
    assert verdict["balance"].value is None
    frame = PLANTED[what][-1]
    if frame is not None:
        assert verdict["balance: impulses"].place.endswith(f"at t = {2 + 2.5e-3 * frame:.6g} s")


def test_frames_too_far_apart_or_uneven_are_not_differentiated():
    wide = bc.verify(bc.simulate(machine(), 2.0, method="dopri5", output_step=0.2), samples=2)
    assert wide["balance: impulses"].value is None
    assert "of 5 bodies are not known well enough" in wide["poses"].meaning
    assert wide.passed, str(wide)
    uneven = bc.simulate(machine(), times=np.linspace(0.0, 0.3, 31) ** 1.5, method="dopri5")
    assert bc.verify(uneven)["balance: impulses"].value is None
    assert bc.verify(uneven).passed


def test_what_tells_no_mechanism_is_refused(paths, tmp_path):
    path = tmp_path / "run.h5"
    shutil.copy(paths[False], path)
    with h5py.File(path, "r+", libver="latest") as file:
        text = file["description"][()]
        del file["description"]
    with pytest.raises(bc.MechanismError, match="does not contain its mechanism"):
        bc.verify(bc.Trajectory.load(path))
    with h5py.File(path, "r+", libver="latest") as file:
        file["description"] = np.bytes_("notes of the day")
    with pytest.raises(bc.MechanismError, match="what it holds of its mechanism cannot be read"):
        bc.verify(bc.Trajectory.load(path))
    assert bc.verify(machine(), bc.Trajectory.load(path)).passed
    with h5py.File(path, "r+", libver="latest") as file:
        del file["description"]
        file["description"] = np.bytes_(text.replace(b"strut", b"strot").replace(b"mesh", b"mosh"))
    with pytest.raises(bc.MechanismError, match="another mechanism, with other multipliers, angles, forces"):
        bc.verify(bc.Trajectory.load(path))
    with h5py.File(path, "r+", libver="latest") as file:
        del file["description"]
        file["description"] = np.bytes_(text)
        file.attrs["start"] = np.nan
    with pytest.raises(bc.MechanismError, match="'start' must be finite, got nan"):
        bc.Trajectory.load(path)


def test_what_cannot_be_judged_is_refused(paths):
    run = bc.Trajectory.load(paths[False])
    with pytest.raises(bc.MechanismError, match="its frames were interpolated"):
        bc.verify(run.resample(step=0.01))
    with pytest.raises(bc.MechanismError, match="3 frames or more"):
        bc.verify(run[:2])
    with pytest.raises(bc.MechanismError, match="give one run"):
        bc.verify(run, run)
    with pytest.raises(bc.MechanismError, match="leave out formulation="):
        bc.verify(run, formulation="lagrange")
    assert bc.verify(run[10:60]).passed


def test_start_values_are_those_of_the_run(tmp_path):
    """A drive by velocity counts from where it is at the start, which is a matter of its time."""
    path = tmp_path / "run.h5"
    run = bc.simulate(machine(), 0.03, start=5.0, path=path)
    assert bc.verify(run).passed
    assert bc.verify(bc.Trajectory.load(path)).passed
    assert bc.verify(machine(), run).passed
    run.save(tmp_path / "copy.h5")
    assert bc.verify(bc.Trajectory.load(tmp_path / "copy.h5")[5:]).passed
    assert bc.verify(pickle.loads(pickle.dumps(run))).passed


def test_a_joined_run_with_a_stop_is_not_accused_of_losing_energy():
    mech = bc.Mechanism("stop")
    rod = mech.add_body("rod", 1.0, (0.01, 0.08, 0.08), position=(0.5, 0, 0))
    ends = mech.ground.marker(axis=Y), rod.marker((-0.5, 0, 0), axis=Y)
    mech.add_joint("pivot", bc.Revolute(), *ends, bc.Limit(upper=1.0, restitution=0.5))
    options = {"method": "dopri5", "output_step": 5e-3}
    one = bc.simulate(mech, 0.8, **options)
    two = bc.simulate(mech, 0.1, state=one.at(0.8), **options)
    assert one.statistics["impacts"]
    verdict = bc.verify(bc.concatenate([one, two]))
    assert verdict["energy"].value is None
    assert verdict.passed, str(verdict)


def test_moments_that_no_force_has_are_not_judged_by_rounding():
    """A rope draws a block along its centre while a weight falls on a stop: no moment acts but 1e-32 N m."""
    mech = bc.Mechanism("rope over an eyelet")
    block = mech.add_body("block", mass=3.0, inertia=(0.01,) * 3, position=(-2, 0, 1))
    weight = mech.add_body("weight", mass=1.0, inertia=(0.01,) * 3, position=(0, 0, 0.6))
    mech.add_joint("slide", bc.Prismatic(), mech.ground.marker((-2, 0, 1), axis="x"), block.marker(axis="x"))
    stop = bc.Limit(lower=-0.3, restitution=0.4)
    mech.add_joint("hang", bc.Prismatic(), mech.ground.marker((0, 0, 0.6)), weight, limits=stop)
    eyelet = mech.ground.marker((0, 0, 1))
    mech.add_constraint("rope", bc.Cable(slack=True), block.marker(), eyelet, weight.marker())
    found = bc.verify(bc.simulate(mech, 0.5, output_step=0.01, formulation="lagrange"))
    assert found.passed, found


def test_an_impact_between_frames_of_fixed_steps_is_not_an_accusation():
    """At none of the frames anything touches: the second ball meets the third one between two of them."""
    mech = bc.Mechanism("balls", gravity=(0, 0, 0))
    for name, x, speed in (("first", -0.46, 2.0), ("second", 0.0, 0.0), ("third", 0.53, 0.0)):
        ball = {"position": (x, 0, 0), "velocity": (speed, 0, 0), "shapes": [bc.Sphere(0.1)]}
        mech.add_body(name, 1.0, (0.004,) * 3, **ball)
    mech.add_force("hit", bc.Contact(stiffness=1e5, restitution=0.6), "first", "second", "third")
    run = bc.simulate(mech, 0.7, method="rk4", step=2e-4, output_step=0.05)
    assert not np.any(run.contact("hit").count)
    assert run.body("third").velocity[-1, 0] > 1.0
    found = bc.verify(run)
    assert found.passed, found


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
