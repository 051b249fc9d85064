"""NaN and infinity are refused in every number of every class of the description."""

import math
from dataclasses import fields, replace

import pytest

import bellcrank as bc
from bellcrank.mechanism import CONSTRAINT_KINDS, FORCE_KINDS, FUNCTIONS, JOINT_KINDS, SHAPES

TABLE = bc.Table((0.0, 1.0), (2.0, 3.0))
MARKERS = bc.Marker("ground"), bc.Marker("b")
SAMPLES = [
    bc.Contact(1e5),
    bc.Seat(),
    bc.Tyre(0.3, 0.03, 4e5),
    bc.Plane(),
    bc.Terrain(heights=((0.0, 1.0), (2.0, 3.0)), spacing=1.0),
    bc.Body("b", 1.0, (1.0, 1.0, 1.0)),
    bc.Marker("b"),
    bc.Limit(-1.0, 1.0, 0.5),
    # joints with numbers of their own
    bc.Screw(0.1),
    bc.Distance(1.0),
    bc.RevoluteSpherical(1.0),
    bc.ParallelLink(1.0),
    bc.PlungingParallelLink(1.0),
    bc.AxisAngle(1.0),
    bc.PointOnCylinder(1.0),
    bc.PointOnCone(0.5),
    bc.PointOnHelix(1.0, 0.1),
    bc.SphereOnPlane(0.1),
    bc.CylinderOnPlane(0.1),
    bc.PointOnCurve(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
    bc.ScrewMotor(position=0.0, pitch=0.1),
    # constraints
    bc.Gear(ratio=2.0),
    bc.Gear(radii=(1.0, 2.0)),
    bc.InternalGear(radii=(1.0, 2.0)),
    bc.BevelGear(ratio=2.0),
    bc.Belt(radii=(1.0, 2.0)),
    bc.RackPinion(0.1),
    bc.Coupling((1.0, 2.0), 0.5),
    bc.ScrewCoupling(0.1),
    bc.Cable(1.0),
    bc.Winch(0.1),
    # forces
    bc.SpringDamper(1.0, 1.0, 1.0, 1.0),
    bc.TorsionSpring(1.0, 1.0, 1.0, 1.0),
    bc.TabulatedSpring(TABLE, 0.1),
    bc.Bushing((1.0,) * 3, (1.0,) * 3, (1.0,) * 3, (1.0,) * 3),
    bc.JointMotor(1.0, 0.1),
    bc.GearedMotor(2.0, 0.1, 1.0, 0.1),
    bc.Wrench((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)),
    bc.JointFriction(1.0, 1.0, 1.0, 1.0, 1.0),
    bc.Brake(1.0, 0.1),
    bc.RubberString(1.0, 1.0, 0.5, 0.1),
    bc.OneSidedSpring(1.0, 1.0, "below", 0.1, 0.1),
    bc.SupportPoint(1.0, 0.1, 1.0, 0.1),
    bc.BodyDamping((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
    # functions
    bc.Constant(1.0),
    bc.Harmonic(1.0, 1.0, 1.0, 1.0, 1.0),
    bc.Polynomial((1.0, 2.0), 1.0),
    bc.Ramp(0.0, 1.0, 1.0, 1.0),
    TABLE,
    bc.CubicSpline((0.0, 1.0), (2.0, 3.0), "clamped", (1.0, 1.0)),
    bc.Piecewise((0.0, 1.0), ((1.0, 2.0),)),
    bc.Rational((0.0, 1.0), ((1.0, 2.0),), ((1.0, 2.0),)),
    bc.Nurbs((0.0, 1.0, 2.0, 3.0), weights=(1.0, 2.0, 1.0, 1.0)),
    bc.NurbsCurve(((0.0, 0.0, 0.0),) * 4, weights=(1.0, 2.0, 1.0, 1.0)),
    bc.Curve(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
    # shapes
    bc.Box(size=(1.0, 1.0, 1.0), density=1.0, color=(1.0, 1.0, 1.0)),
    bc.Sphere(radius=1.0, density=1.0),
    bc.Ellipsoid(radii=(1.0, 1.0, 1.0)),
    bc.Cylinder(radius=1.0, length=1.0),
    bc.Capsule(radius=1.0, length=1.0),
    bc.Cone(radius=1.0, height=1.0),
    bc.Prism(outline=((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)), length=1.0),
    bc.Mesh(file="part.stl", scale=(1.0, 1.0, 1.0)),
]


def spoiled(value, bad):
    """The value with each of its numbers replaced in turn."""
    if isinstance(value, (float, bc.Constant)):
        yield bad
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            for other in spoiled(part, bad):
                yield (*value[:place], other, *value[place + 1 :])


CASES = [
    (sample, field.name)
    for sample in SAMPLES
    for field in fields(sample)
    if any(True for _ in spoiled(getattr(sample, field.name), 0.0))
]


@pytest.mark.parametrize(
    ("sample", "field"), CASES, ids=lambda c: c if isinstance(c, str) else type(c).__name__
)
def test_refused(sample, field):
    for bad in (math.nan, math.inf, -math.inf):
        for value in spoiled(getattr(sample, field), bad):
            with pytest.raises(bc.MechanismError, match="must be finite"):
                replace(sample, **{field: value})


def test_every_class_with_numbers_is_a_sample():
    known = {type(sample) for sample in SAMPLES}
    for kinds in (CONSTRAINT_KINDS, FORCE_KINDS, FUNCTIONS, SHAPES):
        assert {kind for kind in kinds.values() if fields(kind)} <= known | {bc.PlanetaryGear}
    own = {kind for kind in JOINT_KINDS.values() if {f.name for f in fields(kind)} - {"position", "velocity"}}
    assert own <= known
