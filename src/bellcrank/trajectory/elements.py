"""The results of a run for each element, by name."""

from __future__ import annotations

from bellcrank.trajectory.contact_log import ContactHistory
from bellcrank.trajectory.efforts import EffortHistory, unknown
from bellcrank.trajectory.forces import ForceHistory
from bellcrank.trajectory.histories import BodyHistory, InputHistory, JointHistory
from bellcrank.trajectory.layout import FrameLayout, MultiplierKind
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.store import Store


class Elements:
    """Bodies, joints, forces and the rest in a run."""

    layout: FrameLayout
    store: Store
    origin: Origin

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies."""
        return self.layout.bodies

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.layout.joints

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of the drives, and of motors with a rotor's inertia."""
        return self._elements("drive", "motor")

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints: gears, belts, cables and other couplings."""
        return self._elements("constraint")

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the forces: springs, motors, friction, applied wrenches and others."""
        return self.layout.forces

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return tuple(column.name for column in self.layout.inputs)

    @property
    def limits(self) -> tuple[str, ...]:
        """Names of the joints with limits."""
        return self._elements("limit")

    def body(self, name: str) -> BodyHistory:
        """The motion of a body. Raises MechanismError with close matches for an unknown name."""
        number = self.layout.body_number.get(name) if isinstance(name, str) else None
        if number is None:
            raise unknown("body", name, self.bodies)
        return BodyHistory(name, number, self.layout, self.store)

    def joint(self, name: str) -> JointHistory:
        """Motion and reaction of a joint. Raises MechanismError with close matches for an unknown name."""
        if not isinstance(name, str) or name not in self.layout.joints:
            raise unknown("joint", name, self.joints)
        return JointHistory(name, self.layout, self.store)

    def drive(self, name: str) -> EffortHistory:
        """The effort of a drive. Raises MechanismError with close matches for an unknown name."""
        return self._effort("drive", name, self.drives, "drive", "motor")

    def constraint(self, name: str) -> EffortHistory:
        """The effort of a gear, a belt, a cable or another coupling, as its kind defines it.

        It is the force at the teeth or the rim if radii are given, the tension of a cable, or else the torque
        or force on the first coordinate that it couples, divided by that coordinate's coefficient.
        Raises MechanismError with close matches for an unknown name.
        """
        return self._effort("constraint", name, self.constraints, "constraint")

    def limit(self, name: str) -> EffortHistory:
        """The efforts of a joint's limits. Raises MechanismError with close matches for an unknown name."""
        return self._effort("joint with limits", name, self.limits, "limit")

    def force(self, name: str) -> ForceHistory:
        """The efforts of a force. Raises MechanismError with close matches for an unknown name."""
        if not isinstance(name, str) or name not in self.forces:
            raise unknown("force", name, self.forces)
        return ForceHistory(name, self.layout, self.store, self.origin)

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the contacts, which are forces as well."""
        return self.layout.contacts

    def contact(self, name: str) -> ContactHistory:
        """The points of a contact. Raises MechanismError with close matches for an unknown name."""
        if not isinstance(name, str) or name not in self.contacts:
            raise unknown("contact", name, self.contacts)
        return ContactHistory(name, self.layout, self.store)

    def input(self, name: str) -> InputHistory:
        """The values of an input over time. Raises MechanismError with close matches for an unknown name."""
        if name not in self.inputs:
            raise unknown("input", name, self.inputs)
        number = self.inputs.index(name)
        return InputHistory(name, number, self.layout.inputs[number].unit, self.store)

    def _elements(self, *kinds: MultiplierKind) -> tuple[str, ...]:
        return tuple(dict.fromkeys(c.element for c in self.layout.multipliers if c.kind in kinds))

    def _effort(self, noun: str, name: str, known: tuple[str, ...], *kinds: MultiplierKind) -> EffortHistory:
        numbers = self.layout.multiplier_numbers(name, *kinds) if isinstance(name, str) else ()
        if not numbers:
            raise unknown(noun, name, known)
        return EffortHistory.of(name, numbers, self.layout, self.store)
