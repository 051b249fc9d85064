"""A mechanism as the plain data of its file: no defaults, and short forms where they are equivalent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

from bellcrank.errors import Fault, MechanismError
from bellcrank.io.custom import encoded_kind
from bellcrank.io.decode import whole_path, written_expression
from bellcrank.io.fields import (
    BODY_FIELDS,
    MARKER_KEYS,
    SECTIONS,
    VERSION,
    Simulation,
    Wanted,
    parameters,
    wanted,
)
from bellcrank.mechanism import (
    GROUND,
    Beam,
    Body,
    Drive,
    Joint,
    JointCoordinate,
    Marker,
    Mechanism,
    Parameter,
    PathDrive,
)
from bellcrank.mechanism.attachment import Attached
from bellcrank.mechanism.beam_parts import changes_of_nodes
from bellcrank.mechanism.checking import UNIT_TOLERANCE, required
from bellcrank.mechanism.contact import Contact
from bellcrank.mechanism.contents import required_mechanism
from bellcrank.mechanism.formulas import Formulas
from bellcrank.mechanism.functions.function import Constant, FunctionOfTime
from bellcrank.mechanism.joint import STARTS
from bellcrank.mechanism.parameters import holds_expressions, inputs_of, is_expression
from bellcrank.mechanism.rotation import orientation

if TYPE_CHECKING:
    from bellcrank._core import Expression

_AXIS_DIGITS = (3, 12, 15, 16)


def encoded(
    mechanism: Mechanism, simulation: Simulation | None = None, folder: Path | None = None
) -> dict[str, Any]:
    """The data of a mechanism's file; paths are made relative to the folder, if one is given."""
    required_mechanism("mechanism", mechanism)
    if simulation is not None:
        required("simulation", simulation, Simulation)
    encoder = _Encoder(mechanism, folder)
    data: dict[str, Any] = {"bellcrank": VERSION, "name": mechanism.name}
    if mechanism.parameters:
        data["parameters"] = {name: encoder.parameter(p) for name, p in mechanism.parameters.items()}
    if inputs := inputs_of(mechanism):
        data["inputs"] = {name: encoder.input(one) for name, one in inputs.items()}
    data["gravity"] = encoder.value(mechanism.gravity)
    if mechanism.ground.shapes:
        data["ground"] = encoder.fields(mechanism.ground)
    tables: dict[str, tuple[Mapping[str, Any], Callable[[Any], dict[str, Any]]]] = {
        "bodies": (mechanism.bodies, encoder.body),
        "markers": (mechanism.markers, encoder.marker),
        "beams": (mechanism.beams, encoder.beam),
        "joints": (mechanism.joints, encoder.joint),
        "constraints": (mechanism.constraints, encoder.attached),
        "forces": (mechanism.forces, encoder.attached),
        "drives": (mechanism.drives, encoder.drive),
        "sensors": (mechanism.sensors, encoder.attached),
        "changes": (mechanism.changes, encoder.attached),
    }
    assert set(tables) == set(SECTIONS) - {"mechanisms", "members", "parameters", "inputs"}
    nodes = changes_of_nodes(mechanism)
    pieces = {name for beam in mechanism.beams.values() for name in beam.pieces}
    for section, (table, encode) in tables.items():
        left_out = {"bodies": nodes, "forces": pieces}.get(section, ())
        found = {name: encode(element) for name, element in table.items() if name not in left_out}
        if section == "bodies":
            found |= {name: encoder.node(changed) for name, changed in nodes.items() if changed}
        if found:
            data[section] = found
    if simulation is not None and (given := encoder.fields(simulation)):
        data["simulation"] = given
    return data


