"""Slips of newcomers, in calls and attributes: each is answered in our form, by what was meant."""

import copy
import dataclasses
import inspect
import pickle

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import NotFound
from bellcrank.slips import Named, Names, NoAttribute, NoName, WrongCall

CALLS = {
    # words of other programs
    "bc.SpringDamper(k=100)": "SpringDamper: it has no argument 'k', got 100; here it is called 'stiffness'",
    "bc.SpringDamper(100, c=2)": "it has no argument 'c', got 2; here it is called 'damping'",
    "bc.SpringDamper(100, l0=0.2)": "here it is called 'rest_length'",
    "bc.Sphere(r=1)": "here it is called 'radius'",
    "bc.Cylinder(0.1, height=2)": "here it is called 'length'",
    "bc.Sphere(0.1, rho=7850)": "here it is called 'density'",
    "bc.Box(size=(1, 1, 1), colour='red')": "here it is called 'color'",
    "bc.Box(dimensions=(1, 1, 1))": "here it is called 'size'",
    "bc.Limit(min=0)": "here it is called 'lower'",
    "bc.JointFriction(mu=0.3)": "a coefficient goes with a load: load=bc.Slide(length, coefficient)",
    "bc.Contact(1e5, mu=0.3)": "here it is called 'friction'",
    "bc.Wrench(torque=(0, 0, 1))": "here it is called 'moment'",
    "bc.RevoluteMotor(speed=1.0)": "here it is called 'velocity'",
    "bc.Harmonic(amplitude=1, freq=2)": "it takes omega, in rad/s: 2*pi times the frequency",
    "bc.Mechanism('m', g=9.81)": "Mechanism: it has no argument 'g', got 9.81; here it is called 'gravity'",
    "m.add_body('b', 1, (1, 1, 1), pos=(0, 0, 1))": "body 'b': it has no argument 'pos', got (0, 0, 1); here",
    "m.add_body('b', m=1, I=(1, 1, 1))":
        "2 faults in the call:\n  1. body 'b': it has no argument 'm', got 1; "
    "here it is called 'mass'\n  2. body 'b': it has no argument 'I', got (1, 1, 1); here it is",
    "m.add_body('b', 1, (1, 1, 1), omega=(0, 0, 1))": "here it is called 'angular_velocity'",
    "m.add_joint('k', bc.Revolute(), body1='ground', body2=a)":
        "'body2', got 'a'; here it is called 'marker_2'",
    "m.add_joint('k', bc.Revolute(), 'ground', a, angle=1)": "here it is called 'position'",
    "m.add_drive('d', 'j', speed=3)":
        "drive 'd': it has no argument 'speed', got 3; here it is called 'velocity'",
    "bc.simulate(m, t_end=1.0)":
        "simulate: it has no argument or option 't_end'; here it is called 'duration'",
    "bc.simulate(m, 1.0, dt=0.01)": "a fixed step is step=, the time between frames is output_step=",
    "bc.simulate(m, 1.0, solver='rk4')": "here it is called 'method'",
    "m.join('k', bc.Revolute(), 'ground', 'a', at=(0, 0, 0))": "bodies stand in a list, as ['ground', 'rod']",
    "m.add_force('s', bc.SpringDamper(10.0), 'j')": "it is a joint: give the two ends",
    "m.add_force('s', bc.TorsionSpring(10.0), 'ground', 'a')": "TorsionSpring acts on joints, got 'ground'",
    "m.add_joint('k', bc.Spherical(), 'ground', 'a.tip')": "register it: mech.add_marker(body.marker(...",
    "m.add_parameter('L', 100.0, 'mm')": "unit must be one of SI, in which the value is, got 'mm'",
    # what is done in another way
    "bc.Revolute(friction=0.1)": "mech.add_force(name, bc.JointFriction(coulomb=...), joint=...)",
    "bc.Revolute(axis='z')": "the axis is that of its markers: body.marker(point, axis=\"y\")",
    "bc.Revolute(limits=(0, 1))": "give limits=bc.Limit(lower, upper) to add_joint",
    "m.add_body('b', 1, (1, 1, 1), fixed=True)": "mech.add_joint(name, bc.Fixed(), \"ground\", body)",
    "m.add_body('b', density=7850)": "shapes have densities",
    "m.add_body('b', 1, (1, 1, 1), euler=(0, 0, 1))": "rotation=bc.rotation(rpy=(roll, pitch, yaw))",
    "m.add_joint('k', bc.Revolute(), 'ground', a, axis='z')":
        "mech.join(name, kind, bodies, at, axis) takes it",
    "m.add_joint('k', bc.Revolute(), 'ground', a, lower=0)": "give limits=bc.Limit(lower, upper)",
    "m.add_drive('d', 'j', torque=3)": "mech.add_force(name, bc.JointMotor(effort), joint=...)",
    "bc.rotation(axis='z', degrees=90)": "give the angle with its unit: angle=\"90 deg\"",
    # misspelt, other case, singular and plural
    "bc.SpringDamper(stifness=1)": "did you mean 'stiffness'?",
    "m.add_body('b', 1, (1, 1, 1), Mass=3)": "did you mean 'mass'?",
    "m.add_body('b', 1, (1, 1, 1), shape=bc.Sphere(1.0))": "here it is called 'shapes'",
    "m.add_joint('k', bc.Revolute(), 'ground', a, limit=None)": "here it is called 'limits'",
    "m.add_force('f', bc.TorsionSpring(1.0), joints='j')": "here it is called 'joint'",
    # arguments without names, too many and too few
    "bc.Box(1, 1, 1)":
        "it takes 1 argument without a name, 3 are given, got (1, 1); did you mean Box((1, 1, 1))?",
    "bc.Revolute('z')":
        "it takes no arguments without a name, 1 is given, got ('z',); the axis is that of its",
    "bc.simulate(m, 1.0, 0.01)": "name those after duration: times, start,",
    "bc.SpringDamper()": "SpringDamper: stiffness is missing; call it as SpringDamper(stiffness, ...)",
    "bc.SpringDamper(100, stiffness=2)": "stiffness is given twice, got 2",
    "m.add_joint('k', bc.Revolute())":
        "joint 'k': marker_1 and marker_2 are missing; call it as add_joint(name,",
    "m.add_marker('tip', a, (0, 0, 1))": "mech.add_marker(body.marker((0, 0, 1), name=\"tip\"))",
    "bc.kinematics(m)": "kinematics: it needs a duration, or times; such as duration=1.0",
    "bc.simulate()": "simulate: mechanism is missing; call it as simulate(mechanism, ...)",
    "bc.simulate(1.0)": "simulate: a Mechanism is needed here, got 1.0; make one with bc.Mechanism(name)",
    "bc.load()": "load: path is missing",
    "bc.statics(m, angle=3)": "statics: it has no argument 'angle', got 3",
    "a.marker(pos=(0, 0, 1))": "marker: it has no argument 'pos', got (0, 0, 1); here it is called 'pos",
    "run.body('a').point()": "point: offset is missing",
    # values
    "bc.simulate(m, 1.0, method='RK4')": "there is no method 'RK4'; did you mean 'rk4'?",
    "bc.rotation('z', '90 degrees')": "'degrees': here it is written 'deg'",
    "bc.Box(size=(1, 1, 1), color='tann')":
        "Box: color: there is no colour of this name, got 'tann'; did you mean",
    "bc.load('no_such_file.yaml')": "file 'no_such_file.yaml': there is no such file",
    "m.bodies['A']": "body 'A': there is no body of this name; did you mean 'a'?",
    "rest.drives['x']": "drive 'x': there is no drive of this name; there is none yet",
    # units, as they are spelt
    "bc.quantity('1500 rmp')": "this unit is not known, got '1500 rmp'; 'rmp': did you mean 'rpm'?",
    "m.add_drive('d', 'j', velocity='1500 rmp')": "drive 'd': velocity: this unit is not known",
    "bc.Sphere('10 meters')": "'meters': here it is written 'm'",
    "bc.Box((1, 1, 1), density='7.85 g/cc')": "'cc': here it is written 'cm^3'",
    # things of another sort
    "bc.Mechanism('m', gravity=9.81)": "gravity must hold 3 numbers, got 9.81; such as (0, 0, -9.81)",
    "m.add_body('b', 1, (1, 1, 1), rotation=(0, 0, 90))": "bc.rotation makes them, as in bc.rotation(\"z\"",
    "m.add_body('b', 1, (1, 1, 1), position=a)": "position must hold 3 numbers, got Body 'a'; give them in m",
    "m.add_body('b', 1, (1, 1, 1), position=np.array(['a', 'b', 'c']))": "position must hold 3 numbers, got",
    "m.add_body(bc.Box((1, 1, 1), density=1.0))": "body: the name must be a text, got Box(",
    "m.add_body('b', bc.Box((1, 1, 1), density=1e3))": "its shapes are no mass",
    "m.add_joint('k', 'revolute', 'ground', a)": "got 'revolute'; did you mean bc.Revolute(...)",
    "m.add_joint('k', bc.Revolute(), 'world', a)": "the world is 'ground'",
    "m.add_joint('k', bc.Revolute(), j, a)": "got Joint 'j'; it is a joint: give the two ends",
    "m.join('k', bc.Revolute(), ['ground', a.marker()], at=(0, 0, 0))": "a body is needed here, got Marker(",
    "m.add_force('f', 10, a)": "the kind must be a ForceKind, got 10; such as bc.Wrench(force=(0, 0, 10))",
    "m.add_drive('d', a, position=1)": "a joint is needed here, got Body 'a'; give a joint: 'a' has 'j'",
    "m.replace('a', mass=2)": "give the element itself: mech.bodies['a']",
    "m.remove('k')": "this is not one of its elements, got 'k'",
    "bc.simulate('file.yaml', 1.0)": "a Mechanism is needed here, got 'file.yaml'; read it first: bc.load(",
    "bc.simulate([m], 1.0)": "give one at a time",
    "bc.simulate(bc.Mechanism, 1.0)": "write Mechanism(name), with parentheses",
    "bc.info(run)": "a Mechanism is needed here, got <Trajectory of 'm'",
    "bc.simulate(m, t=10)": "it has no argument or option 't'; here it is called 'duration'",
    "bc.simulate(m, 1.0, gravity=(0, 0, 0))": "it is of the mechanism: mech.gravity",
    "bc.simulate(m, 1.0, verbose=True)": "here it is called 'progress'",
    "bc.simulate(m, 1.0, initial={})": "add_joint(..., position=, velocity=) says how it starts",
    "bc.simulate(m, 1.0, events='hit')": "they must be bc.Event, got 'hit'",
    "bc.simulate(m, 1.0, method='ode45')": "there is no method 'ode45'; the nearest here is 'dopri5'",
    "bc.simulate(m, 1.0, formulation='featherstone')": "the nearest here is 'recursive'",
    "bc.Simulation(m)": "it is what a file says of a run, got Mechanism 'm'; bc.simulate(mech, duration)",
    "bc.expression.sin('x')": "a text is no number, got 'x'; bc.symbol('x') is a symbol",
    "run.plot('a')": "there is no plot of this kind, got 'a'; write run.plot('body', 'a')",
    "run.plot(run.joint('j'))": "write run.plot('joint', 'j')",
    "run.plot(run.time)": "arrays are plotted by matplotlib itself",
    "run.draw(0.1)": "a path is needed here, got 0.1",
    # brackets and parentheses
    "m['a']": "Mechanism 'm': it has no parts in brackets, got 'a'; its tables have: mech.bodies['a']",
    "run['j']": "results by name are called: run.joint('j')",
    "run(0.1)": "Trajectory: it is not a function; at a time run.at(t) is its state",
    "run.body('a')[0]": "arrays over time are its attributes, such as position[k]",
    "run.energy()": "arrays over time are its attributes: kinetic, potential, total",
    "run.at(0.02)['a']": "by name, run.body('a')",
    "rest['j']": "its tables have: rest.joints['j']",
    "bc.start(m)['a']": "run.now().body('a')",
    # what does not change
    "setattr(m, 'bodies', {})": "bodies cannot be set; mech.add_body(...) adds one",
    "m.bodies.__setitem__('c', a)": "body 'c': it cannot be put in here; mech.add_body(...) adds one",
    "m.bodies.__delitem__('a')": "it cannot be deleted here; mech.remove(element)",
    "run.bodies['a']":
        "an index is a number here, got 'a'; results by name are called, such as run.body('a')",
}  # fmt: skip
ATTRIBUTES = {
    "m.simulate(1.0)": "Mechanism 'm': it has no attribute 'simulate'; bc.simulate(mech, duration)",
    "m.add_spring": "it is a force: mech.add_force(name, bc.SpringDamper(...), marker, marker)",
    "m.bodys": "did you mean 'bodies'",
    "m.body('a')": "mech.bodies[name]",
    "a.pos": "Body 'a': it has no attribute 'pos'; here it is called 'position'",
    "a.marker().position_in_world": "mech.position_in_world(marker)",
    "j.torque": "run.joint(name).reaction",
    "run.body('a').pos": "BodyHistory 'a': it has no attribute 'pos'; here it is called 'position'",
    "run.body('a').torque": "run.joint(name).reaction",
    "run.joint('j').angle": "here it is called 'position'",
    "run.joint('j').torque": "a drive's is run.drive(name).effort",
    "run.force('s').torque": "here it is called 'effort'",
    "run.t": "Trajectory: it has no attribute 't'; here it is called 'time'",
    "run.show()": "run.draw(), run.plot()",
    "run.energy.kinetics": "did you mean 'kinetic'",
    "rest.forcess": "did you mean 'forces'?",
    "rest.joints['j'].torque": "here it is called 'moment'",
    "setattr(a, 'mass', 3)": "Body 'a': mass cannot be set: what it holds does not change; go on with what "
    "replaces it: mech.replace(mech.bodies['a'], mass=3)",
    "setattr(j.kind, 'x', 3)": "make another one, and mech.replace(element, kind=...)",
    "setattr(m, 'gravty', 3)": "Mechanism 'm': it has no attribute 'gravty'; did you mean 'gravity'?",
    "m.bodies.append(a)": "mech.add_body(...) adds one",
    "m.joints.j": "joints: there is no attribute 'j'; names stand in brackets, as in joints['j']",
    "rest.forces.ss": "names stand in brackets, as in table['s']",
    "bc.start(m).step()": "run.advance(duration)",
    "bc.start(m).body('a')": "run.now().body(name)",
    "bc.prepare(m).M": "linear equations are bc.linearize(mech)",
    "bc.modes(m).eigenvectors": "displacements, or draw(number)",
    "run.T": "here it is called 'time'",
    "m.finalize()": "it is ready: bc.simulate(mech, duration)",
    "bc.Pulley": "a rope over wheels is Rope",
    "bc.Part": "bodies are made by mech.add_body",
    "bc.Gravity": "mech.gravity = (0, 0, -9.81)",
    "bc.Hinge": "a joint that turns is Revolute",
    "bc.RevoluteJoint": "a joint that turns is Revolute",
    "bc.Weld": "a rigid joint is Fixed",
    "bc.mechansim": "did you mean Mechanism",
}


