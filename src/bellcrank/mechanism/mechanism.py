"""The mechanism: the one editable object, to which bodies, joints, forces and the rest are added."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bellcrank import views
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism import given
from bellcrank.mechanism.attachment import Constraint, ConstraintKind, Force, ForceKind
from bellcrank.mechanism.beam_parts import add_beam, arranged
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.changes import Change, ChangeKind
from bellcrank.mechanism.checking import Vec3, nearest
from bellcrank.mechanism.collisions import Colliding
from bellcrank.mechanism.contents import TABLES, numbers_in
from bellcrank.mechanism.coordinate import JointCoordinate
from bellcrank.mechanism.cylinders import Telescopic
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.editing import check_units, remove_element, replace_element
from bellcrank.mechanism.flexible import Flexible
from bellcrank.mechanism.flexures import FlexureKind, add_flexure
from bellcrank.mechanism.flywheels import add_flywheels
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.joining import join
from bellcrank.mechanism.joint import Joint, JointKind, Limit
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.members import Strut, add_rod, add_strut
from bellcrank.mechanism.motor_joints import MotorKind
from bellcrank.mechanism.parameters import Parameter, changed_parameters
from bellcrank.mechanism.placement import Placement, place
from bellcrank.mechanism.references import Element, as_ends, as_joint_coordinate, as_marker, markers_of
from bellcrank.mechanism.rotation import rotate
from bellcrank.mechanism.section import Section
from bellcrank.mechanism.sensors import Sensor, SensorKind
from bellcrank.mechanism.shape import Shape
from bellcrank.slips import NoAttribute, WrongCall, answering, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

E = TypeVar("E")


@answering
class Mechanism(Colliding):
    """A mechanism under construction, in SI units.

    name: free text. gravity: acceleration in world axes, m/s^2.

    Elements are frozen and refer to each other by name; the `add_...` methods return them. The mappings
    `bodies`, `markers`, `beams`, `joints`, `constraints`, `forces`, `drives`, `sensors` and `changes` give
    them by name, in the order in which they were added, what beams consist of last. Numbers are checked at
    once; rules of the whole mechanism (a missing body, say) are checked when it is assembled.

    >>> mech = bc.Mechanism("bob", gravity=(0, 0, -9.81))
    >>> bob = mech.add_body("bob", mass=2.0, inertia=(0, 0, 0), position=(1, 0, 0))
    >>> string = mech.add_joint("string", bc.Distance(), "ground", bob)
    >>> mech
    <Mechanism 'bob': 1 body, 1 joint>
    >>> bc.info(mech).freedom    # a particle at a constant distance
    2
    """

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse what a mechanism does not have, which would have no effect; classes of one's own may add."""
        found = getattr(Mechanism, name, None)
        settable = name.startswith("_") or name in ("name", "left_out", "collisions")
        if settable or type(self) is not Mechanism or (isinstance(found, property) and found.fset):
            super().__setattr__(name, value)
            return
        if name not in TABLES:
            raise NoAttribute(self, name)
        advice = f"mech.add_{TABLES[name]}(...) adds one, mech.remove(element) removes one"
        raise WrongCall(Fault(labelled(self), f"{name} cannot be set", None, advice))

    def add_parameter(
        self,
        name: str,
        value: float,
        unit: str = "",
        low: float | None = None,
        high: float | None = None,
        doc: str = "",
    ) -> Any:
        """Add a named number; the returned expression may be used wherever a number is expected.

        The arguments are those of `Parameter`. Raises MechanismError if the name is taken or has a meaning in
        expressions, and if the value is not within its bounds.

        >>> mech = bc.Mechanism("rod")
        >>> length = mech.add_parameter("length", "50 cm", "m", low=0.1)
        >>> rod = mech.add_body("rod", mass=2 * length, inertia=(0.1, 0.1, 0.1))
        >>> bc.info(mech.with_parameters(length=3.0)).mass
        6.0
        """
        parameter = Parameter(name, value, unit, low, high, doc)
        _enter(self._parameters, "parameter", parameter)
        return parameter.symbol

    def with_parameters(self, **values: float) -> Mechanism:
        """Make a copy in which parameters have other values.

        Elements are shared, and their numbers are computed by programs that are made once. Programs that
        formulations generate, and their native code, are the same at all values of parameters in masses,
        inertias, poses of markers, coefficients of constraints and forces, gravity, formulas, and functions
        of time that are expressions, harmonic, ramps or polynomials. For parameters in points of splines,
        Nurbs and paths, factors of BodyDamping and restitutions, `symbolic` derives and compiles anew at
        other values. Values taken from the initial configuration, such as rest lengths, are taken from that
        of the copy.

        Raises MechanismError for names that are not parameters, and values out of their bounds.

        >>> long = pendulum.with_parameters(length=4.0)
        >>> run = bc.simulate(long, 1.0)
        >>> print(f"{np.linalg.norm(run.marker('rod.tip').position[-1]):.3f} m")
        4.000 m
        """
        copy = self.copy()
        copy._parameters.update(changed_parameters(self.parameters, values))  # noqa: SLF001
        return copy

    def add_body(
        self,
        name: str,
        mass: given.Number | None = None,
        inertia: given.Rows | None = None,
        com: given.Numbers | None = None,
        position: given.Numbers = (0.0, 0.0, 0.0),
        rotation: given.Rows = (1.0, 0.0, 0.0, 0.0),
        velocity: given.Numbers = (0.0, 0.0, 0.0),
        angular_velocity: given.Numbers = (0.0, 0.0, 0.0),
        shapes: Shape | Sequence[Shape] = (),
        check_inertia: bool = True,
        mass_known: bool = True,
    ) -> Body:
        """Add a rigid body; the arguments are those of `Body`.

        Mass and inertia may come from shapes with a density instead: see `Body.described`.
        Raises MechanismError if a value is wrong or the name is taken.

        >>> mech = bc.Mechanism("stone")
        >>> stone = mech.add_body("stone", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(3.0, 0, 9.81))
        >>> print(bc.simulate(mech, 2.0).body("stone").position[-1].round(6))    # m: a throw, down again
        [6. 0. 0.]
        """
        body = Body.described(
            name,
            mass,
            inertia,
            com,
            shapes,
            position=position,
            rotation=rotation,
            velocity=velocity,
            angular_velocity=angular_velocity,
            check_inertia=check_inertia,
            mass_known=mass_known,
        )
        _enter(self._bodies, "body", body)
        arranged(self)
        return body

    def add_rod(
        self,
        name: str,
        start: given.Numbers,
        end: given.Numbers,
        radius: given.Number,
        density: given.Number = 7850.0,
        between: Sequence[given.BodyLike] | None = None,
        axis: given.Axis | None = None,
    ) -> Body:
        """Add a round bar between two points of the world; its mass follows from its size and density.

        start, end: m. radius: m. density: kg/m^3, by default that of steel.
        between: two bodies, "ground" among them, to which its start and end are joined, by joints
            "name start" and "name end"; None for none.
        axis: of these hinges, in the world; None makes a universal joint at the start and a ball at the end.

        The frame of the body is at its start, z along it; its markers are called "start" and "end". Sizes and
        places are numbers here, not expressions of parameters.
        Raises MechanismError with all faults; nothing is added then.

        >>> mech = bc.Mechanism("boom")
        >>> boom = mech.add_rod("boom", (0, 0, 0), (2, 0, 0), radius=0.01, between=["ground"] * 2, axis="y")
        >>> print(f"{boom.mass:.4f} kg, by hand {np.pi * 0.01**2 * 2 * 7850:.4f} kg")
        4.9323 kg, by hand 4.9323 kg
        >>> list(mech.joints)
        ['boom start', 'boom end']
        """
        return add_rod(self, name, start, end, radius, density, between, axis)

    def add_strut(
        self,
        name: str,
        kind: Telescopic,
        start: given.Numbers,
        end: given.Numbers,
        *,
        bore: given.Number | None = None,
        rod: given.Number | None = None,
        density: given.Number = 7850.0,
        between: Sequence[given.BodyLike] | None = None,
        axis: given.Axis | None = None,
    ) -> Strut:
        """Add a gas spring, hydraulic or pneumatic cylinder with its bodies between two points of the world.

        kind: its force, with its length and stroke. bore, rod: diameters of those kinds that have none, m.
        start, end, density, between, axis: as for `add_rod`; the barrel begins at the start.

        Adds the bodies "name barrel" (a tube, its wall a tenth of the bore) and "name rod", the slide `name`,
        whose position is the length between the ends, and the force `name` on it. Without `stop_stiffness` of
        the kind the slide has limits at the ends of the stroke. A drive on the slide prescribes the length.

        >>> mech = bc.Mechanism("strut", gravity=(0, 0, 0))
        >>> kind = bc.GasSpring(400.0, progressivity=1.5, length=0.5, stroke=0.2)
        >>> ends = {"start": (0, 0, 0), "end": (0, 0, 0.3), "between": ["ground"] * 2}
        >>> strut = mech.add_strut("gas", kind, bore=0.02, rod=0.01, **ends)
        >>> push = bc.simulate(mech, 1e-3).force("gas").effort[0, 0]
        >>> print(f"{push:.3f} N")    # the rod is in: 1.5 times 400 N
        600.000 N
        """
        return add_strut(self, name, kind, start, end, bore, rod, density, between, axis)

    def add_beam(
        self,
        name: str,
        section: Section,
        start: given.Numbers | given.MarkerLike | tuple[given.MarkerLike, JointKind],
        end: given.Numbers | given.MarkerLike | tuple[given.MarkerLike, JointKind],
        segments: int = 8,
        damping: given.Number = 0.0,
        up: given.Axis | None = None,
        stations: given.Numbers = (),
        points: given.Rows = (),
        radius: given.Number | None = None,
        twist: given.FunctionLike = 0.0,
    ) -> Beam:
        """Add an elastic beam, which may bend, twist and stretch far.

        section: made by `Section.tube`, `Section.rectangle`, ..., of a beam that tapers by `Section.tapered`.
        start, end: a place of the world, m, where the end is free; a marker, or a body for its frame, to
            which it is welded; or such a marker with a kind of joint, (marker, bc.Revolute()), whose axes are
            those of the marker.
        segments, damping, up, stations, points, radius, twist: as of `Beam`; without points it is straight.

        Its nodes are bodies, "name/0", "name/1", ..., so that joints, forces and contacts take hold of them:
        `boom.marker(1.0)` is the node at 1 m. The joints at its ends are "name/start" and "name/end".
        Raises MechanismError with all faults; nothing is added then.

        >>> mech = bc.Mechanism("boom", gravity=(0, 0, 0))
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start=mech.ground.marker(), end=(2, 0, 0))
        >>> load = mech.add_force("load", bc.Wrench(force=(0, 0, -10.0)), boom.marker(2.0))
        >>> report = bc.find_equilibrium(mech)
        >>> sag = mech.bodies["boom/8"].position[2]
        >>> print(f"{1e3 * sag:.2f} mm, for small deflections {1e3 * -10 * 2**3 / (3 * bar.EI[0]):.2f} mm")
        -16.17 mm, for small deflections -16.17 mm
        """
        more: dict[str, Any] = {"segments": segments, "damping": damping, "up": up, "stations": stations}
        more |= {"points": points, "radius": radius, "twist": twist}
        return add_beam(self, name, section, start, end, **more)

    def add_flexure(
        self,
        name: str,
        kind: FlexureKind,
        bodies: Sequence[given.BodyLike],
        at: given.Numbers,
        axis: given.Axis,
        along: given.Axis,
    ) -> tuple[Beam, ...]:
        """Add a hinge or guide of leaf springs between two bodies, without play or friction.

        kind: `LeafSpring`, `CrossSpring` or `ParallelGuide`. bodies: two, by handle or name, "ground" among
            them. at: its place, m. axis: about which its leaves bend, along their width. along: from the
            first body to the second one, perpendicular to the axis. All in the world.

        Adds one beam per leaf, clamped at both ends: `name`, or "name 1" and "name 2". Files keep the beams.
        Raises MechanismError with all faults; nothing is added then.

        >>> mech = bc.Mechanism("pivot", gravity=(0, 0, 0))
        >>> plate = mech.add_body("plate", mass=0.2, inertia=(2e-4, 2e-4, 2e-4))
        >>> sheet = bc.Section.rectangle("20 mm", "0.5 mm", E=200e9, nu=0.3, density=7850)
        >>> kind = bc.CrossSpring(sheet, length="100 mm", angle="90 deg")
        >>> leaves = mech.add_flexure("pivot", kind, ["ground", plate], at=(0, 0, 0), axis="y", along="x")
        >>> push = mech.add_force("push", bc.Wrench(moment=(0, 0.02, 0)), plate)
        >>> w, x, y, z = bc.statics(mech).state.rotation[0]
        >>> print(f"{2 * np.arctan2(y, w):.4f} rad, by hand {0.02 / kind.stiffness():.4f} rad")
        0.0240 rad, by hand 0.0240 rad
        """
        return add_flexure(self, name, kind, bodies, at, axis, along)

    def add_flexible(
        self,
        name: str,
        solid: Any,
        position: given.Numbers = (0.0, 0.0, 0.0),
        rotation: given.Rows = (1.0, 0.0, 0.0, 0.0),
        velocity: given.Numbers = (0.0, 0.0, 0.0),
        angular_velocity: given.Numbers = (0.0, 0.0, 0.0),
        damping: float = 0.0,
        damping_ratio: float = 0.0,
        shapes: Shape | Sequence[Shape] = (),
    ) -> Flexible:
        """Add a flexible solid, reduced to its interfaces.

        solid: a `ReducedSolid`, as `bc.reduce` and `bc.flexible` make them. position, rotation, velocity,
            angular_velocity: of its frame in the world, as of a body; it starts without strain.
        damping: in proportion to stiffness, s. damping_ratio: of the modes, in parts of critical damping,
            nearly; both add up.
        shapes: of the solid, which are drawn and move with its mean motion, without densities.

        Adds the body `name`, its mean motion; for each interface the body "name/interface", on which joints,
        markers and forces stand as on any body; and for each mode the joint "name/mode 1", ..., whose angle
        is the amplitude. Strains are small, motion is not.
        Raises MechanismError with all faults; nothing is added then.

        >>> bar = bc.reduce(*bar_matrices, {"left": [0], "right": [10]}, modes=4)
        >>> mech = bc.Mechanism("cantilever", gravity=(0, 0, 0))
        >>> solid = mech.add_flexible("bar", bar)
        >>> wall = mech.add_joint("wall", bc.Fixed(), "ground", "bar/left")
        >>> load = mech.add_force("load", bc.Wrench(force=(0, 1.0, 0)), "bar/right")
        >>> report = bc.find_equilibrium(mech)
        >>> bent = mech.bodies["bar/right"].position[1]
        >>> print(f"{bent * 1e6:.2f} um, by hand {1e6 / (3 * 2.1e11 * np.pi * 0.01**4 / 4):.2f} um")
        202.10 um, by hand 202.10 um
        """
        pose, motion = (position, rotation), (velocity, angular_velocity)
        found: Flexible = views.add_flexible(
            self, name, solid, pose, motion, (damping, damping_ratio), shapes
        )
        return found

    def add_marker(self, marker: Marker) -> Marker:
        """Register a named marker as "body.name", even if nothing is attached to it.

        >>> hook = block.add_marker(block.bodies["block"].marker((0, 0, -0.05), name="hook"))
        >>> hook.key
        'block.hook'
        >>> print(block.position_in_world("block.hook"))
        (0.0, 0.0, -0.05)
        """
        if not isinstance(marker, Marker) or marker.key is None:
            raise MechanismError.of(
                "marker", "only a marker with a name can be added", marker, "give name=..."
            )
        self._know(marker)
        return marker

    def _know(self, marker: Marker) -> None:
        key = marker.key
        if key is None:
            return
        if self._markers.setdefault(key, marker) != marker:
            raise MechanismError.of(
                f"marker {key!r}", "this name is taken by another marker of the body", marker.position
            )

    def marker(self, key: str) -> Marker:
        """The named marker "body.name". Raises MechanismError if there is none.

        >>> tip = pendulum.marker("rod.tip")
        >>> tip.body, tip.name
        ('rod', 'tip')
        >>> print(bc.simulate(pendulum, 1.0).marker(tip).position[0])
        [1. 0. 0.]
        """
        return as_marker(self, "mechanism", key)

    def position_in_world(self, marker: given.MarkerLike, state: views.Poses | None = None) -> Vec3:
        """The position of a marker in the world, (3,), m.

        marker: a marker, the name "body.name" of one, or a body or its name, for its frame.
        state: of the bodies, such as `run.at(1.0)`; by default as they are described, which is where
            `assemble` left them. There, what depends on parameters stays a formula of them.
        Raises MechanismError if there is no such marker, and for a state of another mechanism.

        >>> arm.position_in_world("forearm.hand")
        (2.0, 0.0, 0.0)
        >>> reached = bc.inverse_kinematics(arm, {"forearm.hand": (1, 1, 0)})
        >>> np.round(arm.position_in_world("forearm.hand", reached.state), 6).tolist()
        [1.0, 1.0, 0.0]
        """
        element = "position in the world"
        found = as_marker(self, element, marker)
        if found.body == GROUND:
            return found.position
        if found.body not in self.bodies:
            advice = nearest(found.body, self.bodies)
            raise MechanismError.of(element, "there is no body of this name", found.body, advice)
        body = self.bodies[found.body]
        if state is None:
            position, rotation = body.position, body.rotation
        else:
            if len(state.position) != len(self.bodies):
                advice = "give a state of this mechanism, such as run.at(1.0)"
                raise MechanismError.of(element, "the state is of another mechanism", state, advice)
            number, found = list(self.bodies).index(found.body), numbers_in(self, found)
            position, rotation = state.position[number].tolist(), tuple(state.rotation[number].tolist())
        x, y, z = (at + arm for at, arm in zip(position, rotate(rotation, found.position), strict=True))
        return (x, y, z)

    def add_joint(
        self,
        name: str,
        kind: JointKind,
        marker_1: given.MarkerLike,
        marker_2: given.MarkerLike,
        limits: Limit | Mapping[str, Limit] | Sequence[tuple[str, Limit]] | None = (),
        position: given.StartValues | None = None,
        velocity: given.StartValues | None = None,
        guess: given.StartValues | None = None,
    ) -> Joint:
        """Add a joint between a marker on the first (proximal) body and one on the second.

        Markers may be given as body.marker(...), as the name "body.name" of a named marker, or as a body or
        its name, "ground" among them: its frame.
        limits: one Limit for a joint with one free coordinate, or a mapping from coordinate names to limits.
        position, velocity: initial values of the joint's coordinates, rad or m, and of their rates: a number
            if there is one, numbers for all free ones, or a mapping from coordinate names. Assembly moves the
            bodies there; other coordinates stay as near to the placement of the bodies as possible.
        guess: like position, but left, as little as possible, where constraints and limits do not allow it.

        A motor kind adds the plain joint and a drive of the same name (one for each driven coordinate, named
        "joint.coordinate", where there are several).

        >>> disc = cube.add_body("disc", mass=1.0, inertia=(1, 1, 2), position=(1, 0, 0))
        >>> edge = cube.bodies["cube"].marker((1, 0, 0))
        >>> pin = cube.add_joint("pin", bc.Revolute(), edge, disc, velocity=2.0)
        >>> print(bc.simulate(cube, 1.0).joint("pin").position[-1].round(6))    # rad, after 1 s
        [2.]
        """
        ends: list[Any] = [marker_1, marker_2]
        if not (isinstance(marker_1, Marker) and isinstance(marker_2, Marker)):
            faults, ends = FaultList(), []
            for value in (marker_1, marker_2):
                with faults.collect():
                    ends.append(as_marker(self, f"joint {name!r}", value))
            faults.raise_any()
        motor = kind if isinstance(kind, MotorKind) else None
        plain = motor.joint() if motor else kind
        starts: Any = (() if value is None else value for value in (position, velocity, guess))
        joint = Joint(name, plain, ends[0], ends[1], cast(Any, limits), *starts)
        drives = motor.drives(joint) if motor else []
        _refuse_taken(self._drives, "drive", [drive.name for drive in drives])
        self._add(self._joints, "joint", joint)
        for drive in drives:
            self._add(self._drives, "drive", drive)
        return joint

    def join(
        self,
        name: str,
        kind: JointKind,
        bodies: Sequence[given.BodyLike],
        at: given.Numbers,
        axis: given.Axis | None = None,
        *,
        x_axis: given.Axis | None = None,
        y_axis: given.Axis | None = None,
        rotation: given.Rows | None = None,
        limits: Limit | Mapping[str, Limit] | Sequence[tuple[str, Limit]] | None = (),
        position: given.StartValues | None = None,
        velocity: given.StartValues | None = None,
        guess: given.StartValues | None = None,
    ) -> Joint:
        """Join bodies by joints of a kind at a point of the world, where they meet as described.

        bodies: two or more, by handle or name, "ground" among them. at: the point, m, in the world.
        axis: of the joint (the z axis of its markers); x_axis, y_axis, rotation: as for `Body.marker`; all in
            the world, by default its axes.
        limits, position, velocity, guess: as for `add_joint`, for two bodies only.

        Each of the other bodies is joined to the first one. The joint of the first two bodies is called
        `name` and returned; that of any further one is called "name body".

        >>> disc = cube.add_body("disc", mass=1.0, inertia=(1, 1, 2), position=(1, 0, 0))
        >>> knee = cube.join("knee", bc.Revolute(), ["cube", disc], at=(0.5, 0, 0), axis="y")
        >>> knee.marker_1.position, knee.marker_2.position    # m, in the cube and in the disc
        ((0.5, 0.0, 0.0), (-0.5, 0.0, 0.0))
        >>> bc.info(cube).freedom
        7
        """
        turn = {"axis": axis, "x_axis": x_axis, "y_axis": y_axis, "rotation": rotation}
        options = {"limits": limits, "position": position, "velocity": velocity, "guess": guess}
        return join(self, name, kind, bodies, at, turn, options)

    def add_constraint(self, name: str, kind: ConstraintKind, *ends: given.EndLike) -> Constraint:
        """Add a constraint of some kind (a gear, a cable, ...) between markers or joints.

        Ends are markers (as for joints) or joints: a joint or its name if it has one free coordinate, else
        joint.coordinate("theta_z") or "joint.theta_z".

        >>> gear = shafts.add_constraint("gear", bc.Gear(teeth=(20, 60)), "input", "output")
        >>> run = bc.simulate(shafts, 1.0)
        >>> ratio = run.joint("output").velocity[-1, 0] / run.joint("input").velocity[-1, 0]
        >>> print(f"{ratio:.6f}")    # -20/60
        -0.333333
        """
        constraint = Constraint(name, kind, as_ends(self, f"constraint {name!r}", kind, ConstraintKind, ends))
        self._add(self._constraints, "constraint", constraint)
        return constraint

    def add_force(
        self,
        name: str,
        kind: ForceKind,
        *ends: given.EndLike,
        joint: given.JointLike | None = None,
        coordinate: str | int | None = None,
    ) -> Force:
        """Add a force of some kind between markers or on a joint coordinate; ends as for constraints.

        A force on a joint may also be given by joint= and, if the joint has several free coordinates,
        coordinate=.

        >>> spring = block.add_force("spring", bc.TorsionSpring(stiffness=981.0), "guide")
        >>> print(f"it rests at {1e3 * bc.statics(block).position['guide'][0]:.3f} mm")    # -m g / k
        it rests at -20.000 mm
        """
        element = f"force {name!r}"
        if joint is not None:
            ends = (*ends, as_joint_coordinate(self, element, joint, coordinate))
        elif coordinate is not None and len(ends) == 1:
            ends = (as_joint_coordinate(self, element, ends[0], coordinate),)
        force = Force(name, kind, as_ends(self, element, kind, ForceKind, ends))
        if missing := force.kind.missing_states(force.ends):
            _refuse_taken(self._forces, "force", [name])
            force = replace(force, ends=(*force.ends, *add_flywheels(self, force, missing)))
        self._add(self._forces, "force", force)
        return force

    def add_drive(
        self,
        name: str,
        joint: given.JointLike | None = None,
        coordinate: str | int | None = None,
        *,
        position: given.FunctionLike | None = None,
        velocity: given.FunctionLike | None = None,
        relative: bool = False,
        marker: given.MarkerLike | None = None,
        path: Path | None = None,
        reference: given.MarkerLike | None = None,
        orientation: given.Rows | Sequence[given.FunctionLike] | None = None,
    ) -> Drive | PathDrive:
        """Drive a joint coordinate by position= or velocity=, or a marker along a path.

        The arguments are those of `Drive` and `PathDrive`. A coordinate need not be named if the joint has
        only one.

        >>> drive = block.add_drive("lift", "guide", velocity=0.5)
        >>> run = bc.simulate(block, 2.0)
        >>> print(f"{run.joint('guide').position[-1, 0]:.3f} m, {run.drive('lift').effort[-1]:.3f} N")
        1.000 m, 19.620 N
        """
        element = f"drive {name!r}"
        if joint is not None and marker is None:
            driven = as_joint_coordinate(self, element, joint, coordinate)
            drive: Drive | PathDrive = Drive(name, driven, cast(Any, position), cast(Any, velocity), relative)
        elif marker is not None and path is not None and joint is None:
            if position is not None or velocity is not None:
                raise MechanismError.of(
                    element, "a marker is driven along a path, not by position or velocity"
                )
            base = Marker(GROUND) if reference is None else as_marker(self, element, reference)
            drive = PathDrive(name, as_marker(self, element, marker), path, base, cast(Any, orientation))
        else:
            advice = "give joint= with position= or velocity=, or marker= with path="
            raise MechanismError.of(element, "it is not clear what is driven", None, advice)
        self._add(self._drives, "drive", drive)
        return drive

    def add_sensor(self, name: str, kind: SensorKind, *ends: given.EndLike) -> Sensor:
        """Add a sensor of some kind; ends as for constraints.

        It is sampled during runs: controllers read it, and `run.sensor(name)` has what it read.

        >>> encoder = pendulum.add_sensor("angle", bc.Encoder(period=0.01), "hinge")
        >>> run = bc.simulate(pendulum, 0.5)
        >>> error = abs(run.sensor("angle").value - run.joint("hinge").position[:, 0]).max()
        >>> print(f"{error / abs(run.joint('hinge').velocity).max():.3f} s late at most")
        0.010 s late at most
        """
        sensor = Sensor(name, kind, as_ends(self, f"sensor {name!r}", kind, SensorKind, ends))
        self._add(self._sensors, "sensor", sensor)
        return sensor

    def add_change(self, name: str, kind: ChangeKind, *ends: given.EndLike) -> Change:
        """Add a change, which happens during runs: elements let go or take hold where a condition is met.

        ends: nothing, or the two markers whose distance the condition speaks of. A run lists it among its
        events, by its name, with the state just before.

        >>> cut = pendulum.add_change("cut", bc.Release(of="hinge", when="t > 0.5"))
        >>> run = bc.simulate(pendulum, 1.0, accelerations=True)
        >>> run.events
        (<cut at t = 0.5 s>,)
        >>> print(run.body("rod").com_acceleration[-1].round(6))    # m/s^2: it falls freely
        [0.   -9.81  0.  ]
        """
        change = Change(name, kind, as_ends(self, f"change {name!r}", kind, ChangeKind, ends))
        self._add(self._changes, "change", change)
        return change

    def _add(self, table: dict[str, Any], category: str, element: Element) -> None:
        _refuse_taken(table, category, [element.name])
        check_units(self._joints, element)
        for marker in markers_of(element):
            self._know(marker)
        table[element.name] = element
        if category == "force":
            arranged(self)

    def joint_coordinate(
        self, joint: given.JointLike, coordinate: str | int | None = None
    ) -> JointCoordinate:
        """A reference to a joint's coordinate, from a joint, its name, or "joint.coordinate".

        >>> angle = pendulum.joint_coordinate("hinge")
        >>> angle.joint, angle.coordinate
        ('hinge', 'theta_z')
        >>> spring = pendulum.add_force("spring", bc.TorsionSpring(10.0), angle)
        >>> rest = bc.statics(pendulum).position["hinge"][0]
        >>> print(f"{10 * rest + 9.81 / 2 * np.cos(rest):.6f} N m")    # the spring balances the weight
        0.000000 N m
        """
        return as_joint_coordinate(self, "mechanism", joint, coordinate)

    def place(
        self,
        other: Mechanism,
        prefix: str,
        position: given.Numbers = (0.0, 0.0, 0.0),
        rotation: given.Rows = (1.0, 0.0, 0.0, 0.0),
        attach_to: Body | Ground | str | None = None,
        parameters: Mapping[str, given.Number] | None = None,
    ) -> Placement:
        """Place a copy of another mechanism in this one, any number of times; names begin with "prefix/".

        position, rotation: pose of the other's ground frame, in this world or, with attach_to, in that body's
            frame.
        attach_to: a body (or its name) that takes the place of the other's ground: an arm bolted to a cart.
        parameters: new values for some of the other's parameters, or expressions of this one's. Its
            parameters become parameters of this one, called "prefix_name", except for those that an
            expression replaces.
        The other's gravity is ignored, and wrenches in world axes keep their direction.
        Raises MechanismError if a name is taken or the body does not exist; nothing is added then.

        >>> cell = bc.Mechanism("cell")
        >>> left = cell.place(pendulum, "left")
        >>> right = cell.place(pendulum, "right", position=(0, 0, 1), parameters={"length": 2.0})
        >>> list(cell.joints), list(cell.parameters)
        (['left/hinge', 'right/hinge'], ['left_length', 'right_length'])
        >>> bc.info(cell).freedom
        2
        """
        return place(
            self, other, prefix, position, rotation, attach_to, {} if parameters is None else parameters
        )

    def remove(self, element: Body | Beam | Element | Marker, cascade: bool = False) -> None:
        """Remove an element (or a named marker).

        A body or joint that others refer to is refused, naming them, unless cascade=True removes them as
        well.

        >>> four_bar.remove(four_bar.drives["motor"])
        >>> bc.info(four_bar).freedom
        1
        >>> four_bar.remove(four_bar.bodies["rocker"], cascade=True)
        >>> list(four_bar.joints)
        ['motor', 'pin 1']
        """
        remove_element(self, element, cascade)

    def replace(self, element: E, **changes: Any) -> E:
        """Replace an element by a changed copy and return the copy; references follow a new name.

        >>> heavy = slider_crank.replace(slider_crank.bodies["piston"], mass=4.0)
        >>> bc.info(slider_crank).mass    # kg, with the crank of 1 kg
        5.0
        """
        return replace_element(self, element, changes)  # type: ignore[no-any-return]

    def draw(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        state: views.Poses | None = None,
        axes: Any = None,
        **options: Any,
    ) -> Figure:
        """Draw the mechanism: shapes, joints with their axes, springs and strings, the ground.

        Bodies without shapes are drawn as links, plates and rods between their attachment points. Joints
        with a drive or motor are orange. Needs matplotlib (extra `plot`).

        path: file to write the picture into (PNG, PDF or SVG). state: by default the assembled start; a
            mechanism that cannot be assembled is drawn as described. axes: of matplotlib, to draw into.
        view: "front", "back", "left", "right", "top", "bottom" or "oblique"; two angles in degrees, about the
            vertical from the front and above the horizon; or the direction (3,) from which one looks. By
                default plane mechanisms are seen straight on, others from where they appear largest.
        only: names of the bodies to draw. color: of all bodies; opacity: a factor.
        joints, scale, names: whether to draw glyphs of joints, the scale bar (both by default), and names.
        box: lowest and highest corner of the space to show, (2, 3), m. size: of the figure, inches.
        follow: name of a body; a film moves with it, and pictures of runs are as large as what moves at their
            last instant. dpi: pixels of what is painted to an inch.

        The figure's axes are lengths in the picture, m. Raises MechanismError for wrong options, Unsupported
        without matplotlib.

        >>> figure = four_bar.draw("four-bar.png", view="front", names=True)
        >>> low, high = figure.axes[0].get_xlim()
        >>> print(0.4 < high - low < 2.0)    # the axes are in metres, and the ground link is 0.4 m long
        True
        """
        return views.draw(self, path, state, axes, options)

    def view(
        self, *, host: str = "localhost", port: int = 8080, token: str | None = None, **arguments: Any
    ) -> views.Page:
        """Open a page that shows the mechanism live, in real time, to drag and control (extra `viewer`).

        host, port: where it can be reached; other machines need a token, which is generated if none is given
            and is a part of `Page.url`. arguments: of `bc.simulate`.

        The page is served by threads of its own until it is closed: `page.wait()` waits for that. In a
        notebook it appears in the output. Raises the errors of `bc.start`, and Unsupported where the page was
        not built.

        >>> page = pendulum.view(port=0)
        >>> page.url.startswith("http://localhost:")
        True
        >>> page.close()
        """
        return views.view(self, arguments, host, port, token)

    def _repr_html_(self) -> str:
        return views.html(self)


def _enter(table: dict[str, Any], category: str, element: Any) -> None:
    _refuse_taken(table, category, [element.name])
    table[element.name] = element


def _refuse_taken(table: Mapping[str, object], category: str, names: list[str]) -> None:
    if taken := [name for name in names if name in table]:
        raise MechanismError(
            [Fault(f"{category} {name!r}", "this name is taken", advice="choose another") for name in taken]
        )
