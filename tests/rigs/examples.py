"""One instance of every kind in the registries, so that a new kind is tested as soon as it is registered."""

import re
from dataclasses import MISSING, fields
from itertools import product

import numpy as np

import bellcrank as bc
from bellcrank.mechanism import CONSTRAINT_KINDS, FORCE_KINDS, JOINT_KINDS
from bellcrank.mechanism.ropes import Way

# Values for the fields that have no default. A new kind whose field has another name adds a line here.
CURVE = ((-0.9, 0.5, 0.1), (-0.4, 0.1, 0.0), (0.1, 0.0, 0.2), (0.6, 0.2, 0.3), (1.2, 0.8, 0.2))
FIELDS = {
    "pitch": 0.3,
    "half_angle": 0.7,
    "radius": 0.4,
    "points": CURVE,
    "sun_teeth": 20,
    "ring_teeth": 50,
    "teeth": (2, 40),
    "lead_angle": 0.3,
    "coefficients": (1.5, -2.0),
    "shapes": ((0.2,), (-0.1,), (0.3,), (0.1,), (0.2,), (-0.2,)),
}
# Where a field alone is not enough.
WHEELS = {"radii": (0.3, 0.2)}
TURN = 2.0 * np.pi
CAM = bc.CamMotion((0.0, 2.0, 3.0, 5.0, TURN), (0.0, 0.04, 0.04, 0.0, 0.0), ("modified sine", *["3-4-5"] * 3))
CAMS = {
    "MM": {"law": CAM, "base_radius": 0.45, "roller_radius": 0.04, "offset": 0.1, "grooved": True},
    "JJ": {
        "law": bc.Harmonic(0.1, 1.0, offset=0.25), "base_radius": 0.3, "follower": "flat", "grooved": True
    },
}  # fmt: skip

# Functions of time, one for each coordinate that a kind may lead; they start near where the rigs start.
MOTIONS = (
    bc.Harmonic(0.1, 3.0, phase=0.4, offset=0.2, slope=0.1),
    bc.Harmonic(0.08, 4.0, phase=1.4, offset=0.15),
    bc.Polynomial((0.3, 0.2, -0.3, 0.2)),
    bc.Harmonic(0.1, 2.0, offset=0.1),
    bc.Polynomial((0.2, -0.1, 0.4)),
    bc.Harmonic(0.12, 3.5, phase=2.0, offset=-0.1),
)
RADIAL = bc.Harmonic(0.1, 3.0, offset=0.7)  # for lengths that must stay positive

# One of each kind of function, for drives, wide enough for a run of one second from t = 0.
FUNCTIONS_OF_TIME = {
    "Piecewise": bc.Piecewise(
        (-1.0, 0.4, 2.0),
        ((0.1, 0.2, 0.1, -0.05), (0.1 + 0.28 + 0.196 - 0.1372, 0.2 + 0.28 - 0.294, 0.1 - 0.21, 0.3)),
        "linear",
    ),
    "Polynomial": bc.Polynomial((0.2, 0.3, -0.4, 0.1, 0.2), start=-0.5),
    "Ramp": bc.Ramp(0.1, 0.7, start=-0.2, duration=1.5),
    "Table": bc.Table((-1.0, 0.5, 1.0, 2.0), (0.0, 0.2, 0.6, 0.7)),
    "CubicSpline": bc.CubicSpline((-1.0, 0.2, 0.9, 2.0), (0.1, 0.3, 0.0, 0.4)),
    "Harmonic": bc.Harmonic(0.3, 5.0, phase=0.2, offset=0.1, slope=0.2),
    "Constant": bc.Constant(0.35),
    "CamMotion": CAM,
    "Rational": bc.Rational((-1.0, 2.0), ((0.1, 0.3, 0.2),), ((1.0, 0.2, 0.1),), "linear"),
    "Nurbs": bc.Nurbs(
        (0.0, 0.3, 0.1, 0.4, 0.5, 0.2), weights=(1.0, 2.0, 1.0, 0.7, 1.0, 1.0),
        knots=(-1.0, -1.0, -1.0, -1.0, 0.2, 0.9, 2.0, 2.0, 2.0, 2.0), extrapolation="linear",
    ),
}  # fmt: skip


def _required(kind):
    return [f.name for f in fields(kind) if f.init and f.default is MISSING and f.default_factory is MISSING]


def joint(name):
    """An instance of the joint kind of that name."""
    kind = JOINT_KINDS[name]
    values = {field: FIELDS[field] for field in _required(kind)}
    if kind.shorthand:
        if "pitch" in {f.name for f in fields(kind)}:
            values["pitch"] = FIELDS["pitch"]
        motions = tuple(
            RADIAL if led == "distance" else m for led, m in zip(kind.driven, MOTIONS, strict=False)
        )
        values["position"] = motions[0] if len(motions) == 1 else motions
    return kind(**values)