@pytest.fixture(scope="module")
def names():
    m = bc.Mechanism("m")
    a = m.add_body("a", 1.0, (1, 1, 1))
    j = m.add_joint("j", bc.Revolute(), m.ground, a)
    m.add_force("s", bc.TorsionSpring(10.0), joint="j")
    return {"bc": bc, "np": np, "m": m, "a": a, "j": j, "run": bc.simulate(m, 0.05), "rest": bc.statics(m)}


@pytest.mark.parametrize("code", CALLS)
def test_calls(code, names):
    with pytest.raises(bc.BellcrankError) as caught:
        eval(code, dict(names))  # noqa: S307
    assert CALLS[code] in str(caught.value)


@pytest.mark.parametrize("code", ATTRIBUTES)
def test_attributes(code, names):
    with pytest.raises(AttributeError) as caught:
        eval(code, dict(names))  # noqa: S307
    assert ATTRIBUTES[code] in str(caught.value)
    assert isinstance(caught.value, bc.MechanismError) or code.startswith("bc.")


def test_what_is_forgiven(names):
    run, rest = names["run"], names["rest"]
    assert (run.body(names["a"]).position == run.body("a").position).all()
    assert run.joint(names["j"]).name == "j"
    assert rest.forces["s"].effort == pytest.approx(0.0)
    assert bc.Box(size=(1, 1, 1), color="tan").color == pytest.approx((210 / 255, 180 / 255, 140 / 255))
    assert bc.Box(size=(1, 1, 1), color="#f00").color == (1.0, 0.0, 0.0)
    assert bc.Box(size=(1, 1, 1), color="Dark grey").color == pytest.approx((169 / 255,) * 3)
    m = bc.Mechanism("limits")
    b = m.add_body("b", 1.0, (1, 1, 1))
    assert m.add_joint("k", bc.Revolute(), "ground", b, limits=None).limits == ()
    drawn = bc.loads(
        "bellcrank: 1\nname: c\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1], "
        "shapes: [{type: Box, size: [1, 1, 1], color: tan}]}\n"
    )
    assert drawn.bodies["b"].shapes[0].color[2] == pytest.approx(140 / 255)


