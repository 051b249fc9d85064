"""Examples of every class that a file can hold, made from the fields of the classes themselves."""

from math import pi
from types import UnionType
from typing import Union, get_args, get_origin

import pytest
from hypothesis import assume
from hypothesis import strategies as st

import bellcrank as bc
from bellcrank.io.fields import parameters
from bellcrank.mechanism import Function, LoadKind, MotorKind, Shape
from bellcrank.mechanism.checking import Quat
from bellcrank.mechanism.ropes import Way

NUMBERS = st.floats(0.1, 1.4, allow_subnormal=False)
UNITS = [(1.0, 0.0, 0.0, 0.0), (0.5, 0.5, -0.5, 0.5), (0.6, 0.0, 0.0, 0.8), (2**-0.5, 0.0, 2**-0.5, 0.0)]
FUNCTIONS = st.sampled_from(
    [bc.Constant(0.7), bc.Harmonic(0.1, 3.0, phase=0.3), bc.Polynomial((0.1, 0.2)), bc.Ramp(0.0, 0.25)]
)
LOADS = st.sampled_from([bc.Journal(0.02, 0.1), bc.RollingBearing(0.03, 0.001, 0.002, 1e-5, 0.05)])
SHAPES = st.sampled_from([bc.Sphere(radius=0.1), bc.Box(size=(0.1, 0.2, 0.3), color=(1.0, 0.0, 0.5))])

# What the types of the fields do not tell: numbers that must go together, and texts with a meaning.
BY_HAND = {
    "Piecewise": [bc.Piecewise((0.0, 0.5, 1.3), ((1.0, 2.0), (3.0, 4.0)), "periodic")],
    "Rational": [bc.Rational((0.0, 0.5), ((1.0, 2.0),), ((1.0, 0.1),), "linear")],
    "PlanetaryGear": [bc.PlanetaryGear(sun_teeth=20, ring_teeth=50)],
    "FlexibleInterface": [bc.FlexibleInterface([[0.1, 0.0], [0.2, -1.0], [0.0, 0.0], *[[1e-3, 2.0]] * 3])],
    "Prism": [
        bc.Prism([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)], 0.1),
        bc.Prism([(-1.0, -1.0), (1.0, -1.0), (0.5, 1.0), (-0.5, 1.0)], 2.0, position=(1.0, 0.0, 2.0)),
    ],
    "Mesh": [
        bc.Mesh(file="/parts/link.stl", scale=0.001),
        bc.Mesh(file="/a b/c.obj", position=(1.0, 0.0, 2.0)),
    ],
    "Terrain": [
        bc.Terrain.ramp(0.1, 2.0, 1.0),
        bc.Terrain.road("C", 30.0, 2.0, seed=3, color=(0.5, 0.5, 0.5)),
    ],
    "Wrench": [bc.Wrench(force=(1.0, bc.Constant(2.0), bc.Harmonic(1.0, 2.0)), axes="marker")],
    "Table": [bc.Table((0.0, 1.0), (2.0, 2.0), "linear", "periodic")],
    "CubicSpline": [
        bc.CubicSpline((0.0, 1.0, 2.0), (1.0, 2.0, 1.0), "periodic"),
        bc.CubicSpline((0.0, 1.0), (1.0, 2.0), "clamped", (0.1, 0.2), "hold"),
    ],
    "Rope": [
        bc.Rope((0.0, -0.2, 0.0), (2,), slack=True),
        bc.Rope((0.0, -0.2, 0.3), thickness=0.01, layer_turns=9.0, wound=12.0),
        bc.Rope((0.0, -0.2, 0.0), slack=True, spare=(0.3,)),
        bc.Rope((0.0, -0.2, 0.0), rough=2, coefficient=0.3, turns=2),
        bc.Rope((0.0, -0.2, 0.0), leaves=(2,)),
    ],
    "Gear": [bc.Gear(radii=(0.1, 0.2), pressure_angle=0.3, helix_angle=-0.2, flank=-1, backlash=1e-3)],
    "ElasticGear": [bc.ElasticGear((0.1, 0.2), "2e6 N/m", pressure_angle="20 deg", internal=True)],
    "Belt": [bc.Belt(radii=(0.1, 0.2), coefficient=0.3, pretension=90.0, crossed=True)],
    "BeltLoop": [bc.BeltLoop((0.2, 0.1, -0.2)), bc.BeltLoop((0.2, 0.1, -0.2), (3,))],
    "ElasticRope": [
        bc.ElasticRope((0.0, -0.2, 0.0), 9.0, 2.0, damping=0.1, gripped=(2,)),
        bc.ElasticRope((0.0, -0.2, 0.0), 9.0, rough=2, coefficient=0.3, turns=1, slip_resistance=0.1),
    ],
    "ElasticBelt": [bc.ElasticBelt((0.2, 0.1, -0.2), 9.0, lengths=(0.1, 0.2), smooth=(3,))],
    "BeamSegment": [bc.BeamSegment("0.5 m", (1e-6, 2e-6, 2e-6, 1e-3, 2e-3, 3e-3), 1e-4)],
    "FlatBelt": [
        bc.FlatBelt(
            (0.2, 0.1, -0.2), 9.0, 2.0, damping=0.1, coefficients=(0.3, 0.2, 0.0), slip_resistance=0.1
        )
    ],
    "TimingBelt": [
        bc.TimingBelt((20, 0, -30), "5 mm", 9.0, 8.0, 2.0, idlers=(-0.1,), damping=0.1, limit=7.0),
        bc.TimingBelt((20, 30, 0), 0.005, 9.0, 8.0, belt_teeth=90, idlers=(0.0,)),
        bc.TimingBelt((20, 30, 20), 0.005, 9.0, 8.0, lengths=(0.1, 0.2, 0.3), pitch_tension=3.0),
    ],
    "CamMotion": [
        bc.CamMotion((0.0, 2.0, 4.0, 2 * pi), (0.1, 0.2, 0.2, 0.1)),
        bc.CamMotion((-1.0, 2.0, 2 * pi - 1.0), (0.0, 0.3, 0.0), ("3-4-5", "modified sine")),
    ],
    "CamFollower": [
        bc.CamFollower(bc.Harmonic(0.2, 1.0), 4.0, roller_radius=0.5, offset=0.2, width="12 mm"),
        bc.CamFollower(bc.CamMotion((0, 3, 2 * pi), (0, 0.02, 0)), 0.5, "flat", grooved=True),
    ],
    "Nurbs": [bc.Nurbs((0.0, 1.0, 0.0), degree=2, knots=(0, 0, 0, 2, 2, 2), weights=(1.0, 2.0, 1.0))],
}


