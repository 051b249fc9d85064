"""What the commands do, by what the public API then says; contacts in pictures; assembly."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.rotation import rotate
from bellcrank.shell.interpreter import Shell
from bellcrank.shell.parsing import words
from bellcrank.trajectory import pictures


def test_words():
    def texts(line):
        return [word.text for word in words(line)]

    assert texts("sb a -t 1 2 3 ; where it is") == ["sb", "a", "-t", "1", "2", "3"]
    assert texts('x "two words" y="a b" z=[1, 2] {a: [b; c]}') == [
        "x", "two words", 'y="a b"', "z=[1, 2]", "{a: [b; c]}"
    ]  # fmt: skip
    assert texts("  ") == texts(";only") == []
    for line in ('a "b', "a [1, 2", "a {b"):
        with pytest.raises(bc.MechanismError):
            words(line)


def test_a_generic_body(shell, run):
    run("ib rod")
    body = shell.session.mechanism.bodies["rod"]
    assert (body.mass, np.trace(body.inertia), body.position) == (1.0, 3.0, (0.0, 0.0, 0.0))


def test_set_body(shell, run):
    run("parameter half 1/2", "ib rod")
    run('sb rod -vl 1 2*half 0 -vr 0 0 "90 deg/s" -t half -.5 1e1 -E .5 0 .5 0 -in 1 2 2.5 -m 4*half')
    body = shell.session.mechanism.bodies["rod"]
    assert body.velocity == (1.0, 1.0, 0.0)
    assert body.angular_velocity == pytest.approx((0.0, 0.0, np.pi / 2))
    assert body.position == (0.5, -0.5, 10.0)
    assert body.rotation == pytest.approx((np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0))
    assert np.diag(body.inertia).tolist() == [1.0, 2.0, 2.5]
    assert body.mass == 2.0


def test_forces_of_the_thesis(shell, run):
    run("ib rod", "sb rod -if gravity g -if motor m -if damping d -if support s -if brake b")
    run("sf rod g -g 2", "sf rod m -f 1 2 3 4 5 6 -t 0 0 1 -E 0 0 0 3", "sf rod d -d 7")
    run("sf rod s -d 8 -k 9 -s 1 0 0", "sf rod b -d 10 -t 0 1 0")
    forces = shell.session.mechanism.forces
    assert forces["rod.g"].kind.force == (0.0, 0.0, -2.0)
    motor = forces["rod.m"]
    assert (motor.kind.force, motor.kind.moment, motor.kind.axes) == ((1, 2, 3), (4, 5, 6), "marker")
    assert (motor.markers[0].position, motor.markers[0].rotation) == ((0, 0, 1), (0, 0, 0, 1))
    assert forces["rod.d"].kind == bc.BodyDamping(7.0, 7.0)
    assert forces["rod.s"].kind == bc.SupportPoint(9.0, 8.0)
    assert forces["rod.s"].markers[0].position == (1.0, 0.0, 0.0)
    assert forces["rod.b"].kind == bc.BodyDamping(10.0)
    run("sb rod -m 3")
    assert shell.session.mechanism.forces["rod.g"].kind.force == (0.0, 0.0, -6.0)


def test_gravity_lets_a_body_fall(shell, run):
    run("ib rod", "sb rod -if gravity g", "sstepsize 0.1", "step 10")
    z = shell.session.state().position[0, 2]
    assert z == pytest.approx(-9.81 / 2, abs=1e-6)


def test_toggling_a_force(shell, run):
    run("ib rod", "sb rod -if gravity g", "sb rod -f g", "step 3")
    assert shell.session.state().velocity[0, 2] == 0.0
    assert run("pf rod g").data["forces"]["rod.g"]["on"] is False
    run("sf rod g -g 2")  # also while it is off
    run("sb rod -f g", "sstepsize 0.5", "step 2")
    assert shell.session.state().velocity[0, 2] == pytest.approx(-2.0, abs=1e-6)


def test_a_rubber_string(shell, run):
    run("ib a", "ib b", "sb b -t 3 0 0", "ir s a b -lone .5 0 0 -ltwo -.5 0 0 -k 20 -l 4 -e .1")
    force = shell.session.mechanism.forces["s"]
    assert force.kind == bc.RubberString(20.0, 4.0, 0.1)
    assert [m.position for m in force.markers] == [(0.5, 0, 0), (-0.5, 0, 0)]


def test_a_link_is_a_pendulum(shell, run):
    """A rod of 2 m about a horizontal axis at its end: small swings with ω² = m g l/(J + m l²)."""
    run("il ground rod", "sb rod -in 1/3 1/3 1e-3 -if gravity g")
    run("sl ground rod -djE .5 .5 .5 .5 -pjE .5 .5 .5 .5 -pjt 0 0 1 -q 1e-3")  # z of the joint along world x
    model = bc.info(shell.session.mechanism)
    assert model.freedom == 1
    run("sstepsize 0.01", "sacc -r 1e-10 -a 1e-12", "step 100")
    angle = shell.session.trajectory().joint("rod").position[:, 0]
    rate = np.sqrt(9.81 / (1 / 3 + 1.0))
    time = shell.session.trajectory().time
    np.testing.assert_allclose(angle, 1e-3 * np.cos(rate * time), atol=1e-9)


@pytest.mark.parametrize(
    ("axis", "kind", "point"),
    [
        ("0 0 2 0 0 0", bc.Revolute(), (0, 0, 0)),
        ("0 1 0 0 0 1", bc.Revolute(), (1, 0, 0)),  # r × y = z at r = x... the origin moves along z about y
        ("0 0 0 0 3 0", bc.Prismatic(), (0, 0, 0)),
        ("0 0 1 0 0 0.5", bc.Screw(np.pi), (0, 0, 0)),
    ],
)
def test_an_explicit_spatial_axis(shell, run, axis, kind, point):
    """The twist, angular over linear at the origin of the frame on the child, is the one that was given."""
    run("il ground rod", f"sl ground rod -s {axis}")
    joint = shell.session.mechanism.joints["rod"]
    assert joint.kind == kind
    twist = np.array(list(map(float, axis.split())))
    marker = joint.marker_2
    np.testing.assert_allclose(np.abs(marker.position), np.abs(point), atol=1e-12)
    along = twist[:3] if np.any(twist[:3]) else twist[3:]
    np.testing.assert_allclose(marker.z_axis, along / np.linalg.norm(along), atol=1e-12)
    if isinstance(kind, bc.Revolute):  # v of the origin = r × ω
        np.testing.assert_allclose(np.cross(marker.position, twist[:3]), twist[3:], atol=1e-12)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
def test_print_link_tells_the_reaction(shell, run, formulation):
    """A rod that swings through its lowest point: the hinge carries m g + m l ω²."""
    run(f"formulation {formulation}", "gravity 0 0 -9.81", "il ground rod", "sb rod -m 2")
    run("sl ground rod -djE .5 .5 .5 .5 -pjE .5 .5 .5 .5 -pjt 0 0 1 -qdot 3")
    told = run("pl rod").data["joints"]["rod"]
    assert told["coordinates"]["theta_z"] == pytest.approx((0.0, 3.0), abs=1e-12)
    np.testing.assert_allclose(told["force"], (0, 0, 2 * (9.81 + 9.0)), atol=1e-9)
    assert told["unique"]
    run("drive held rod velocity=3", "step 1")
    assert set(run("pl").data["drives"]) == {"held"}


def test_endpoint_constraints(shell, run):
    run("ib rod", "sb rod -t 1 2 3 -vl 1 0 0", "ilc rod nail", "step 5")
    np.testing.assert_allclose(shell.session.state().position[0], (1, 2, 3), atol=1e-12)
    run("ilc rod free", "sb rod -vl 1 0 0", "sstepsize 0.1", "step 10")
    np.testing.assert_allclose(shell.session.state().position[0], (2, 2, 3), atol=1e-9)
    run("ilc rod move_to_point -p 0 0 5 -d 0.5", "step 10")
    np.testing.assert_allclose(shell.session.state().position[0], (0, 0, 5), atol=1e-9)
    assert set(shell.session.mechanism.drives) == {"rod.move"}


def test_the_clock(shell, run):
    run("ib rod", "sb rod -vl 1 0 0", "sstepsize 1/4", "step 2")
    assert run("rtime").data["time"] == pytest.approx(0.5)
    run("stime 7")
    assert run("rtime").data["time"] == 7.0
    run("step 1")
    assert run("rtime").data["time"] == pytest.approx(7.25)
    assert shell.session.state().position[0, 0] == pytest.approx(0.75)
    run("reset")
    assert shell.session.state().position[0, 0] == 0.0


def test_steps_make_one_history(shell, run):
    run(
        "ib rod",
        "sb rod -vl 1 0 0 -if damping air",
        "sstepsize 0.1",
        "step 3",
        "sf rod air -d 3",
        "step 2",
        "step 1",
    )
    history = shell.session.trajectory()
    np.testing.assert_allclose(history.time, 0.1 * np.arange(7), atol=1e-12)
    speed = np.exp(-0.3) * np.exp(-0.9)
    assert history.body("rod").velocity[-1, 0] == pytest.approx(speed, rel=1e-5)
    assert history.statistics["steps"] > shell.session.now.history[-1].statistics["steps"]


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
@pytest.mark.parametrize("method", ["adams", "dopri5", "rk4 step=1e-3"])
def test_formulation_and_method(shell, run, formulation, method):
    run("il ground rod", "sb rod -if damping air", "sl ground rod -qdot 2")
    run(f"formulation {formulation}", f"method {method}", "run 0.5")
    statistics = shell.session.trajectory().statistics
    assert (statistics["formulation"], statistics["method"]) == (formulation, method.split()[0])
    rate = shell.session.trajectory().joint("rod").velocity[-1, 0]
    assert rate == pytest.approx(2 * np.exp(-0.5), rel=1e-5)


def test_elements_take_units_and_parameters(shell, run):
    run("gravity 0 0 -9.81", "parameter length 0.5 unit=m")
    run('body bob mass="2 kg" inertia=[0.01, 0.01, 0.01] position=[0, 0, "-50 cm"]')
    run("joint pivot Spherical ground {body: bob, position: [0, 0, length]}")
    run('force damper BodyDamping bob rotational_damping="0.5 N m s/rad"')
    mechanism = shell.session.mechanism
    assert mechanism.bodies["bob"].position[2] == -0.5
    assert mechanism.forces["damper"].kind.rotational_damping == (0.5, 0.5, 0.5)
    run("parameter length 0.7")
    assert float(shell.session.mechanism.parameters["length"].value) == 0.7
    run("step 1")  # the joint is met with the new length
    z = shell.session.state().position[0, 2]
    assert z == pytest.approx(-0.7, abs=0.01)


def test_an_edit_starts_from_where_the_bodies_are(shell, run):
    run("ib a", "ib b", "sb a -vl 1 0 0", "sb b -t 5 0 0", "sstepsize 1", "step 2")
    run("joint tie Spherical {body: a, position: [1, 0, 0]} {body: b, position: [-2, 0, 0]}")
    assert bc.info(shell.session.mechanism).freedom == 9
    np.testing.assert_allclose(shell.session.state().position[0], (2, 0, 0), atol=1e-9)
    run("step 1")
    np.testing.assert_allclose(
        shell.session.state().position[:, 0].mean(), 4.0, atol=1e-6
    )  # momentum is kept


def test_files(shell, run, tmp_path):
    run("ib rod", "sb rod -if support foot -if gravity g -t 0 0 1", "sstepsize 0.05", "sacc -r 1e-5")
    run(f"save {tmp_path / 'm.yaml'}", f"save {tmp_path / 'm.json'}")
    run("step 4", f"save {tmp_path / 'r.h5'}")
    assert bc.Trajectory.load(tmp_path / "r.h5").time[-1] == pytest.approx(0.2)
    other = Shell()
    assert other.execute(f"load {tmp_path / 'm.yaml'}").ok
    assert other.session.mechanism == bc.load(tmp_path / "m.json")
    assert other.session.now.settings.rtol == 1e-5
    assert other.execute("step 4").ok
    np.testing.assert_allclose(other.session.state().position, shell.session.state().position, atol=1e-12)
    assert other.execute("sf rod foot -k 5").ok  # it is known to be a support


def test_statistics_of_the_integrator(shell, run):
    run("il ground rod", "sl ground rod -qdot 2", "sb rod -if damping air", "sacc -r 1e-5 -a 1e-8", "run 1")
    told = run("rlsode").data
    assert told["steps"] > 5
    assert told["calls"] >= told["steps"]
    assert 0.0 < told["last_stepsize"] < 1.0
    assert told["next_stepsize"] > 0.0
    assert 1 <= told["order"] <= 12
    assert (told["relative_accuracy"], told["absolute_accuracy"]) == (1e-5, 1e-8)


def test_assemble(shell, run):
    run("ib a", "ib b", "sb b -t 3 0.2 0", "ilc a nail")
    run("joint tie Spherical {body: a, position: [1, 0, 0]} {body: b, position: [-1, 0, 0]}")
    assert run("assemble").data["changed"]
    b = shell.session.mechanism.bodies["b"]
    assert b.position == pytest.approx((2, 0, 0), abs=0.3)
    point = np.array(b.position) + rotate(b.rotation, (-1, 0, 0))
    np.testing.assert_allclose(point, (1, 0, 0), atol=1e-9)
    assert not shell.execute("assemble nobody").ok


def test_joints_at_which_loops_are_cut(shell, run):
    """A door on hinges "1" and "2", whose names are no numbers."""
    run("ib door", *(f"joint {name} Revolute ground door" for name in (1, 2)))
    for cut, chosen in (("cut=1", "1"), ("cut=2", "2"), ("", "2")):
        run(f"formulation recursive {cut}", "run 0.01")
        assert shell.session.trajectory().statistics["cut_joints"] == chosen
    run("formulation recursive cut=1,2")
    refused = shell.execute("run 0.01")
    assert not refused.ok
    assert "without joints '1', '2' together no joint would carry body 'door'" in refused.text


def test_what_a_file_cannot_contain_is_noted_where_it_is_saved(shell, run, tmp_path):
    run("ib rod", "force cord RubberString rod ground stiffness=20 rest_length=0.1")
    reply = run(f"save {tmp_path / 'm.xml'}")
    assert "note: left out: force 'cord': MJCF has no counterpart of it" in reply.text
    assert "left out" not in run(f"save {tmp_path / 'm.yaml'}").text


def test_settings_are_saved_and_loaded(shell, run, tmp_path):
    run("ib rod", "formulation lagrange position_tolerance=1e-12", "method adams max_order=5 max_step=0.1")
    run(f"save {tmp_path / 'm.yaml'}")
    other = Shell()
    assert other.execute(f"load {tmp_path / 'm.yaml'}").ok
    assert other.session.now.settings == shell.session.now.settings
    assert other.execute("pl").ok
    assert other.execute("step 2").ok


def test_a_script_answers_with_what_its_commands_answer(shell, run, tmp_path):
    (tmp_path / "inner.bell").write_text("ib rod\nrtime ; in a script\n")
    (tmp_path / "outer.bell").write_text(f"source {tmp_path / 'inner.bell'}\necho over\n")
    reply = run(f"source {tmp_path / 'outer.bell'}")
    assert reply.text.splitlines() == ["0 s", "2 commands done", "over", "2 commands done"]
    (tmp_path / "bad.bell").write_text("ib bob\nib rod\n")
    before, steps = shell.session.now, shell.session.steps_back
    refused = shell.execute(f"source {tmp_path / 'bad.bell'}")
    assert "bad.bell:2: body 'rod': this name is taken" in refused.text
    assert (shell.session.now, shell.session.steps_back) == (before, steps)
    (tmp_path / "loop.bell").write_text(f"source {tmp_path / 'loop.bell'}\n")
    assert "'loop.bell' runs 'loop.bell'" in shell.execute(f"source {tmp_path / 'loop.bell'}").text
    for number in range(30):
        (tmp_path / f"{number}.bell").write_text(f"source {tmp_path / f'{number + 1}.bell'}\n")
    assert "nested more than 20 deep" in shell.execute(f"source {tmp_path / '0.bell'}").text


def test_undo(shell, run):
    run("ib rod", "sb rod -vl 1 0 0", "step 3")
    there, mechanism = shell.session.now, shell.session.mechanism
    run("sb rod -m 5", "step 2", "sb rod -if gravity g", "undo", "undo", "undo")
    assert shell.session.now is there
    assert shell.session.mechanism is mechanism
    run("undo", "undo", "undo")
    assert not shell.session.mechanism.bodies
    assert not shell.execute("undo").ok


@pytest.fixture
def box(tmp_path, run, monkeypatch):
    mech = bc.Mechanism("box on a table")
    mech.replace(mech.ground, shapes=[bc.Plane(size=1.0)])
    mech.add_body("box", position=(0, 0, 0.1), shapes=[bc.Box(size=(0.2, 0.2, 0.2), density=500.0)])
    mech.add_force("table", bc.Contact(1e5, friction=0.4), "box", "ground")
    monkeypatch.chdir(tmp_path)
    bc.save(mech, "box.yaml")
    run("load box.yaml", "sstepsize 0.01")


def test_several_commands_make_one_run_with_all_points(box, run):
    run("step 3", "step 2", "save run.h5")
    saved = bc.Trajectory.load("run.h5")
    assert len(saved) == 6
    contact = saved.contact("table")
    assert contact.count.tolist() == [0, 4, 4, 4, 4, 4]
    together = np.add.reduceat(contact.points().normal_force, np.arange(0, 20, 4))
    forces = saved.force("table")
    np.testing.assert_allclose(
        together, forces.effort[1:, forces.coordinates.index("box.force_z")], rtol=1e-9
    )


def test_pictures_show_contacts(box, run, shell, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    drawn, overlay = [], pictures._overlaid

    def overlaid(_run, times, _paths, contacts, force_scale):
        drawn.append((times, contacts, force_scale))
        return overlay(_run, times, _paths, contacts, force_scale)

    monkeypatch.setattr(pictures, "_overlaid", overlaid)
    run("step 3", "draw picture now.png -contacts -scale 200")
    run("draw corpus step.png 2 -contacts -scale '2 kN/m'", "step 2")
    assert [given[1:] for given in drawn] == [(True, 200.0), (True, 2000.0)]
    assert [given[0] for given in drawn] == [pytest.approx([0.03]), pytest.approx([0.04])]
    assert {p.name for p in tmp_path.glob("*.png")} == {"now.png", "step_00004.png"}
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    run("draw picture real.png -contacts")
    assert (tmp_path / "real.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (("draw picture a.png -contacts",), "nothing has been run yet"),
        (("step 1", "draw null -contacts"), "-contacts belongs to pictures"),
        (("step 1", "draw picture a.png -scale 3"), "-scale is that of -contacts"),
        (("step 1", "draw picture a.png -contacts -scale -3"), "force_scale must be greater than zero"),
        (
            ("step 1", "sb box -t 0 0 1", "draw picture a.png -contacts"),
            "moved since the last step|nothing has",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(box, shell, lines, text):
    pytest.importorskip("matplotlib")
    *before, last = lines
    for line in before:
        assert shell.execute(line).ok
    reply = shell.execute(last)
    assert not reply.ok
    assert any(part in reply.text for part in text.split("|"))


CHAIN = (
    "ib upper",
    "ib lower",
    "sb lower -t 0.5 1 -0.6",
    "joint top Spherical {body: ground, position: [0, 0, 1]} {body: upper, position: [0, 0, 0.5]}",
    "joint middle Spherical {body: upper, position: [0, 0, -0.5]} {body: lower, position: [0, 0, 0.5]}",
)


def error(run):
    return run.violation.position


def test_by_constraint_forces_the_motion_is_kept_and_drawn(shell, run):
    run(*CHAIN, "sstepsize 0.05", "draw bolio")
    reply = run("assemble method=constraint_forces time_constant=0.05")
    motion = shell.session.trajectory()
    assert reply.data["frames"] == len(motion) > 100
    assert sum(line.startswith("pose lower ") for line in reply.data["drawn"]) == len(motion) - 1
    assert reply.text.splitlines()[0].startswith("time ")
    assert error(motion)[0] > 0.5
    assert error(motion)[-1] < 1e-8
    assert run("rtime").data["time"] == 0.0
    at = shell.session.mechanism.bodies["lower"].position
    np.testing.assert_allclose(motion.body("lower").position[-1], at, atol=1e-7)
    run("step 1")
    np.testing.assert_allclose(
        shell.session.trajectory().time, [0.0, 0.05]
    )  # the motion was before the clock


def test_root_finding_has_no_motion(shell, run):
    assert run(*CHAIN, "assemble").data["changed"]
    assert not shell.session.now.history
    other = Shell()
    for line in (*CHAIN, "sb lower -t 0.6 0 -0.3", "assemble lower method=constraint_forces"):
        assert other.execute(line).ok
    np.testing.assert_allclose(other.session.mechanism.bodies["lower"].position, (0.6, 0, -0.3), atol=1e-9)


@pytest.mark.parametrize("command", ["run 3 output_step=0.05", "step 60"])
@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
def test_a_run_begins_with_the_snapping(shell, run, command, formulation):
    run(*CHAIN, "gravity 0 0 -9.81", "sstepsize 0.05", f"formulation {formulation}")
    run(f"{command} assemble=constraint_forces")
    seen = shell.session.trajectory()
    closed = seen.statistics["closed_at"]
    assert 0.5 < closed < 3.0
    assert error(seen)[0] > 0.5
    assert np.all(error(seen)[seen.time > closed] < 1e-6)
    assert np.max(np.linalg.norm(np.diff(seen.body("lower").position, axis=0), axis=1)) < 0.5  # no jump
    run("step 10")
    history = shell.session.trajectory()
    np.testing.assert_allclose(history.time, 0.05 * np.arange(71), atol=1e-9)
    assert np.all(error(history)[history.time > closed] < 1e-6)


def test_what_is_taken_from_the_start_is_that_of_the_closed_structure(shell, run):
    run(*CHAIN, "force spring SpringDamper ground lower stiffness=50 damping=20")
    run("run 4 output_step=0.05 assemble=constraint_forces")
    closed = shell.session.model()
    run("step 5")
    assert shell.session.model() is closed
    run("reset")
    assert shell.session.model() is not closed


def test_a_run_too_short_for_the_snapping_is_refused(shell, run):
    run(*CHAIN)
    reply = shell.execute("run 0.1 assemble=constraint_forces")
    assert not reply.ok
    assert "let the run last longer" in reply.text
    assert shell.session.now.live is None


def test_a_run_may_snap_together_after_others(shell, run):
    run("ib a", "sb a -vl 1 0 0", "run 1", "ib b", "sb b -t 3 0 0")
    run("joint tie Spherical {body: a, position: [0.5, 0, 0]} {body: b, position: [-0.5, 0, 0]}")
    run("run 4 assemble=constraint_forces")
    assert shell.session.now.time == pytest.approx(5.0)
    momentum = shell.session.state().velocity.sum(axis=0)
    np.testing.assert_allclose(momentum, (1.0, 0, 0), atol=1e-6)
