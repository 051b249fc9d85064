"""Public objects, and whatever public functions return, go through pickle, or are refused in words."""

import copy
import dataclasses
import inspect
import multiprocessing
import pickle
from functools import cached_property
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pytest
from rigs import examples, solids

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.errors import BellcrankError
from bellcrank.formulations.preparing import FORMULATIONS, formulation_module
from bellcrank.mechanism import JOINT_KINDS

NAMES = {name: getattr(bc, name) for name in bc.__all__} | {name: getattr(ex, name) for name in ex.__all__}
FLEETING = (bc.Readings, bc.HintWarning, bc.SlowRunWarning)  # of a call, after which nothing holds one
REFUSED = (bc.System, bc.Run, bc.AdaptiveRun, bc.QuasistaticRun, ex.CompiledFunction, bc.InverseKinematics)
ForkInSlot = JOINT_KINDS.pop(
    bc.joint_kind("ForkInSlot", "y z e2", "x rot_x rot_z", "A fork in a slot.").__name__
)
ARGUMENTS = {
    "time": 1.5,
    "faults": bc.Fault("body 'a'", "rule", 3.0),
    "position": 2,
    "violations": [("joint 'j'", 0.1)],
}


def door():
    mechanism = bc.Mechanism("door")
    width = mechanism.add_parameter("width", 0.8, "m", low=0.1)
    shapes = bc.Box((0.8, 0.04, 2.0), density=600.0)
    leaf = mechanism.add_body("leaf", position=(0.4, 0, 0), shapes=shapes, angular_velocity=(0, 0, 0.3))
    hinge = mechanism.add_joint(
        "hinge", bc.Revolute(), mechanism.ground, leaf.marker(name="axis", position=(-width / 2, 0, 0)),
        limits=bc.Limit(-1.0, 1.0),
    )  # fmt: skip
    mechanism.add_force("closer", bc.TorsionSpring(2.0, damping=1.0), joint=hinge)
    mechanism.add_sensor("imu", bc.IMU(period=0.01, noise=0.1), leaf)
    return mechanism


def changing():
    mechanism = door()
    mechanism.add_change("cut", bc.Release(of="hinge", when="t > 0.2"))
    return mechanism


def led():
    mechanism = bc.Mechanism("led")
    rod = mechanism.add_body("rod", mass=1.0, inertia=(1, 1, 1))
    hinge = mechanism.add_joint("hinge", bc.Revolute(), mechanism.ground, rod)
    mechanism.add_drive("servo", hinge, position=bc.Harmonic(0.1, 3.0))
    return mechanism


def of_contact_parts():
    cam = bc.Mechanism("cam", gravity=(0, 0, 0))
    for name, y in (("disc", 0.0), ("pin", 0.05)):
        cam.add_body(name, 1.0, (1, 1, 1), position=(0, y, 0))
    cam.add_constraint("cam", bc.CamFollower(bc.Harmonic(0.01, 1.0), 0.05, "knife"), "disc", "pin")
    yield from (bc.simulate(cam, 0.01).constraint("cam"), cam.constraints["cam"].kind.profile())
    ball = bc.Mechanism("ball")
    ball.replace(ball.ground, shapes=[bc.Plane()])
    ball.add_body("ball", shapes=[bc.Sphere(radius=0.1, density=1e3)], position=(0, 0, 0.1))
    ball.add_force("floor", bc.Contact(stiffness=1e5), "ball", "ground")
    yield from (
        bc.hertz([1.0, 2.0], 0.01, modulus=2e11),
        bc.simulate(ball, 0.01).contact("floor").stress(2e11),
    )