@dataclass(frozen=True)
class _Encoder:
    mechanism: Mechanism
    folder: Path | None

    def value(self, value: Any, want: Wanted | None = None) -> Any:
        """Plain data of a value, for a field of the type `want`."""
        if isinstance(value, Marker):
            return self.reference(value)
        if isinstance(value, JointCoordinate):
            return self.joint_reference(value)
        if isinstance(value, (tuple, list)):
            return [self.value(item, want.items if want else None) for item in value]
        if isinstance(value, Mapping):
            return {str(key): self.value(item) for key, item in value.items()}
        if is_expression(value) or isinstance(value, FunctionOfTime):
            return written_expression(getattr(value, "expression", value))
        if not hasattr(value, "__dataclass_fields__"):
            return value
        alone = want is not None and len(want.named) == 1
        return self.fields(value) if alone else {"type": type(value).__name__, **self.fields(value)}

    def fields(self, value: Any, *without: str) -> dict[str, Any]:
        """The fields of an object, except those in `without` and those that its constructor sets alike."""
        cls: type = type(value)
        found: dict[str, Any] = {}
        for name, parameter in parameters(cls).items():
            given = getattr(value, name)
            if name in without or (
                not parameter.required and _filled_in(value, name, given, parameter.default)
            ):
                continue
            if name == "file" and self.folder is not None:
                given = self.path(given)
            elif isinstance(given, Constant) and replace(value, **{name: given.value}) == value:
                given = given.value  # a number in its place becomes the same function
            free = get_origin(parameter.hint) is Mapping  # of the options of a simulation
            found[name] = self.value(given, None if free else wanted(parameter.hint))
        return found

    def parameter(self, parameter: Parameter) -> Any:
        """A parameter: its value alone, if nothing else is set."""
        found = self.fields(parameter, "name", "symbol")
        return parameter.value if list(found) == ["value"] else found

    def input(self, one: Expression) -> Any:
        """An input: its value alone, if it has no unit."""
        return {"value": one.value, "unit": one.unit} if one.unit else one.value

    def path(self, file: str) -> str:
        """A path as written in the file: relative if it lies beside or below the file, else absolute."""
        assert self.folder is not None
        whole, folder = whole_path(Path(), file), self.folder.absolute()
        return Path(whole).relative_to(folder).as_posix() if Path(whole).is_relative_to(folder) else whole

    def body(self, body: Body) -> dict[str, Any]:
        """A body, with three principal moments if they define the whole inertia, and without stand-ins."""
        if not body.mass_known:
            return self.fields(body, "name", "mass", "inertia", "com")
        found = self.fields(body, "name")
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
        if (xy, xz, yz) == (0.0, 0.0, 0.0):
            found["inertia"] = self.value([xx, yy, zz])
        return found

    def node(self, changed: Mapping[str, Any]) -> dict[str, Any]:
        """What was changed of a node of a beam."""
        return {name: self.value(value, wanted(BODY_FIELDS[name].hint)) for name, value in changed.items()}

    def beam(self, beam: Beam) -> dict[str, Any]:
        """A beam with the places of its ends; the joints there are joints like others."""
        return self.fields(beam, "name")

    def marker(self, marker: Marker) -> dict[str, Any]:
        """A marker in the section `markers`, whose key contains body and name."""
        return self.turned(marker, self.fields(marker, "name", "body"))

    def turned(self, marker: Marker, found: dict[str, Any]) -> dict[str, Any]:
        """The fields with the z axis instead of the rotation, if the axis alone gives the same rotation."""
        if "rotation" in found and not holds_expressions(marker.rotation):
            for digits in _AXIS_DIGITS:
                axis = [round(component, digits) + 0.0 for component in marker.z_axis]
                unit = abs(sum(component * component for component in axis) - 1.0) < UNIT_TOLERANCE
                if unit and orientation("", axis=axis) == marker.rotation:
                    del found["rotation"]
                    return {**found, "axis": axis}
        return found

    def reference(self, marker: Marker) -> Any:
        """A reference to a marker: by name, as a body's frame, or written out."""
        key = marker.key
        if key is not None and self.mechanism.markers.get(key) == marker:
            if key not in self.mechanism.bodies and not self.is_joint(key):
                return key
            return self.turned(marker, self.fields(marker))
        if marker == Marker(marker.body) and not self.is_joint(marker.body):
            return marker.body
        return self.turned(marker, self.fields(marker))

    def is_joint(self, name: str) -> bool:
        """Whether a name could refer to a joint or to a joint's coordinate."""
        return name in self.mechanism.joints or name.rpartition(".")[0] in self.mechanism.joints

    def joint_reference(self, reference: JointCoordinate) -> Any:
        """A reference to a joint: its name if it has one coordinate, "joint.coordinate", or written out."""
        named = str(self.shortened(reference))
        markers = (*self.mechanism.markers, *self.mechanism.bodies, GROUND)
        other = (
            named in self.mechanism.joints and reference.coordinate is not None and named != reference.joint
        )
        if named in markers or other or isinstance(reference.coordinate, int):
            return self.fields(reference)
        return named

    def shortened(self, reference: JointCoordinate) -> JointCoordinate:
        """The reference without the coordinate, if it is the joint's only one."""
        joint = self.mechanism.joints.get(reference.joint)
        only = joint is not None and joint.kind.free == (reference.coordinate,)
        return JointCoordinate(reference.joint) if only else reference

    def kind(self, kind: Any) -> dict[str, Any]:
        """Type and fields of a joint, constraint or force."""
        if not isinstance(kind, Formulas):
            return {"type": kind.name, **self.fields(kind)}
        own = [end.name for end in getattr(kind, "ends", ())] or [symbol.name for symbol in kind.own_symbols]
        known = {**inputs_of(self.mechanism), **self.mechanism.parameters}
        if taken := sorted(set(own) & set(known)):
            what = "a parameter" if taken[0] in self.mechanism.parameters else "an input"
            rule = f"a symbol of its own is called as {what} is, which a file cannot hold"
            raise MechanismError(Fault(type(kind).__name__, rule, taken[0], "give one of them another name"))
        return encoded_kind(kind)

    def joint(self, joint: Joint) -> dict[str, Any]:
        """A joint: its kind, its markers, its limits and its initial values."""
        found = self.kind(joint.kind)
        found |= {key: self.reference(getattr(joint, name)) for key, name in MARKER_KEYS.items()}
        if joint.limits:
            found["limits"] = self.limits(joint)
        for key in STARTS:
            if values := self.value(dict(getattr(joint, key))):
                only = joint.kind.free == tuple(values)
                found[key] = next(iter(values.values())) if only and len(values) == 1 else values
        return found

    def limits(self, joint: Joint) -> Any:
        """A single limit if there is one coordinate only, else a mapping from coordinates."""
        found = {name: self.fields(limit) for name, limit in joint.limits}
        only = len(found) == 1 and joint.kind.free == tuple(found)
        return found[joint.kind.free[0]] if only else found

    def attached(self, element: Attached) -> dict[str, Any]:
        """A constraint or force: its kind and its ends."""
        found = self.kind(element.kind)
        if len(element.ends) == 1 and isinstance(only := element.ends[0], JointCoordinate):
            return {**found, **self.fields(self.shortened(only))}
        return {**found, "ends": self.ends(element)} if element.ends else found

    def ends(self, element: Attached) -> list[Any]:
        """The ends of a constraint or force; a contact with all nodes of a beam names the beam."""
        found, left = [], list(element.ends)
        beams = self.mechanism.beams.values() if isinstance(element.kind, Contact) else ()
        whole = {beam.nodes[0]: beam for beam in beams if beam.name not in self.mechanism.bodies}
        while left:
            beam = whole.get(left[0].body) if isinstance(left[0], Marker) else None
            if beam is not None and left[: len(beam.nodes)] == [Marker(node) for node in beam.nodes]:
                found.append(beam.name)
                del left[: len(beam.nodes)]
            else:
                found.append(self.value(left.pop(0)))
        return found

    def drive(self, drive: Drive | PathDrive) -> dict[str, Any]:
        """A drive of a joint coordinate or of a marker."""
        if isinstance(drive, PathDrive):
            return self.fields(drive, "name")
        return {**self.fields(self.shortened(drive.coordinate)), **self.fields(drive, "name", "coordinate")}


def _filled_in(owner: Any, name: str, given: Any, default: Any) -> bool:
    """Whether a field can be left out: it has its default, or the constructor's value for None."""
    if type(given) is type(default) and given == default and repr(given) == repr(default):  # not so -0.0
        return True
    return default is None and given is not None and _without(owner, name) == owner


def _without(owner: Any, name: str) -> Any:
    try:
        return replace(owner, **{name: None})
    except MechanismError:
        return None
