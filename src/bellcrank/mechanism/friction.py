"""Friction and brakes on joint coordinates, and the damping of bodies in the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from bellcrank.expression import dot
from bellcrank.mechanism.attachment import End, ForceKind, markers, pairwise
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import checked, described, flag, function, quantity, vector
from bellcrank.mechanism.formulas import CustomForce, EndPose
from bellcrank.mechanism.friction_loads import LoadKind
from bellcrank.mechanism.functions.function import Constant, FunctionField
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.parameters import is_expression, present
from bellcrank.mechanism.rows import Block, Law, Lowered, dry_friction, lock

_SMOOTHED: Final = 1e-3  # rad/s or m/s: over which friction builds up that does not hold


def _load(check: Check, name: str, value: Any) -> Any:
    return check.instance(name, value, LoadKind)


@described
class JointFriction(ForceKind):
    """Viscous and dry friction on a joint coordinate:  -viscous v - F(v) sign(v).

    F(v) = coulomb + (stiction - coulomb) exp(-(v/stribeck_velocity)^2). What rests is held up to stiction,
    and does not creep; moments at which slipping ends or begins are events of methods with error control,
    and fall on ends of steps in others.
    viscous: N m s/rad or N s/m. coulomb, stiction: N m or N; stiction is at least coulomb and by default the
        same.
    stribeck_velocity: speed over which stiction falls to coulomb, rad/s or m/s; None: it falls as motion
        begins.
    regularisation_velocity: None, as by default; or a speed over which the dry part builds up,
        -F(v) tanh(v/regularisation_velocity). Then a held joint creeps at up to about this speed. It is for
        what takes smooth forces alone: formulation `symbolic`, derivatives, linearization, exported C.
    load: what the dry part grows with, such as `Journal`; F is added to that. Then there is no
        regularisation. Impulses of impacts make no friction.

    >>> slide = cube.add_joint("slide", bc.PrismaticX(), "ground", "cube", velocity=2.0)
    >>> rub = cube.add_force("rub", bc.JointFriction(coulomb=6.0), "slide")
    >>> run = bc.simulate(cube, 3.0)
    >>> print(run.joint("slide").position[-1].round(4))    # m: it stops after m v^2 / (2 F)
    [2.]
    """

    viscous: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    coulomb: FloatField = quantity("N or N m", "not negative", default=0.0)
    stiction: OptionalFloatField = quantity("N or N m", "not negative", default=None)
    stribeck_velocity: OptionalFloatField = quantity("rad/s or m/s", "positive", default=0.01, optional=True)
    regularisation_velocity: OptionalFloatField = quantity(
        "rad/s or m/s", "positive", default=None, optional=True
    )
    load: LoadKind | None = checked(_load, default=None, parametric=True, followed=False)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "Viscous and dry friction in a joint, with Stribeck's fall."

    def _judge(self, check: Check) -> None:
        stiction = self.coulomb if self.stiction is None else self.stiction
        if len(check.faults) == 0:
            if stiction < self.coulomb:
                check.fault("stiction must not be less than coulomb", (stiction, self.coulomb))
            if self.viscous == 0.0 and stiction == 0.0 and self.load is None:
                check.fault("it does nothing", None, "give viscous, coulomb or load")
            if self.stribeck_velocity is None and self.regularisation_velocity is not None:
                rule = "stiction falls at once only in friction that holds"
                check.fault(rule, None, "give stribeck_velocity, or leave out regularisation_velocity")
        self._store(stiction=stiction)
        if self.load is not None and self.regularisation_velocity is not None:
            rule = "friction that grows with the load holds exactly"
            check.fault(rule, self.regularisation_velocity, "leave out regularisation_velocity")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A friction law; of friction that holds, with the row that it holds."""
        stiction = self.coulomb if self.stiction is None else self.stiction
        numbers = {"stiction": stiction, "stribeck_velocity": self.stribeck_velocity}
        return rubbing(self, pairwise("", ends), self.viscous, self.coulomb, load=self.load, **numbers)