def made():
    """What public functions return, and an instance of every kind."""
    mechanism = door()
    symbolic, lagrange = bc.prepare(led(), "symbolic"), bc.prepare(mechanism, "lagrange")
    yield lagrange.derivatives(of="acceleration", by=["states", "width"])
    rest = bc.statics(mechanism)
    yield rest.sensitivity("reaction", "width")
    yield bc.modes(rest.at).sensitivity(by="width")
    run = bc.simulate(
        mechanism, 0.5, method="dopri5", accelerations=True, events=bc.Event("half", "hinge - 0.1")
    )
    section = bc.simulate(mechanism, 0.1).section("leaf", (-0.4, 0, 0), (0.4, 0, 0))
    state = run.at(0.2)
    x = ex.symbol("x")
    yield from (
        mechanism,
        mechanism.bodies["leaf"],
        mechanism.ground,
        mechanism.parameters["width"],
        run,
        state,
    )
    yield from (
        run.body("leaf"),
        run.marker("leaf.axis"),
        section,
        run.sensor("imu"),
        mechanism.sensors["imu"],
        bc.WrenchSensor("hinge"),
        changing().changes["cut"],
        bc.Engagement(of="hinge", when="t > 1"),
        bc.simulate(changing(), 0.5),
        bc.ForceSensor("closer"),
        bc.Encoder(),
        bc.DistanceSensor(),
        section.worst(),
        run.joint("hinge"),
        run.limit("hinge"),
        run.energy,
        run.violation,
        run.events,
    )
    yield from (
        bc.info(mechanism),
        bc.verify(mechanism, states=1, duration=0.05),
        bc.verify(mechanism, run=run),
    )
    yield from (bc.find_equilibrium(door()), bc.assemble(door()), bc.hold_start_values(door()))
    yield bc.assemble(door(), method="constraint_forces")
    yield from (
        lagrange.accelerate(state),
        lagrange.rows(),
        lagrange.stats,
        *(formulation_module(name).OPTIONS() for name in FORMULATIONS),
        lagrange.accuracy(),
        symbolic.linearize(),
        symbolic.speeds,
    )
    linear = bc.linearize(door(), steady=False)
    yield from (linear, linear.modes(), linear.modes()[0], bc.statics(door()))
    yield from (bc.kinematics(led(), 0.5), bc.inverse_dynamics(led(), 0.5))
    curve = bc.MotorCurve((0, 10), (2, 1), (6, 3), name="a")
    yield from (*of_contact_parts(), curve, bc.size_motor(bc.inverse_dynamics(led(), 0.5), "servo", curve))
    ram = bc.HydraulicCylinder(bore=0.05, rod=0.03, length=0.9, stroke=0.4)
    yield bc.Mechanism("ram").add_strut("ram", ram, (0, 0, 0), (0, 0, 0.7))
    yield bc.vibration(run.time, run.body("leaf").acceleration[:, 0], "Wd")
    sway = {"analysis": "simulate", "duration": 0.1, "step": 0.01}
    yield bc.sweep(door(), {"width": [0.7, 0.8]}, "final joint.hinge.theta_z", processes=1, **sway)
    yield bc.optimize(
        door(), {"width": (0.5, 1.0)}, "final joint.hinge.theta_z", budget=5, processes=1, **sway
    )
    by_width = {"by": "width", "duration": 0.1, "step": 0.01}
    yield bc.gradient(door(), "final joint.hinge.theta_z", **by_width)
    yield bc.sensitivity(door(), of="joint.hinge.theta_z", **by_width)
    yield bc.RunFunction(door(), "final joint.hinge.theta_z", **by_width)
    yield bc.StateFunction(door(), by=["width", "states"])
    data = {"joint.hinge.theta_z": ([0.05, 0.1], [0.015, 0.03])}
    yield bc.fit(door(), {"width": (0.5, 1.0)}, data, processes=1, step=0.01)
    hung = bc.InverseKinematics(door())
    yield from (hung, hung.nearest({hung.model.bodies[0]: (0.1, 0.2, 0.0)}))
    yield from (*map(examples.joint, JOINT_KINDS), ForkInSlot())
    yield from (
        examples.constraints(together=True),
        examples.forces(),
        examples.FUNCTIONS_OF_TIME,
        examples.PATHS,
    )
    yield from (
        bc.Event("late", x - 1.0),
        bc.Controller(max, 0.1),
        bc.HeldInputs({"force": [1.0, 2.0]}, 0.1),
        bc.Input("torque", 1.5, unit="N m"),
        bc.Fault("body 'a'", "rule", 3.0),
        mechanism.joints,
        mechanism.forces,
    )
    yield from (*shapes_and_formulas(), *of_solids())
    yield from elements_and_parts_of_results()
    yield from (x, ex.sin(x) + bc.t, ex.Vector(x, 0, 1), ex.rotation_x(x), ex.translation(x, 0, 0))
    yield from (ex.count_operations(x + 1.0), ex.rotation_x(x).rotation)
    yield from (symbolic, bc.start(mechanism), ex.compile_function([x * x], [x], native=False))
    hinge = bc.Mechanism("hinge at rest")
    rod = hinge.add_body("rod", mass=1.0, com=(0.5, 0.0, 0.0), inertia=(1.0, 1.0, 1.0))
    hinge.add_joint("pin", bc.Revolute(), hinge.ground, rod)
    run = bc.simulate(hinge, 0.02, mode="quasistatic")
    yield from (
        bc.start(hinge, mode="quasistatic"),
        bc.start(hinge, formulation="adaptive"),
        bc.simulate(hinge, 0.02, formulation="adaptive").energy,
        copy.copy(run),
    )  # one that has not compiled its mechanism