def constraints(together=False):
    """(id, kind instance, letters of its ends) for every constraint kind and every form of ends it takes.

    together: also those whose bodies must start where they belong.
    """
    found = []
    for name, kind in CONSTRAINT_KINDS.items():
        needed = [] if name == "CamFollower" else _required(kind)
        values = {field: FIELDS[field] for field in needed if field != "radii"}
        if "radii" in {f.name for f in fields(kind)}:
            values.update(WHEELS)
        for letters in _forms(kind.pattern):
            if name == "Coupling" and len(letters) != len(FIELDS["coefficients"]):
                continue
            if name == "FlexibleInterface" and (letters != "MMJ" or not together):  # of one mode here
                continue
            given = CAMS[letters] if name == "CamFollower" else values
            given = given | ({"radii": way(kind, letters)} if issubclass(kind, Way) else {})
            found.append((f"{name}-{letters}", kind(**given), letters))
    return found


def _forms(pattern):
    """All strings of at most four letters that the pattern takes, the longest open-ended ones left out."""
    forms = ["".join(p) for n in range(1, 5) for p in product("MJ", repeat=n)]
    return [form for form in forms if re.fullmatch(pattern, form)]


def way(kind, letters):
    """Radii of a rope's or belt's ends: belts have wheels alone, ropes have wheels with points between."""
    return tuple(0.02 * (kind.closed or k % 2) * (-1.0 if k == 3 else 1.0) for k in range(len(letters)))


PATHS = {
    "functions": (bc.Path((MOTIONS[0], MOTIONS[1], MOTIONS[2])), None),
    "held": (bc.Path((MOTIONS[0], MOTIONS[1], MOTIONS[2])), (0.8, 0.0, 0.6, 0.0)),
    "turned": (bc.Path((MOTIONS[0], MOTIONS[1], MOTIONS[2])), (MOTIONS[3], MOTIONS[4], MOTIONS[5])),
    "curve": (bc.Path(bc.Curve(CURVE), bc.Polynomial((0.6, 0.8, 0.3), start=-1.0)), None),
    "closed curve": (
        bc.Path(bc.Curve(((0.3, 0.0, 0.0), (0.0, 0.4, 0.1), (-0.3, 0.0, 0.0), (0.0, -0.4, 0.2)), closed=True),
                bc.Harmonic(0.0, 0.0, slope=1.3)),
        None,
    ),
    "nurbs": (
        bc.Path(bc.NurbsCurve(CURVE, weights=(1.0, 2.0, 1.0, 0.5, 1.0)), bc.Ramp(0.1, 0.9, -0.5, 2.0)),
        None,
    ),
}  # fmt: skip


