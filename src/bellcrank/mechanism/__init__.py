"""The description of a mechanism: bodies, markers, joints, constraints, forces, drives; lowered forms.

Importing this package fills the registries (JOINT_KINDS, CONSTRAINT_KINDS, FORCE_KINDS, FUNCTIONS, SHAPES).
"""

from bellcrank.mechanism import (  # isort: skip  (the order in which the registries list kinds)
    cams,
    contact,
    custom_joints,
    cylinders,
    elastic_ropes,
    electric,
    flat_belts,
    formulas,
    friction,
    functions,
    mesh,
    motors,
    ropes,
    springs,
    beams,
    timing_belts,
    terrain,
    gears,
    couplings,
    cables,
    tyre,
)
from bellcrank.mechanism.attachment import (
    CONSTRAINT_KINDS,
    FORCE_KINDS,
    Constraint,
    ConstraintKind,
    Force,
    ForceKind,
)
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.changes import CHANGE_KINDS, Change, ChangeKind
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, Coordinate, CoordinateKind, JointCoordinate
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.friction_loads import FRICTION_LOAD_KINDS, LoadKind
from bellcrank.mechanism.functions import FUNCTIONS, Function
from bellcrank.mechanism.joint import JOINT_KINDS, Joint, JointKind, Limit, joint_kind
from bellcrank.mechanism.lowering import LoweredElement, lower
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.motor_joints import MotorKind
from bellcrank.mechanism.parameters import Parameter
from bellcrank.mechanism.placement import Placement
from bellcrank.mechanism.rows import FROM_START, LAW_PARAMETERS, AppliedWrench, Block, Law, Lowered, Row, Term
from bellcrank.mechanism.section import SECTION_KINDS, Section
from bellcrank.mechanism.sensors import SENSOR_KINDS, Sensor, SensorKind
from bellcrank.mechanism.shape import SHAPES, Shape

__all__ = [
    "CHANGE_KINDS",
    "CONSTRAINT_KINDS",
    "COORDINATE_KINDS",
    "FORCE_KINDS",
    "FRICTION_LOAD_KINDS",
    "FROM_START",
    "FUNCTIONS",
    "GROUND",
    "JOINT_KINDS",
    "LAW_PARAMETERS",
    "SECTION_KINDS",
    "SENSOR_KINDS",
    "SHAPES",
    "AppliedWrench",
    "Beam",
    "Block",
    "Body",
    "Change",
    "ChangeKind",
    "Constraint",
    "ConstraintKind",
    "Coordinate",
    "CoordinateKind",
    "Drive",
    "Force",
    "ForceKind",
    "Function",
    "Ground",
    "Joint",
    "JointCoordinate",
    "JointKind",
    "Law",
    "Limit",
    "LoadKind",
    "Lowered",
    "LoweredElement",
    "Marker",
    "Mechanism",
    "MotorKind",
    "Parameter",
    "PathDrive",
    "Placement",
    "Row",
    "Section",
    "Sensor",
    "SensorKind",
    "Shape",
    "Term",
    "beams",
    "cables",
    "cams",
    "contact",
    "couplings",
    "custom_joints",
    "cylinders",
    "elastic_ropes",
    "electric",
    "flat_belts",
    "formulas",
    "friction",
    "functions",
    "gears",
    "joint_kind",
    "lower",
    "mesh",
    "motors",
    "ropes",
    "springs",
    "terrain",
    "timing_belts",
    "tyre",
]