@pytest.fixture(scope="module")
def instances():
    return list(made())


def elements_and_parts_of_results():
    """A mechanism with an element of each sort, and what results are made of."""
    mechanism = bc.Mechanism("two arms")
    arms = [mechanism.add_body(name, mass=1.0, inertia=(1, 1, 1)) for name in "ab"]
    joints = [mechanism.add_joint(f"pin {arm.name}", bc.Revolute(), mechanism.ground, arm) for arm in arms]
    mechanism.add_constraint("gear", bc.Gear(2.0), *joints)
    mechanism.add_force("motor", bc.JointMotor(bc.Input("torque", 0.1, unit="N m")), joints[0])
    yield from (mechanism, *mechanism.constraints.values(), *mechanism.forces.values())
    yield from (
        bc.Slide(0.1, 0.1),
        bc.ThrustFace(0.05, 0.1),
        bc.RollingBearing(0.03, 0.001),
        bc.Thread(0.01, 0.1),
        bc.Clutch(2.0),
        bc.TorqueLimiter(2.0),
        bc.Freewheel(),
        bc.FlatBelt((0.1, 0.2), 1e4, coefficients=(0.3, 0.3)),
        bc.TimingBelt((20, 30), 0.005, 1e5, 1e5, pretension=90.0),
    )
    run = bc.simulate(mechanism, 0.02)
    yield from (run.force("motor"), run.input("torque"))
    mechanism.add_force("rub", bc.JointFriction(load=bc.Journal(0.02, 0.1)), joints[1])
    yield bc.simulate(mechanism, 0.02).friction("rub")
    yield bc.statics(mechanism).friction["rub"]
    now = bc.prepare(led(), "lagrange").accelerate()
    yield from (now.body("rod"), now.drive("servo"), now.joint("hinge"))
    yield from (
        bc.Location("arm.yaml", 3),
        bc.Box((1, 2, 3), density=1.0).mass_properties(),
        bc.Simulation(duration=1.0),
    )
    yield bc.BodyReading(np.zeros(3), np.zeros(4), np.zeros(3), np.zeros(3))
    yield bc.Redundancy("joint 'hinge'", "x", 0.0)
    yield bc.PathDrive("path", bc.Marker("a"), next(iter(examples.PATHS.values()))[0])
    yield bc.Finding("lagrange", "body 'rod'", "acceleration", 1e-3, "at rest")


def beam_at_rest():
    """The results of a beam that hangs."""
    mech = bc.Mechanism("boom")
    section = bc.Section.circle(0.04, E=2e11, nu=0.3, density=7850.0)
    mech.add_beam("boom", section, "ground", (1, 0, 0), segments=2)
    return bc.statics(mech).beam("boom")