@described
class Brake(ForceKind):
    """A brake on a joint coordinate:  -level(t) sign(v). What rests is held up to the level.

    level: greatest braking effort as a function of time, N m or N, not negative.
    regularisation_velocity: None, as by default; or rad/s or m/s, as of `JointFriction`:
        -level(t) tanh(v/regularisation_velocity).

    >>> brake = shafts.add_force("brake", bc.Brake(level=3.0), "input")
    >>> run = bc.simulate(shafts, 3.0)
    >>> print(run.joint("input").position[-1].round(4))    # rad: it stops after J w^2 / (2 M)
    [6.]
    """

    level: FunctionField = function("N or N m")
    regularisation_velocity: OptionalFloatField = quantity(
        "rad/s or m/s", "positive", default=None, optional=True
    )
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A brake on a joint whose level is a function of time."

    def _judge(self, check: Check) -> None:
        _judge_level(check, self.level)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A brake law; of one that holds, with the row that it holds."""
        coordinate = pairwise("", ends)
        if self.regularisation_velocity is not None:
            return Lowered(laws=(Law.of(self, "brake", coordinate, self.level),))
        return _holding(coordinate, Law.of(self, "dry_brake", coordinate, self.level, part=1.0))


@described
class Clutch(ForceKind):
    """A friction clutch between two shafts: it slips at its level, and holds exactly while less is asked for.

    level: the most that it transmits, a function of time or of an input, N m, not negative; that of n faces
        pressed by a force F is n mu F times their mean radius.

    It acts on the angle between two markers on one axis, z along it, or on the angle of a joint.

    >>> hinge = cube.add_joint("hinge", bc.Revolute(), "ground", "cube", velocity=4.0)
    >>> disc = cube.add_body("disc", 1.0, (1, 1, 1))
    >>> turn = cube.add_joint("turn", bc.Revolute(), "cube", disc, velocity=-4.0)    # it stands
    >>> clutch = cube.add_force("clutch", bc.Clutch(level=1.5), "turn")
    >>> print(bc.simulate(cube, 2.0).joint("hinge").velocity[-1].round(6))    # rad/s: both turn at half
    [2.]
    """

    level: FunctionField = function("N m")
    pattern: ClassVar[str] = "J|MM"
    ends_text: ClassVar[str] = "one joint, or two markers on one axis, z along it"
    meaning: ClassVar[str] = "A friction clutch, whose level is a function of time; it slips or holds."

    def _judge(self, check: Check) -> None:
        _judge_level(check, self.level)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A brake law that holds, on the angle between the shafts."""
        coordinate = pairwise("theta_z", ends)
        return _holding(coordinate, Law.of(self, "dry_brake", coordinate, self.level, part=1.0))


@described
class TorqueLimiter(ForceKind):
    """A limiter between two shafts: they turn together until more than a torque is asked for.

    torque: at which it lets go, N m. slipping: what it transmits while it slips; by default the same, 0 for
        one that falls out. It takes hold again where the shafts come to the same speed.

    >>> limiter = shafts.add_force("limiter", bc.TorqueLimiter(torque=2.0), "output")
    >>> motor = shafts.add_force("motor", bc.JointMotor(5.0), "output")
    >>> run = bc.simulate(shafts, 2.0)
    >>> print(run.joint("output").velocity[-1].round(4))    # rad/s: (5 - 2) N m / 1 kg m^2 for 2 s
    [6.]
    """

    torque: FloatField = quantity("N m", "positive")
    slipping: OptionalFloatField = quantity("N m", "not negative", default=None)
    pattern: ClassVar[str] = "J|MM"
    ends_text: ClassVar[str] = "one joint, or two markers on one axis, z along it"
    meaning: ClassVar[str] = "Holds two shafts together up to a torque, and slips beyond it."

    def _judge(self, check: Check) -> None:
        if len(check.faults) == 0 and self.slipping is not None and self.slipping > self.torque:
            check.fault("slipping must not be more than torque", (self.slipping, self.torque))

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """Dry friction that holds, whose stiction falls at once."""
        coordinate = pairwise("theta_z", ends)
        slipping = self.torque if self.slipping is None else self.slipping
        return dry_friction(lock(coordinate), coulomb=slipping, start=slipping, holding=self.torque)