def test_they_are_caught_as_errors_of_python_too():
    with pytest.raises(TypeError) as call:
        bc.SpringDamper(k=1)
    with pytest.raises(AttributeError) as attribute:
        bc.Mechanism("m").simulate  # noqa: B018
    with pytest.raises(KeyError) as name:
        bc.Mechanism("m").bodies["a"]
    with pytest.raises(FileNotFoundError) as file:
        bc.load("nowhere.yaml")
    kinds = (WrongCall, NoAttribute, NoName, NotFound)
    for caught, kind in zip((call, attribute, name, file), kinds, strict=True):
        assert isinstance(caught.value, kind)
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
        assert again.faults == caught.value.faults
    assert not hasattr(bc.Mechanism("m"), "nothing")
    assert getattr(bc.Mechanism("m"), "nothing", 3) == 3


def test_errors_inside_a_call_are_left_as_they_are():
    def controller(_, __):
        raise TypeError("mine")

    m = bc.Mechanism("m")
    m.add_body("a", 1.0, (1, 1, 1))
    force = bc.Input("f", 0.0)
    m.add_force("p", bc.Wrench(force=(force, 0, 0)), "a")
    with pytest.raises(Exception, match="mine") as caught:
        bc.simulate(m, 0.1, controllers=bc.Controller(controller, 0.05))
    assert not isinstance(caught.value, WrongCall)