def of_solids():
    """A reduced solid and what it is made from and becomes."""
    yield from (bc.OnPlane((0, 0, 0), "z"), bc.OnCylinder((0, 0, 0), "x", 0.1), bc.OnSphere((0, 0, 0), 0.1))
    yield from (bc.InBox((0, 0, 0), (1, 1, 1)), bc.Interface([0]))
    pytest.importorskip("scipy", reason="needs extra `solids`")
    K, M, nodes = solids.beam(4)
    bar = bc.reduce(K, M, nodes, {"left": bc.Interface([0]), "right": [4]}, modes=2)
    yield from (bar, bc.Mechanism("bar").add_flexible("bar", bar), bc.FiniteElements(K, M, nodes, {"A": [0]}))
    pytest.importorskip("skfem", reason="needs extra `solids`")
    points, cells = 0.1 * np.vstack([np.zeros(3), np.eye(3), np.ones(3)]), [(0, 1, 2, 3), (1, 2, 3, 4)]
    foot = {"foot": bc.OnPlane((0, 0, 0), "z")}
    rock = bc.flexible((points, cells), (7e10, 0.3, 2700), foot, stresses="surface")
    mech = bc.Mechanism("rock")
    mech.add_joint("weld", bc.Fixed(), "ground", mech.add_flexible("rock", rock).interfaces["foot"])
    yield bc.statics(mech).flexible("rock", rock)