FORCE_FIELDS = {
    "BodyDamping": {"damping": (0.4, 0.1, 0.6), "rotational_damping": (0.03, 0.01, 0.02)},
    "JointFriction": {"viscous": 0.3, "coulomb": 0.5, "stiction": 0.8, "regularisation_velocity": 0.1},
    "Brake": {"level": bc.Harmonic(0.2, 3.0, offset=0.6), "regularisation_velocity": 0.1},
    "JointMotor": {"effort": bc.Harmonic(0.7, 4.0, offset=0.3), "droop": 0.1},
    "GearedMotor": {
        "ratio": -8.0, "rotor_inertia": 2e-3, "torque": bc.Harmonic(0.05, 4.0, offset=0.02), "droop": 1e-3
    },
    "Wrench": {
        "force": (0.4, bc.Harmonic(0.5, 3.0), -0.3), "moment": (0.1, -0.2, bc.Polynomial((0.1, 0.3))),
        "axes": "marker",
    },
    "RubberString": {"stiffness": 15.0, "rest_length": 0.1, "restitution": 0.3, "closing_speed": 4.0},
    "OneSidedSpring": {
        "stiffness": 0.2, "contact": 3.0, "damping": 0.02, "depth": 4.0, "loss_factor": 0.1,
        "loss_speed": 3.0,
        "curve": bc.Table((0.0, 1.0, 3.0, 9.0), (0.0, 0.2, 0.9, 4.0), extrapolation="hold"),
    },
    "BearingClearance": {
        "clearance": 0.05, "stiffness": 2.0, "exponent": 1.5, "damping": 0.1, "depth": 0.5,
        "loss_factor": 0.05, "loss_speed": 3.0,
    },
    "SupportPoint": {"stiffness": 5.0, "damping": 0.7, "height": 4.0, "depth": 9.0},
    "Seat": {
        "stiffness": 3.0, "hardening": 2.0, "dissipation": 0.2, "shear_length": 1.5, "shear_damping": 0.1
    },
    "SpringDamper": {"stiffness": 12.0, "damping": 0.4, "rest_length": 0.4, "preload": 0.3},
    "TorsionSpring": {"stiffness": 3.0, "damping": 0.2, "rest_angle": 0.1, "preload": -0.2},
    "TabulatedSpring": {"effort": bc.Table((-1.0, 0.0, 0.5, 2.0), (4.0, 0.5, -1.0, -9.0)), "damping": 0.2},
    "GasSpring": {
        "force": 2.0, "progressivity": 1.4, "exponent": 1.2, "length": 4.5, "stroke": 4.0, "damping": 0.2,
        "friction": 0.3, "regularisation_velocity": 0.2, "cushion": 0.5, "cushion_damping": 0.4,
        "stop_stiffness": 3.0,
    },
    "HydraulicCylinder": {
        "bore": 1.2, "rod": 0.7, "length": 5.0, "stroke": 4.9, "damping": 0.1,
        "cap_pressure": bc.Harmonic(0.5, 3.0, offset=0.4), "rod_pressure": 0.3, "stop_stiffness": None,
    },
    "PneumaticCylinder": {
        "bore": 1.3, "rod": 0.6, "length": 20.0, "stroke": 19.9, "sealed": "both", "sealed_at": 1.0,
        "cap_pressure": 0.2, "rod_pressure": 0.4, "dead_length": 3.0, "ambient": 1.5, "damping": 0.1,
    },
    "DCMotor": {
        "voltage": bc.Harmonic(6.0, 4.0, offset=2.0), "resistance": 2.0, "torque_constant": 0.3,
        "ratio": -4.0, "rotor_inertia": 1e-3, "viscous": 1e-3, "coulomb": 0.01,
        "regularisation_velocity": 0.2, "thermal_resistance": 3.0, "thermal_time": 0.4,
    },
    "Servo": {
        "target": bc.Harmonic(0.4, 3.0), "stiffness": 5.0, "damping": 0.3, "torque": 9.0, "speed": 40.0,
        "stall": 20.0, "torque_constant": 0.5, "current": 17.0, "resistance": 0.2, "inertia": 0.05,
    },
    "StepperMotor": {
        "target": bc.Harmonic(0.4, 3.0), "holding_torque": 0.7, "steps": 8, "ratio": 1.5, "viscous": 0.02,
        "rotor_inertia": 0.01, "current": 2.0, "resistance": 1.5, "inductance": 0.1,
    },
    "ElasticRope": {"stiffness": 12.0, "pretension": 2.0, "damping": 0.2, "depth": 0.5},
    "ElasticBelt": {"stiffness": 9.0, "pretension": 1.0},
    "ElasticGear": {
        "radii": (0.02, 0.03), "stiffness": 50.0, "damping": 0.2, "depth": 0.1, "helix_angle": 0.2,
    },
    "Bushing": {
        "stiffness": (9.0, 6.0, 12.0), "rotational_stiffness": (1.0, 2.0, 1.5),
        "damping": (0.3, 0.2, 0.1), "rotational_damping": (0.02, 0.03, 0.01),
    },
    "BeamSegment": {"length": 0.7, "flexibility": (0.1, 0.2, 0.15, 0.8, 0.6, 0.9), "damping": 0.05},
}  # fmt: skip


BETWEEN_SHAPES = {"Contact", "Tyre"}
"""Force kinds that act between shapes of bodies, or on them; tests/contacts are about them."""


HOLDING = {"Clutch", "TorqueLimiter", "Freewheel"}
"""Force kinds that hold exactly, which runs find as events; tests/forces/test_clutches.py is about them."""


INTEGRATING = {"FlatBelt"}
"""Force kinds that integrate numbers of their own; tests/forces/test_flat_belts.py is about them."""


TOOTHED = {"TimingBelt"}
"""Force kinds whose radii follow from teeth; tests/forces/test_timing_belts.py is about them."""


def forces():
    """(id, kind instance, letters of its ends) for every other force kind and every form of ends it takes."""
    assert FORCE_FIELDS.keys() | BETWEEN_SHAPES | HOLDING | INTEGRATING | TOOTHED == FORCE_KINDS.keys()
    return [  # in this order, whichever kinds are registered first: seeds then give the same mechanisms
        (f"{name}-{letters}", _force(FORCE_KINDS[name], given, letters), letters)
        for name, given in FORCE_FIELDS.items()
        for letters in _forms(FORCE_KINDS[name].pattern)
        if not (issubclass(FORCE_KINDS[name], Way) and "J" in letters)  # flywheels are added
    ]


def _force(kind, given, letters):
    return kind(**given, **({"radii": way(kind, letters)} if issubclass(kind, Way) else {}))