@described
class Freewheel(ForceKind):
    """A one-way clutch between two shafts: free while the angle grows, held together the other way.

    backward: free while it falls instead. Where the free motion comes to an end the shafts are held without a
    blow; set in motion against it they are held from the start.

    It acts on the angle between two markers on one axis, z along it, or on the coordinate of a joint.

    >>> ratchet = shafts.add_force("ratchet", bc.Freewheel(), "output")
    >>> motor = shafts.add_force("motor", bc.JointMotor("1 - t"), "output")
    >>> speed = bc.simulate(shafts, 4.0).joint("output").velocity[:, 0]
    >>> print(speed.max().round(4), speed[-1].round(6))    # rad/s: it does not turn back after 2 s
    0.5 0.0
    """

    backward: bool = flag(default=False)
    pattern: ClassVar[str] = "J|MM"
    ends_text: ClassVar[str] = "one joint, or two markers on one axis, z along it"
    meaning: ClassVar[str] = "A one-way clutch: free one way, held the other way."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A law that holds without limit against one sense."""
        coordinate = pairwise("theta_z", ends)
        law = Law.of(self, "freewheel", coordinate, direction=-1.0 if self.backward else 1.0)
        return _holding(coordinate, law)


def _judge_level(check: Check, given: Any) -> None:
    level = present(given)
    if isinstance(level, Constant) and level.value < 0.0:
        check.fault("level must not be negative", level.value)


def rubbing(
    owner: Any,
    coordinate: Coordinate,
    viscous: Any,
    coulomb: Any,
    *,
    stiction: Any = None,
    stribeck_velocity: Any = None,
    load: LoadKind | None = None,
) -> Lowered:
    """Friction of an element: a law that holds, with its row, or one that is smoothed as it asks for.

    stribeck_velocity: None: stiction falls at once.
    """
    stiction, over = coulomb if stiction is None else stiction, owner.regularisation_velocity
    numbers = {"viscous": viscous, "coulomb": coulomb}
    dry = load is not None or is_expression(stiction) or stiction != 0.0
    if over is not None or not dry:
        numbers |= {"stiction": stiction, "stribeck_velocity": stribeck_velocity or 1.0}
        numbers |= {"regularisation_velocity": over or _SMOOTHED}
        return Lowered(laws=(Law.of(owner, "friction", coordinate, None, (), **numbers),))
    falls_at_once = stribeck_velocity is None
    constant = stiction == coulomb and (load is None or load.both[0] == load.both[1])
    law = Law.of(
        owner,
        "dry_friction",
        coordinate,
        loads=() if load is None else (load,),
        start=coulomb if falls_at_once else stiction,
        holding=stiction,
        stribeck_velocity=0.0 if falls_at_once or constant else stribeck_velocity,
        part=1.0,
        churned=0.0 if load is None else load.churned[0],
        least_churned=0.0 if load is None else load.churned[1],
        **numbers,
    )
    return _holding(coordinate, law)


def labelled(laws: Mapping[str, Law], friction: Lowered, blocks: tuple[Block, ...] = ()) -> Lowered:
    """Laws by what results call them; `friction`, with its rows, is that of this name."""
    named = {**laws, "friction": friction.laws[0]}
    rows = tuple(replace(block, law=list(named).index("friction")) for block in friction.blocks)
    return Lowered((*blocks, *rows), tuple(replace(law, label=name) for name, law in named.items()))


def _holding(coordinate: Coordinate, law: Law) -> Lowered:
    return Lowered((Block("friction", (lock(coordinate),), unilateral=True),), (law,))


@described
class BodyDamping(ForceKind):
    """Viscous damping of a body against the world, along and about the axes of a marker on it.

    damping: along x, y, z of the marker, N s/m: each component of the marker's velocity meets a force of so
        much times itself, at the marker. Three numbers, or one for all.
    rotational_damping: about these axes, N m s/rad, against the angular velocity.

    With `damping` alone, at a point, it is the brake of P. Schröder, The Virtual Erector Set (1990), section
    6.6; with both, at the centre of mass, its damping.

    >>> drag = cube.add_force("drag", bc.BodyDamping(damping=3.0), "cube")
    >>> pushed = cube.replace(cube.bodies["cube"], velocity=(1.0, 0, 0))
    >>> print(bc.simulate(cube, 2.0).body("cube").velocity[-1].round(6), np.exp(-3 / 6 * 2).round(6))    # m/s
    [0.367879 0.       0.      ] 0.367879
    """

    damping: Vec3 | float = vector("N s/m", "not negative", default=(0.0, 0.0, 0.0), or_one=True)
    rotational_damping: Vec3 | float = vector(
        "N m s/rad", "not negative", default=(0.0, 0.0, 0.0), or_one=True
    )
    pattern: ClassVar[str] = "M"
    ends_text: ClassVar[str] = "one marker"
    meaning: ClassVar[str] = "Viscous damping of a body in the world, in axes of a marker."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A force by formulas: -R diag(c) Rᵀ v, and the same of the angular velocity."""
        (marker,) = markers(ends)
        pose = EndPose("m")
        given = {
            "force": _against(pose, pose.velocity, self.damping),
            "moment": _against(pose, pose.angular_velocity, self.rotational_damping),
        }
        held = {name: value for name, value in given.items() if value}
        if not held:
            return Lowered()
        return Lowered(custom=_BodyDamping(pose, **held, marker=marker, description=self))


@dataclass(frozen=True)
class _BodyDamping(CustomForce, listed=False):
    """The formulas, with the data they were made from, for numerical use."""

    marker: Any = None
    description: Any = None


def _against(pose: EndPose, velocity: Any, factors: Any) -> tuple[Any, ...]:
    """Components, world axes, of the load that opposes a velocity; none if all factors are zero."""
    if is_expression(factors):
        factors = (factors,) * 3
    if not any(is_expression(factor) or factor for factor in factors):
        return ()
    if len(set(factors)) == 1:
        return tuple(-factors[0] * component for component in velocity)
    axes = (pose.x_axis, pose.y_axis, pose.z_axis)
    parts = [(factor * dot(axis, velocity), axis) for factor, axis in zip(factors, axes, strict=True)]
    return tuple(-sum(rate * axis[i] for rate, axis in parts) for i in range(3))