def shapes_and_formulas():
    """What no registry lists."""
    u, v, a, b, c = ex.symbols("u v a b c")
    q, r, p = bc.EndCoordinate("q"), bc.EndCoordinate("r"), bc.EndPose("p")
    dish, ball, curve = (u, v, 0.1 * u * u), (a, b, -b * b), (0.3 * ex.cos(a), 0.3 * ex.sin(a), 0.0)
    yield from (bc.Tyre(0.3, 0.03, 4e5), bc.Seat())
    yield from (bc.Plane(), bc.Contact(1e5), bc.Terrain(heights=((0.0, 0.1), (0.2, 0.3)), spacing=(0.5, 0.5)))
    yield from (bc.Sphere(0.1), bc.Cylinder(0.1, 0.2), bc.Capsule(0.1, 0.2), bc.Cone(0.1, 0.2))
    yield from (bc.Ellipsoid((0.1, 0.2, 0.3)), bc.Mesh(file="wheel.stl"))
    yield bc.Prism([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)], 0.1)
    yield from (beam_at_rest(), bc.WorstStress(2e8, 0.0, 0.1, (-1e8, 2e8), 0.0, (0.0, 0.02)))
    yield bc.Section.tube(0.04, 0.002, E=2e11, nu=0.3, density=7850.0)
    sheet = bc.Section.rectangle(0.02, 5e-4, E=2e11, nu=0.3, density=7850.0)
    yield from (bc.LeafSpring(sheet, 0.1), bc.CrossSpring(sheet, 0.1), bc.ParallelGuide(sheet, 0.1, 0.05))
    yield bc.Section.circle(0.04, E=2e11, nu=0.3, density=7850.0).fibres
    yield bc.Beam("boom", bc.Section.circle(0.04, E=2e11, nu=0.3, density=7850.0), (0, 0, 0), (1, 0, 0))
    yield bc.Blow("link", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    yield bc.prepare(door(), "recursive").strike([])
    yield bc.StruckPoint("link", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    yield from (q, p, bc.Coordinate("theta_z", bc.Marker("a"), bc.Marker("b")))
    yield from (bc.CustomConstraint((q, r), q.value - r.value), bc.CustomForce(q, efforts=-q.value))
    yield from (bc.VelocityConstraint(p, p.velocity.x), bc.CustomJoint(u, ex.translation(u, 0, 0)))
    yield from (bc.PathJoint(u, (u, 0.3 * u * u, 0.1 * u), up=(0, 0, 1)), bc.SurfaceJoint((u, v), dish))
    yield from (kind((u, v), dish, (a, b), ball, spin=c) for kind in (bc.SurfaceOnSurface, bc.Rolling))
    yield from (
        kind((u, v), dish, a, curve, b, c, up=(0, 0, 1)) for kind in (bc.CurveOnSurface, bc.RollingCurve)
    )


def held(value):
    """The attributes of an object by name, without what it finds again; None for objects of the core."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    named = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    named |= getattr(value, "__dict__", {})
    return {
        k: v for k, v in named.items() if not isinstance(getattr(type(value), k, None), cached_property)
    } or None


def parts(value):
    """What an object is made of."""
    if isinstance(value, (str, bytes, int, float, complex, np.ndarray, type, type(None))):
        return []
    if isinstance(value, dict) or hasattr(value, "items"):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    return list((held(value) or {}).values())


def kinds_in(values):
    """The classes of all objects of which these are made."""
    seen, left, kinds = set(), list(values), set()
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        kinds.add(type(value))
        left += parts(value)
    return kinds


def alike(one, other):
    """Whether two objects are the same by value, through and through."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, (ex.Expression, str, bytes, int, float, type, type(None))):
        return one == other or one != one
    if isinstance(one, dict) or hasattr(one, "items"):
        return [*one] == [*other] and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if dataclasses.is_dataclass(one):
        return all(alike(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one))
    return alike(*(dict(sorted((held(each) or {}).items())) for each in (one, other)))


def test_every_public_class_has_an_instance_here(instances):
    found = kinds_in([*instances, *errors()])
    wanted = {name: kind for name, kind in NAMES.items() if inspect.isclass(kind) and kind not in FLEETING}
    assert [name for name, kind in wanted.items() if not any(issubclass(f, kind) for f in found)] == []


def test_what_public_functions_return_goes_through_pickle(instances):
    refused = set()
    for value in instances:
        if isinstance(value, REFUSED):
            with pytest.raises(bc.Unsupported, match="cannot be copied or pickled"):
                pickle.dumps(value)
            with pytest.raises(bc.Unsupported, match="cannot be copied or pickled"):
                copy.deepcopy(value)
            refused.add(next(kind for kind in REFUSED if isinstance(value, kind)))
            continue
        value = dict(value) if hasattr(value, "items") else value  # views of tables are none of ours
        again = pickle.loads(pickle.dumps(value))
        assert alike(again, value), value
    assert len(refused) == len(REFUSED)


def errors():
    """One of every class of errors in the package, made from the names of its arguments."""
    for module in walk_packages(bc.__path__, "bellcrank."):
        if not module.name.startswith(("bellcrank._core_", "bellcrank.__main__", "bellcrank.mypy_plugin")):
            import_module(module.name)
    left = [BellcrankError]
    while left:
        kind = left.pop()
        left += kind.__subclasses__()
        if kind.__init__ is Exception.__init__:
            yield kind("some message")
            continue
        wanted = list(inspect.signature(kind).parameters.values())
        named = {p.name: ARGUMENTS.get(p.name, f"some {p.name}") for p in wanted if p.default is p.empty}
        yield kind(
            **named,
            **{p.name: ARGUMENTS[p.name] for p in wanted if p.name in ARGUMENTS and p.name not in named},
        )


def test_every_error_goes_through_pickle():
    kinds = set()
    for error in errors():
        error.add_note("a note")
        again = pickle.loads(pickle.dumps(error))
        assert alike(again, error)
        assert (str(again), again.args) == (str(error), error.args)
        kinds.add(type(error))
    assert {bc.MechanismError, bc.AssemblyError, bc.SimulationError, bc.Unsupported} < kinds
    assert all(issubclass(kind, bc.BellcrankError) for kind in kinds)


def breaking(_):
    mechanism = bc.Mechanism("breaking")
    rod = mechanism.add_body("rod", mass=1.0, inertia=(1, 1, 1))
    mechanism.add_force("push", bc.Wrench(force=("1/(0.05-t)", 0, 0)), rod)
    return bc.simulate(mechanism, 0.1)


def simulated(_):
    return bc.simulate(door(), 0.01)


def test_a_pool_of_processes_hands_back_errors_and_runs():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        with pytest.raises(bc.SimulationError) as caught:
            pool.map_async(breaking, [0]).get(60)
        (run,) = pool.map_async(simulated, [0]).get(60)
    assert caught.value.body == "rod"
    assert caught.value.trajectory.time[-1] < 0.05
    np.testing.assert_array_equal(run.joint("hinge").position, simulated(0).joint("hinge").position)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_of_mechanisms_are_on_their_own(copied):
    one = door()
    other = copied(one)
    assert other == one
    assert other is not one
    other.add_body("knob", mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
    other.replace(other.bodies["leaf"], mass=5.0)
    other.remove(other.forces["closer"])
    other.gravity = (0, 0, 0)
    other.name = "other"
    assert one == door()
    one.add_parameter("height", 2.0)
    assert "height" not in other.parameters