def test_every_public_call_answers():
    silent = []
    for name in bc.__all__:
        value = getattr(bc, name)
        if inspect.isfunction(value) and not hasattr(value, "answered"):
            silent.append(name)
        if inspect.isclass(value) and value.__module__.startswith("bellcrank.") and "__init__" in vars(value):
            python = inspect.isfunction(inspect.unwrap(value.__init__))
            if python and not issubclass(value, BaseException) and not hasattr(value.__init__, "answered"):
                silent.append(name)
    assert set(silent) <= {"joint_kind"}


def test_names_and_tables():
    table = Named("body", {"a": 1})
    assert table == {"a": 1}
    assert pickle.loads(pickle.dumps(table)).noun == copy.copy(table).noun == table.copy().noun == "body"
    with pytest.raises(NoName, match=r"body 3: there is no body of this name; give its name, a text"):
        table[3]
    names = Names(["a", "b"])
    assert (names[0], names[1:], list(names)) == ("a", ("b",), ["a", "b"])
    assert pickle.loads(pickle.dumps(names)) == ("a", "b")


def test_kinematics_at_times():
    m = bc.Mechanism("m")
    a = m.add_body("a", 1.0, (1, 1, 1))
    m.add_joint("j", bc.Revolute(), m.ground, a)
    m.add_drive("d", "j", position="t**2")
    run = bc.kinematics(m, times=[0.5, 0.7, 2.0])
    assert run.time.tolist() == [0.5, 0.7, 2.0]
    assert run.joint("j").position[:, 0] == pytest.approx([0.25, 0.49, 4.0], abs=1e-9)
    assert run.joint("j").acceleration[:, 0] == pytest.approx([2.0] * 3, abs=1e-8)
    assert bc.inverse_dynamics(m, times=[0.0, 1.0]).drive("d").effort == pytest.approx([2.0, 2.0])
    with pytest.raises(bc.MechanismError, match="kinematics: times determine it, so duration has no meaning"):
        bc.kinematics(m, 1.0, times=[0.5])
    with pytest.raises(bc.MechanismError, match="kinematics: times must increase"):
        bc.kinematics(m, times=[0.5, 0.4])


