"""The fields of the description classes, read from the classes themselves: the one source of the file format.

A new joint kind, force, constraint, function or shape is part of the format once it is in its registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from bellcrank.errors import MechanismError
from bellcrank.mechanism import (
    CHANGE_KINDS,
    CONSTRAINT_KINDS,
    FORCE_KINDS,
    FRICTION_LOAD_KINDS,
    FUNCTIONS,
    JOINT_KINDS,
    SECTION_KINDS,
    SENSOR_KINDS,
    SHAPES,
    Beam,
    Body,
    ChangeKind,
    ConstraintKind,
    Drive,
    ForceKind,
    Function,
    JointCoordinate,
    JointKind,
    LoadKind,
    Marker,
    PathDrive,
    Section,
    SensorKind,
    Shape,
)
from bellcrank.mechanism import Parameter as ParameterOfMechanism
from bellcrank.mechanism.checking import Check, Mat3, Quat, Vec3
from bellcrank.mechanism.contents import TABLES, Contents
from bellcrank.mechanism.cylinders import Telescopic
from bellcrank.mechanism.fields import Description, checked, declarations, described, flag, quantity, whole

REGISTRIES: dict[type, Mapping[str, type]] = {
    JointKind: JOINT_KINDS,
    ConstraintKind: CONSTRAINT_KINDS,
    ForceKind: FORCE_KINDS,
    SensorKind: SENSOR_KINDS,
    ChangeKind: CHANGE_KINDS,
    Function: FUNCTIONS,
    Shape: SHAPES,
    LoadKind: FRICTION_LOAD_KINDS,
    Section: SECTION_KINDS,
}
"""The families of classes that stand in files as mappings with a key `type`."""

NOUNS: dict[type, str] = {
    JointKind: "joint",
    ConstraintKind: "constraint",
    ForceKind: "force",
    SensorKind: "sensor",
    ChangeKind: "change",
    Function: "function",
    Shape: "shape",
    LoadKind: "load",
    Section: "section",
}

ANY_FUNCTION: Any = Function | float | tuple[Function | float, ...] | None
"""What a field annotated with Any takes: these are functions, or numbers, of time."""


@dataclass(frozen=True)
class Parameter:
    """One field of a class: its name, type hint, whether it is required, its default.

    units: the units that it accepts; empty for any.
    """

    name: str
    hint: Any
    required: bool = False
    default: Any = None
    units: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """Its units in words; empty for plain numbers."""
        return " or ".join(unit for unit in self.units if unit != "1")


def meaning_of(cls: type) -> str:
    """A class in one line."""
    return getattr(cls, "meaning", "") or (cls.__doc__ or "").strip().split("\n")[0]


@cache
def parameters(cls: type) -> dict[str, Parameter]:
    """The fields that the constructor of a dataclass takes, by name; required ones first."""
    hints, declared = get_type_hints(cls), declarations(cls)
    found = []
    for one in fields(cls):
        if one.init:
            hint = ANY_FUNCTION if hints[one.name] is Any else hints[one.name]
            required = one.default is MISSING and one.default_factory is MISSING
            default = one.default_factory() if one.default_factory is not MISSING else one.default
            units = declared[one.name].units if one.name in declared else ()
            found.append(Parameter(one.name, hint, required, default, units))
    return {parameter.name: parameter for parameter in sorted(found, key=lambda p: not p.required)}


def choices(base: type) -> Mapping[str, type]:
    """The classes that are valid for `base`, by the name that a file gives as `type`."""
    return REGISTRIES.get(base, {base.__name__: base})


@dataclass(frozen=True)
class Wanted:
    """The values allowed for a field: kinds of scalars, classes, and the items of a list (None: no list)."""

    number: bool = False
    text: bool = False
    flag: bool = False
    rotation: bool = False
    classes: tuple[type, ...] = ()
    items: Wanted | None = None

    def __or__(self, other: Wanted) -> Wanted:
        items = self.items or other.items
        return Wanted(
            self.number or other.number,
            self.text or other.text,
            self.flag or other.flag,
            self.rotation or other.rotation,
            (*self.classes, *(cls for cls in other.classes if cls not in self.classes)),
            self.items | other.items if self.items and other.items else items,
        )

    @property
    def named(self) -> dict[str, type]:
        """All classes allowed for this field, by name."""
        return {name: cls for base in self.classes for name, cls in choices(base).items()}


@cache
def wanted(hint: Any) -> Wanted:
    """The values that a type hint allows. Raises TypeError for a hint that no file can satisfy."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        result = Wanted()
        for part in inner:
            result |= wanted(part)
        return result
    if origin is tuple:
        items = Wanted()
        for part in inner:
            if part is not Ellipsis:
                items |= wanted(part)
        return Wanted(rotation=hint == Quat, items=items)
    if hint is Function:
        return Wanted(number=True, classes=(Function,))  # a number becomes a constant function
    if hint in (float, int):
        return Wanted(number=True)
    if hint is str:
        return Wanted(text=True)
    if hint is bool:
        return Wanted(flag=True)
    if hint is NoneType:
        return Wanted()
    if isinstance(hint, type) and (hint in REGISTRIES or hasattr(hint, "__dataclass_fields__")):
        return Wanted(classes=(hint,))
    raise TypeError(f"no mechanism file can hold a {hint!r}")


VERSION: Final = 1
"""The version of the file format: the value of the key `bellcrank`."""

SECTIONS: Final = {
    "parameters": "parameter", "inputs": "input", **TABLES, "mechanisms": "placement", "members": "member"
}  # fmt: skip
"""The sections that hold things by name, with the noun for one of them."""

TOP_KEYS: Final = ("bellcrank", "name", "gravity", "ground", *SECTIONS, "simulation")

GRAVITY_UNITS: Final = ("m/s^2",)

