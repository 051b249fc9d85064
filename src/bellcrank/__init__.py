"""bellcrank: multibody dynamics of mechanisms. Describe, assemble, simulate, look.

The public names are loaded when first used, so that ``import bellcrank`` stays quick. To publish a name, add
it to ``_EXPORTS`` (name: module inside the package) and to the ``TYPE_CHECKING`` block; a test keeps the two
in step.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bellcrank._core import build_info as build_info
    from bellcrank.analysis.assembling import assemble as assemble
    from bellcrank.analysis.equilibrium import EquilibriumReport as EquilibriumReport
    from bellcrank.analysis.equilibrium import find_equilibrium as find_equilibrium
    from bellcrank.analysis.info import info as info
    from bellcrank.analysis.kinematics import inverse_dynamics as inverse_dynamics
    from bellcrank.analysis.kinematics import kinematics as kinematics
    from bellcrank.analysis.verdict import Verification as Verification
    from bellcrank.analysis.verify import verify as verify
    from bellcrank.assembly.report import AssemblyReport as AssemblyReport
    from bellcrank.assembly.state import State as State
    from bellcrank.assembly.validate import validate as validate
    from bellcrank.errors import AssemblyError as AssemblyError
    from bellcrank.errors import Fault as Fault
    from bellcrank.errors import MechanismError as MechanismError
    from bellcrank.errors import SimulationError as SimulationError
    from bellcrank.errors import Unsupported as Unsupported
    from bellcrank.expression.expression import symbol as symbol
    from bellcrank.expression.expression import symbols as symbols
    from bellcrank.expression.expression import t as t
    from bellcrank.formulations.system import System as System
    from bellcrank.formulations.system import prepare as prepare
    from bellcrank.integrate.events import Event as Event
    from bellcrank.io.files import load as load
    from bellcrank.io.files import loads as loads
    from bellcrank.io.files import save as save
    from bellcrank.mechanism import Body as Body
    from bellcrank.mechanism import Coordinate as Coordinate
    from bellcrank.mechanism import Limit as Limit
    from bellcrank.mechanism import Marker as Marker
    from bellcrank.mechanism import Mechanism as Mechanism
    from bellcrank.mechanism import joint_kind as joint_kind
    from bellcrank.mechanism.body import Ground as Ground
    from bellcrank.mechanism.body_damping import BodyDamping as BodyDamping
    from bellcrank.mechanism.custom_elements import CustomConstraint as CustomConstraint
    from bellcrank.mechanism.custom_elements import CustomForce as CustomForce
    from bellcrank.mechanism.custom_ends import EndCoordinate as EndCoordinate
    from bellcrank.mechanism.custom_ends import EndPose as EndPose
    from bellcrank.mechanism.custom_joints import CustomJoint as CustomJoint
    from bellcrank.mechanism.custom_joints import PathJoint as PathJoint
    from bellcrank.mechanism.friction import Brake as Brake
    from bellcrank.mechanism.friction import JointFriction as JointFriction
    from bellcrank.mechanism.functions.curve import Curve as Curve
    from bellcrank.mechanism.functions.function import Function as Function
    from bellcrank.mechanism.functions.harmonic import Constant as Constant
    from bellcrank.mechanism.functions.harmonic import Harmonic as Harmonic
    from bellcrank.mechanism.functions.nurbs import Nurbs as Nurbs
    from bellcrank.mechanism.functions.nurbs import NurbsCurve as NurbsCurve
    from bellcrank.mechanism.functions.nurbs import Rational as Rational
    from bellcrank.mechanism.functions.path import Path as Path
    from bellcrank.mechanism.functions.piecewise import Piecewise as Piecewise
    from bellcrank.mechanism.functions.piecewise import Polynomial as Polynomial
    from bellcrank.mechanism.functions.piecewise import Ramp as Ramp
    from bellcrank.mechanism.functions.spline import CubicSpline as CubicSpline
    from bellcrank.mechanism.functions.spline import Table as Table
    from bellcrank.mechanism.gears import Belt as Belt
    from bellcrank.mechanism.gears import BevelGear as BevelGear
    from bellcrank.mechanism.gears import Gear as Gear
    from bellcrank.mechanism.gears import InternalGear as InternalGear
    from bellcrank.mechanism.gears import RackPinion as RackPinion
    from bellcrank.mechanism.given_rotation import rotation as rotation
    from bellcrank.mechanism.joint_kinds import ConstantVelocity as ConstantVelocity
    from bellcrank.mechanism.joint_kinds import ConstantVelocityX as ConstantVelocityX
    from bellcrank.mechanism.joint_kinds import Cylindrical as Cylindrical
    from bellcrank.mechanism.joint_kinds import CylindricalX as CylindricalX
    from bellcrank.mechanism.joint_kinds import Fixed as Fixed
    from bellcrank.mechanism.joint_kinds import Free as Free
    from bellcrank.mechanism.joint_kinds import GuidedPointOnLine as GuidedPointOnLine
    from bellcrank.mechanism.joint_kinds import GuidedPointOnLineX as GuidedPointOnLineX
    from bellcrank.mechanism.joint_kinds import GuidedPointOnPlane as GuidedPointOnPlane
    from bellcrank.mechanism.joint_kinds import GuidedPointOnPlaneX as GuidedPointOnPlaneX
    from bellcrank.mechanism.joint_kinds import KeyedPointOnPlane as KeyedPointOnPlane
    from bellcrank.mechanism.joint_kinds import KeyedPointOnPlaneX as KeyedPointOnPlaneX
    from bellcrank.mechanism.joint_kinds import NoTwist as NoTwist
    from bellcrank.mechanism.joint_kinds import NoTwistX as NoTwistX
    from bellcrank.mechanism.joint_kinds import Oldham as Oldham
    from bellcrank.mechanism.joint_kinds import OldhamX as OldhamX
    from bellcrank.mechanism.joint_kinds import Orientation as Orientation
    from bellcrank.mechanism.joint_kinds import ParallelAxes as ParallelAxes
    from bellcrank.mechanism.joint_kinds import ParallelAxesX as ParallelAxesX
    from bellcrank.mechanism.joint_kinds import PinInSlot as PinInSlot
    from bellcrank.mechanism.joint_kinds import Planar as Planar
    from bellcrank.mechanism.joint_kinds import PlanarHinge as PlanarHinge
    from bellcrank.mechanism.joint_kinds import PlanarHingeX as PlanarHingeX
    from bellcrank.mechanism.joint_kinds import PlanarSlider as PlanarSlider
    from bellcrank.mechanism.joint_kinds import PlanarSlot as PlanarSlot
    from bellcrank.mechanism.joint_kinds import PlanarX as PlanarX
    from bellcrank.mechanism.joint_kinds import PlungingConstantVelocity as PlungingConstantVelocity
    from bellcrank.mechanism.joint_kinds import PlungingConstantVelocityX as PlungingConstantVelocityX
    from bellcrank.mechanism.joint_kinds import PointOnLine as PointOnLine
    from bellcrank.mechanism.joint_kinds import PointOnPlane as PointOnPlane
    from bellcrank.mechanism.joint_kinds import PointOnPlaneX as PointOnPlaneX
    from bellcrank.mechanism.joint_kinds import Prismatic as Prismatic
    from bellcrank.mechanism.joint_kinds import PrismaticX as PrismaticX
    from bellcrank.mechanism.joint_kinds import Revolute as Revolute
    from bellcrank.mechanism.joint_kinds import RevolutePrismatic as RevolutePrismatic
    from bellcrank.mechanism.joint_kinds import RevoluteX as RevoluteX
    from bellcrank.mechanism.joint_kinds import Spherical as Spherical
    from bellcrank.mechanism.joint_kinds import SphericalSlot as SphericalSlot
    from bellcrank.mechanism.mesh import Mesh as Mesh
    from bellcrank.mechanism.motor_joints import BendMotor as BendMotor
    from bellcrank.mechanism.motor_joints import CylindricalMotor as CylindricalMotor
    from bellcrank.mechanism.motor_joints import ImposedMotion as ImposedMotion
    from bellcrank.mechanism.motor_joints import LengthActuator as LengthActuator
    from bellcrank.mechanism.motor_joints import LinearMotor as LinearMotor
    from bellcrank.mechanism.motor_joints import LinearMotorX as LinearMotorX
    from bellcrank.mechanism.motor_joints import MovingLine as MovingLine
    from bellcrank.mechanism.motor_joints import MovingPlane as MovingPlane
    from bellcrank.mechanism.motor_joints import PinInSlotMotor as PinInSlotMotor
    from bellcrank.mechanism.motor_joints import PlanarMotor as PlanarMotor
    from bellcrank.mechanism.motor_joints import PointMotor as PointMotor
    from bellcrank.mechanism.motor_joints import PushedCylindrical as PushedCylindrical
    from bellcrank.mechanism.motor_joints import RevoluteMotor as RevoluteMotor
    from bellcrank.mechanism.motor_joints import RevoluteMotorX as RevoluteMotorX
    from bellcrank.mechanism.motor_joints import ScrewMotor as ScrewMotor
    from bellcrank.mechanism.motor_joints import SlotMotor as SlotMotor
    from bellcrank.mechanism.motor_joints import SphericalMotor as SphericalMotor
    from bellcrank.mechanism.motor_joints import TableMotor as TableMotor
    from bellcrank.mechanism.motor_joints import TranslationMotor as TranslationMotor
    from bellcrank.mechanism.motor_joints import TurnedCylindrical as TurnedCylindrical
    from bellcrank.mechanism.motor_joints import TurnMotor as TurnMotor
    from bellcrank.mechanism.motor_joints import UniversalMotor as UniversalMotor
    from bellcrank.mechanism.motors import GearedMotor as GearedMotor
    from bellcrank.mechanism.motors import JointMotor as JointMotor
    from bellcrank.mechanism.motors import Wrench as Wrench
    from bellcrank.mechanism.one_sided import OneSidedSpring as OneSidedSpring
    from bellcrank.mechanism.one_sided import RubberString as RubberString
    from bellcrank.mechanism.one_sided import SupportPoint as SupportPoint
    from bellcrank.mechanism.parameter import Parameter as Parameter
    from bellcrank.mechanism.shape import Box as Box
    from bellcrank.mechanism.shape import Capsule as Capsule
    from bellcrank.mechanism.shape import Cone as Cone
    from bellcrank.mechanism.shape import Cylinder as Cylinder
    from bellcrank.mechanism.shape import Ellipsoid as Ellipsoid
    from bellcrank.mechanism.shape import Sphere as Sphere
    from bellcrank.mechanism.special_joints import AxisAngle as AxisAngle
    from bellcrank.mechanism.special_joints import CrossedAxes as CrossedAxes
    from bellcrank.mechanism.special_joints import Distance as Distance
    from bellcrank.mechanism.special_joints import LineOnPlane as LineOnPlane
    from bellcrank.mechanism.special_joints import ParallelLink as ParallelLink
    from bellcrank.mechanism.special_joints import Perpendicular as Perpendicular
    from bellcrank.mechanism.special_joints import PlungingParallelLink as PlungingParallelLink
    from bellcrank.mechanism.special_joints import PlungingUniversal as PlungingUniversal
    from bellcrank.mechanism.special_joints import RevoluteSpherical as RevoluteSpherical
    from bellcrank.mechanism.special_joints import Screw as Screw
    from bellcrank.mechanism.special_joints import Universal as Universal
    from bellcrank.mechanism.springs import Bushing as Bushing
    from bellcrank.mechanism.springs import SpringDamper as SpringDamper
    from bellcrank.mechanism.springs import TabulatedSpring as TabulatedSpring
    from bellcrank.mechanism.springs import TorsionSpring as TorsionSpring
    from bellcrank.mechanism.surface_formulas import Rolling as Rolling
    from bellcrank.mechanism.surface_formulas import SurfaceJoint as SurfaceJoint
    from bellcrank.mechanism.surface_formulas import SurfaceOnSurface as SurfaceOnSurface
    from bellcrank.mechanism.surface_joints import CylinderOnPlane as CylinderOnPlane
    from bellcrank.mechanism.surface_joints import PointOnCone as PointOnCone
    from bellcrank.mechanism.surface_joints import PointOnCurve as PointOnCurve
    from bellcrank.mechanism.surface_joints import PointOnCylinder as PointOnCylinder
    from bellcrank.mechanism.surface_joints import PointOnHelix as PointOnHelix
    from bellcrank.mechanism.surface_joints import SphereOnPlane as SphereOnPlane
    from bellcrank.mechanism.transmissions import Cable as Cable
    from bellcrank.mechanism.transmissions import Coupling as Coupling
    from bellcrank.mechanism.transmissions import Differential as Differential
    from bellcrank.mechanism.transmissions import PlanetaryGear as PlanetaryGear
    from bellcrank.mechanism.transmissions import ScrewCoupling as ScrewCoupling
    from bellcrank.mechanism.transmissions import Winch as Winch
    from bellcrank.simulate import simulate as simulate
    from bellcrank.trajectory.trajectory import Trajectory as Trajectory

__version__ = "0.1.0"

_EXPORTS: dict[str, str] = {
    "AssemblyReport": "assembly.report",
    "State": "assembly.state",
    "System": "formulations.system",
    "Trajectory": "trajectory.trajectory",
    "Verification": "analysis.verdict",
    "EquilibriumReport": "analysis.equilibrium",
    "assemble": "analysis.assembling",
    "find_equilibrium": "analysis.equilibrium",
    "build_info": "_core",
    "info": "analysis.info",
    "inverse_dynamics": "analysis.kinematics",
    "kinematics": "analysis.kinematics",
    "prepare": "formulations.system",
    "Event": "integrate.events",
    "simulate": "simulate",
    "validate": "assembly.validate",
    "symbol": "expression.expression",
    "symbols": "expression.expression",
    "t": "expression.expression",
    "AssemblyError": "errors",
    "Fault": "errors",
    "MechanismError": "errors",
    "SimulationError": "errors",
    "Unsupported": "errors",
    "load": "io.files",
    "loads": "io.files",
    "save": "io.files",
    "Body": "mechanism",
    "Coordinate": "mechanism",
    "Limit": "mechanism",
    "Marker": "mechanism",
    "Mechanism": "mechanism",
    "joint_kind": "mechanism",
    "Ground": "mechanism.body",
    "CustomConstraint": "mechanism.custom_elements",
    "CustomForce": "mechanism.custom_elements",
    "EndCoordinate": "mechanism.custom_ends",
    "EndPose": "mechanism.custom_ends",
    "CustomJoint": "mechanism.custom_joints",
    "PathJoint": "mechanism.custom_joints",
    "Rolling": "mechanism.surface_formulas",
    "SurfaceJoint": "mechanism.surface_formulas",
    "SurfaceOnSurface": "mechanism.surface_formulas",
    "Parameter": "mechanism.parameter",
    "Brake": "mechanism.friction",
    "JointFriction": "mechanism.friction",
    "Curve": "mechanism.functions.curve",
    "Function": "mechanism.functions.function",
    "Constant": "mechanism.functions.harmonic",
    "Harmonic": "mechanism.functions.harmonic",
    "Nurbs": "mechanism.functions.nurbs",
    "NurbsCurve": "mechanism.functions.nurbs",
    "Rational": "mechanism.functions.nurbs",
    "Path": "mechanism.functions.path",
    "Piecewise": "mechanism.functions.piecewise",
    "Polynomial": "mechanism.functions.piecewise",
    "Ramp": "mechanism.functions.piecewise",
    "CubicSpline": "mechanism.functions.spline",
    "Table": "mechanism.functions.spline",
    "Belt": "mechanism.gears",
    "BevelGear": "mechanism.gears",
    "Gear": "mechanism.gears",
    "InternalGear": "mechanism.gears",
    "RackPinion": "mechanism.gears",
    "ConstantVelocity": "mechanism.joint_kinds",
    "ConstantVelocityX": "mechanism.joint_kinds",
    "Cylindrical": "mechanism.joint_kinds",
    "CylindricalX": "mechanism.joint_kinds",
    "Fixed": "mechanism.joint_kinds",
    "Free": "mechanism.joint_kinds",
    "GuidedPointOnLine": "mechanism.joint_kinds",
    "GuidedPointOnLineX": "mechanism.joint_kinds",
    "GuidedPointOnPlane": "mechanism.joint_kinds",
    "GuidedPointOnPlaneX": "mechanism.joint_kinds",
    "KeyedPointOnPlane": "mechanism.joint_kinds",
    "KeyedPointOnPlaneX": "mechanism.joint_kinds",
    "NoTwist": "mechanism.joint_kinds",
    "NoTwistX": "mechanism.joint_kinds",
    "Oldham": "mechanism.joint_kinds",
    "OldhamX": "mechanism.joint_kinds",
    "Orientation": "mechanism.joint_kinds",
    "ParallelAxes": "mechanism.joint_kinds",
    "ParallelAxesX": "mechanism.joint_kinds",
    "PinInSlot": "mechanism.joint_kinds",
    "Planar": "mechanism.joint_kinds",
    "PlanarHinge": "mechanism.joint_kinds",
    "PlanarHingeX": "mechanism.joint_kinds",
    "PlanarSlider": "mechanism.joint_kinds",
    "PlanarSlot": "mechanism.joint_kinds",
    "PlanarX": "mechanism.joint_kinds",
    "PlungingConstantVelocity": "mechanism.joint_kinds",
    "PlungingConstantVelocityX": "mechanism.joint_kinds",
    "PointOnLine": "mechanism.joint_kinds",
    "PointOnPlane": "mechanism.joint_kinds",
    "PointOnPlaneX": "mechanism.joint_kinds",
    "Prismatic": "mechanism.joint_kinds",
    "PrismaticX": "mechanism.joint_kinds",
    "Revolute": "mechanism.joint_kinds",
    "RevolutePrismatic": "mechanism.joint_kinds",
    "RevoluteX": "mechanism.joint_kinds",
    "Spherical": "mechanism.joint_kinds",
    "SphericalSlot": "mechanism.joint_kinds",
    "Mesh": "mechanism.mesh",
    "BendMotor": "mechanism.motor_joints",
    "CylindricalMotor": "mechanism.motor_joints",
    "ImposedMotion": "mechanism.motor_joints",
    "LengthActuator": "mechanism.motor_joints",
    "LinearMotor": "mechanism.motor_joints",
    "LinearMotorX": "mechanism.motor_joints",
    "MovingLine": "mechanism.motor_joints",
    "MovingPlane": "mechanism.motor_joints",
    "PinInSlotMotor": "mechanism.motor_joints",
    "PlanarMotor": "mechanism.motor_joints",
    "PointMotor": "mechanism.motor_joints",
    "PushedCylindrical": "mechanism.motor_joints",
    "RevoluteMotor": "mechanism.motor_joints",
    "RevoluteMotorX": "mechanism.motor_joints",
    "ScrewMotor": "mechanism.motor_joints",
    "SlotMotor": "mechanism.motor_joints",
    "SphericalMotor": "mechanism.motor_joints",
    "TableMotor": "mechanism.motor_joints",
    "TranslationMotor": "mechanism.motor_joints",
    "TurnMotor": "mechanism.motor_joints",
    "TurnedCylindrical": "mechanism.motor_joints",
    "UniversalMotor": "mechanism.motor_joints",
    "GearedMotor": "mechanism.motors",
    "JointMotor": "mechanism.motors",
    "Wrench": "mechanism.motors",
    "rotation": "mechanism.given_rotation",
    "Box": "mechanism.shape",
    "Capsule": "mechanism.shape",
    "Cone": "mechanism.shape",
    "Cylinder": "mechanism.shape",
    "Ellipsoid": "mechanism.shape",
    "Sphere": "mechanism.shape",
    "AxisAngle": "mechanism.special_joints",
    "CrossedAxes": "mechanism.special_joints",
    "Distance": "mechanism.special_joints",
    "LineOnPlane": "mechanism.special_joints",
    "ParallelLink": "mechanism.special_joints",
    "Perpendicular": "mechanism.special_joints",
    "PlungingParallelLink": "mechanism.special_joints",
    "PlungingUniversal": "mechanism.special_joints",
    "PointOnCylinder": "mechanism.surface_joints",
    "RevoluteSpherical": "mechanism.special_joints",
    "Screw": "mechanism.special_joints",
    "Universal": "mechanism.special_joints",
    "BodyDamping": "mechanism.body_damping",
    "OneSidedSpring": "mechanism.one_sided",
    "RubberString": "mechanism.one_sided",
    "SupportPoint": "mechanism.one_sided",
    "Bushing": "mechanism.springs",
    "SpringDamper": "mechanism.springs",
    "TabulatedSpring": "mechanism.springs",
    "TorsionSpring": "mechanism.springs",
    "CylinderOnPlane": "mechanism.surface_joints",
    "PointOnCone": "mechanism.surface_joints",
    "PointOnCurve": "mechanism.surface_joints",
    "PointOnHelix": "mechanism.surface_joints",
    "SphereOnPlane": "mechanism.surface_joints",
    "Cable": "mechanism.transmissions",
    "Coupling": "mechanism.transmissions",
    "Differential": "mechanism.transmissions",
    "PlanetaryGear": "mechanism.transmissions",
    "ScrewCoupling": "mechanism.transmissions",
    "Winch": "mechanism.transmissions",
    "verify": "analysis.verify",
}

__all__ = ["__version__", *_EXPORTS]  # noqa: PLE0604  (all strings, by the annotation)


def __getattr__(name: str) -> Any:
    if name == "expression":  # a folder of the package, not a name of one
        return import_module("bellcrank.expression")
    if name not in _EXPORTS:
        raise AttributeError(f"module 'bellcrank' has no attribute {name!r}{_meant(name)}")
    value = getattr(import_module(f"bellcrank.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def _meant(name: str) -> str:
    """What a misspelt public name may have meant."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches

    small = {known.lower(): known for known in _EXPORTS}
    close = [small[found] for found in get_close_matches(name.lower().replace("_", ""), small, n=3)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps a public name where a module is called the same: importing it would put the module there."""

    def __setattr__(self, name: str, value: Any) -> None:
        clash = isinstance(value, ModuleType) and _EXPORTS.get(name) == name
        super().__setattr__(name, getattr(value, name) if clash else value)


sys.modules[__name__].__class__ = _Package