def values(hint):
    """A strategy for the values of a type hint."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return st.one_of([values(part) for part in inner if part is not type(None)])
    if hint == Quat:
        return st.sampled_from(UNITS)
    if origin is tuple and inner[-1] is Ellipsis:
        if inner[0] is float:  # increasing, so that it can also be places
            return st.lists(NUMBERS, min_size=4, max_size=4, unique=True).map(lambda v: tuple(sorted(v)))
        return st.tuples(*[values(inner[0])] * 4)
    if origin is tuple:
        return st.tuples(*map(values, inner))
    known = {
        float: NUMBERS,
        int: st.integers(2, 9),
        bool: st.booleans(),
        str: st.just("/parts/link.stl"),
        Function: FUNCTIONS,
        Shape: SHAPES,
        LoadKind: LOADS,
    }
    if hint in known:
        return known[hint]
    return st.builds(hint, **{p.name: values(p.hint) for p in parameters(hint).values() if p.required})


def attempts(cls):
    """Strategies for the arguments of a class: what it needs, that and one field more, and all fields."""
    known = parameters(cls)
    if issubclass(cls, MotorKind):
        led = FUNCTIONS if len(cls.driven) == 1 else st.tuples(*[FUNCTIONS | NUMBERS] * len(cls.driven))
        pitch = {"pitch": NUMBERS} if "pitch" in known else {}
        return [{name: led, **pitch} for name in ("position", "velocity")]
    needed = {p.name: values(p.hint) for p in known.values() if p.required}
    extra = {p.name: values(p.hint) for p in known.values() if not p.required and p.hint is not str}
    return [needed, *({**needed, name: value} for name, value in extra.items()), {**needed, **extra}]


@st.composite
def examples(draw, cls):
    """An object of the class: by hand, or with numbers as they come, as far as its constructor takes them."""
    if cls.__name__ in BY_HAND and (issubclass(cls, Way) or draw(st.booleans())):  # one radius for each end
        return draw(st.sampled_from(BY_HAND[cls.__name__]))
    accepted = []
    for arguments in attempts(cls):
        drawn = {name: draw(value) for name, value in arguments.items()}
        try:
            accepted.append(cls(**drawn))
        except bc.MechanismError:
            continue
    if not accepted and cls.__name__ in BY_HAND:
        return draw(st.sampled_from(BY_HAND[cls.__name__]))
    assume(accepted)  # a class that takes no numbers of its types fails here: add one to BY_HAND
    return draw(st.sampled_from(accepted))


@pytest.fixture(scope="session")
def example():
    """example(cls): a strategy for objects of a class of the registries."""
    return examples


@pytest.fixture
def two_bodies():
    """Two bodies on the ground and between each other: three named hinges, a ball and a slider."""
    mech = bc.Mechanism("two bodies")
    a = mech.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.3, 0.0, 0.0))
    b = mech.add_body("b", mass=2.0, inertia=(0.1, 0.2, 0.1), position=(0.9, 0.1, 0.0))
    for number, other in enumerate((a, b, a)):
        mech.add_joint(f"hinge {number}", bc.Revolute(), mech.ground.marker((number, 0, 0)), other.marker())
    mech.add_joint("ball", bc.Spherical(), a.marker((0.1, 0.0, 0.0), name="tip"), b.marker(name="heel"))
    return mech