ENDS: Final = ("ends", "joint", "coordinate")
"""The keys by which constraints and forces take hold of something."""

MARKER_KEYS: Final = {"first": "marker_1", "second": "marker_2"}
"""What files call the markers of a joint."""

BODY_FIELDS: Final = {
    name: replace(parameter, required=False) for name, parameter in parameters(Body).items() if name != "name"
}
BODY_FIELDS["inertia"] = replace(BODY_FIELDS["inertia"], hint=Vec3 | Mat3)  # principal moments are enough
BEAM_ENDS: Final = ("start", "end")
BEAM_FIELDS: Final = {name: parameter for name, parameter in parameters(Beam).items() if name != "name"}
for _end in BEAM_ENDS:  # what the end is joined to may be given instead of its place, and the joint there
    BEAM_FIELDS[_end] = replace(BEAM_FIELDS[_end], hint=Vec3 | Marker)
    BEAM_FIELDS[f"{_end}_joint"] = Parameter(f"{_end}_joint", JointKind | None)
DRIVE_FIELDS: Final = {
    "joint": Parameter("joint", JointCoordinate),
    **{
        name: replace(parameter, required=False)
        for name, parameter in {**parameters(PathDrive), **parameters(Drive)}.items()
        if name != "name"
    },
    "coordinate": parameters(JointCoordinate)["coordinate"],
}
PARAMETER_FIELDS: Final = {
    name: parameter
    for name, parameter in parameters(ParameterOfMechanism).items()
    if name not in ("name", "symbol")
}
INPUT_FIELDS: Final = {"value": Parameter("value", float, default=0.0), "unit": PARAMETER_FIELDS["unit"]}
SOURCES: Final = ("file", "mechanism")
"""The keys that say what is placed: the name of another file, or a mechanism written out."""

PLACEMENT_FIELDS: Final = {
    "prefix": Parameter("prefix", str),
    "position": Parameter("position", Vec3, units=("m",)),
    "rotation": Parameter("rotation", Quat, units=("1",)),
    "attach_to": Parameter("attach_to", str),
}
ROD: Final = "Rod"
MEMBERS: Final[dict[str, type]] = {
    ROD: Body,
    **{name: cls for name, cls in FORCE_KINDS.items() if issubclass(cls, Telescopic)},
}
"""What stands between two points of the world with its own bodies, by the type that files give."""
_LENGTH: Final = partial(Parameter, hint=float, required=True, units=("m",))
MEMBER_FIELDS: Final = {
    "start": Parameter("start", Vec3, required=True, units=("m",)),
    "end": Parameter("end", Vec3, required=True, units=("m",)),
    "density": Parameter("density", float, units=("kg/m^3",)),
    "axis": Parameter("axis", Vec3 | str, units=("1",)),
}
"""The keys of all members, beside `between`."""


def size_fields(cls: type) -> dict[str, Parameter]:
    """The keys of a member of a type in MEMBERS that are neither fields of its kind nor common to all."""
    names = ["radius"] if cls is Body else [n for n in ("bore", "rod") if n not in parameters(cls)]
    return {name: _LENGTH(name) for name in names}


def _name(check: Check, name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        check.fault(f"{name} must be a name", value)
    return str(value)


@described
class Simulation(Description):
    """Arguments for `bellcrank.simulate`; None leaves the choice to it.

    start, duration, step, output_step, max_step: s.
    formulation, method: by name.
    tolerance, rtol, atol: of the integrator.
    max_error, measure, max_loss, max_joints: of an adaptive run; max_loss in W.
    reactions, accelerations: whether to record them.
    ledger: whether to record the work of every force and drive.
    assemble: whether to correct the initial configuration.
    options: further arguments by name, for the formulation or the method.

    >>> plan = bc.Simulation(duration=1.0, method="rk4", step=1e-3)
    >>> print(bc.simulate(block, **plan.arguments()).joint("guide").position[-1].round(4))    # m: -g t^2 / 2
    [-4.905]
    """

    start: float | None = quantity("s", default=None)
    duration: float | None = quantity("s", "positive", default=None)
    formulation: str | None = checked(_name, default=None)
    method: str | None = checked(_name, default=None)
    step: float | None = quantity("s", "positive", default=None)
    output_step: float | None = quantity("s", "positive", default=None)
    max_step: float | None = quantity("s", "positive", default=None)
    tolerance: float | None = quantity(sign="positive", default=None)
    rtol: float | None = quantity(sign="positive", default=None)
    atol: float | None = quantity(sign="positive", default=None)
    max_error: float | None = quantity(sign="not negative", default=None)
    measure: str | None = checked(_name, default=None)
    max_loss: float | None = quantity("W", "not negative", default=None)
    max_joints: int | None = whole(1, default=None)
    reactions: bool | None = flag(default=None)
    accelerations: bool | None = flag(default=None)
    ledger: bool | None = flag(default=None)
    assemble: bool | None = flag(default=None)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.start, Contents):
            advice = "bc.simulate(mech, duration), or bc.start(mech, duration) to advance it in parts"
            raise MechanismError.of("Simulation", "it is what a file says of a run", self.start, advice)
        super().__post_init__()

    def _element(self) -> str:
        return "simulation"

    def _judge(self, check: Check) -> None:
        if known := sorted(set(self.options) & {f.name for f in fields(self)}):
            check.fault(f"{known[0]} does not belong among the options", None, "put it beside them")
        self._store(options=dict(self.options))

    def arguments(self) -> dict[str, Any]:
        """The arguments that are set, including options, in the form that `simulate` takes.

        >>> bc.Simulation(duration=1.0, tolerance=1e-8).arguments()
        {'duration': 1.0, 'tolerance': 1e-08}
        """
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return {**given.pop("options"), **given}