def test_elements_and_tables_that_do_not_change():
    m = bc.Mechanism("m")
    a = m.add_body("a", 1.0, (1, 1, 1))
    with pytest.raises(dataclasses.FrozenInstanceError) as caught:
        a.mass = 3.0
    assert pickle.loads(pickle.dumps(caught.value)).faults == caught.value.faults
    bodies = m.bodies
    assert (dict(bodies), list(bodies), len(bodies), "a" in bodies, bodies == {"a": a}) == (
        {"a": a}, ["a"], 1, True, True
    )  # fmt: skip
    m.add_body("b", 1.0, (1, 1, 1))
    assert list(bodies) == ["a", "b"]  # it follows the mechanism
    assert list(pickle.loads(pickle.dumps(bodies))) == ["a", "b"]
    assert bodies.copy() == dict(m.bodies)
    assert not hasattr(bodies, "__fspath__")


def test_mechanisms_of_ones_own_may_have_attributes():
    class Mine(bc.Mechanism):
        pass

    mine = Mine("m")
    mine.extra = 3
    assert mine.extra == 3


def test_completion_offers_what_users_need(names):
    m, run = names["m"], names["run"]
    hidden = {"answers", "texts", "store", "layout", "origin", "number", "core", "source", "plan", "model"}
    shown = (
        run,
        names["rest"],
        run.body("a"),
        run.joint("j"),
        run.energy,
        run.at(0.0),
        bc.start(m),
        m,
        names["a"],
    )
    for one in (*shown, names["j"], names["j"].kind, bc.Box((1, 1, 1))):
        assert not hidden & set(dir(one)), type(one)
        public = [name for name in dir(one) if not name.startswith("_")]
        assert public, type(one)
    assert {"body", "joint", "time", "energy", "plot", "save"} <= set(dir(run))
    assert {"position", "velocity", "reaction"} <= set(dir(run.joint("j")))
    assert {"add_body", "bodies", "gravity"} <= set(dir(m))
