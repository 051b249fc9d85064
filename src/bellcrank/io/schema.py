"""The JSON Schema of mechanism files for editors, generated from the description classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

from bellcrank.io.decode import AXES
from bellcrank.io.fields import (
    BEAM_FIELDS,
    BODY_FIELDS,
    DRIVE_FIELDS,
    INPUT_FIELDS,
    MEMBER_FIELDS,
    MEMBERS,
    NOUNS,
    PARAMETER_FIELDS,
    PLACEMENT_FIELDS,
    REGISTRIES,
    ROD,
    SECTIONS,
    VERSION,
    Parameter,
    Simulation,
    meaning_of,
    parameters,
    size_fields,
    wanted,
)
from bellcrank.io.references import MARKER_FIELDS, MEETING_FIELDS
from bellcrank.mechanism import (
    ChangeKind,
    ConstraintKind,
    ForceKind,
    Function,
    Ground,
    Joint,
    JointCoordinate,
    JointKind,
    Limit,
    Marker,
    SensorKind,
)
from bellcrank.mechanism.attachment import AttachedKind
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.formulas import CUSTOM_KINDS
from bellcrank.mechanism.joint import STARTS

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_QUANTITY: Schema = {
    "description": "a number in SI units, a text with a unit such as '30 deg', or an expression",
    "anyOf": [{"type": "number"}, {"type": "string"}],
}


def schema() -> Schema:
    """The JSON Schema (draft 2020-12) of mechanism files, YAML or JSON.

    It covers keys and types. Ranges of numbers and the validity of references are only checked by loading.
    """
    definitions: Schema = {
        "quantity": _QUANTITY,
        "rotation": _rotation(),
        "formula": FORMULA,
        "factor of a pose": FACTOR,
        "marker": {"anyOf": [_TEXT, _marker("body")]},
        "joint coordinate": _joint_coordinate(),
        "end": {"anyOf": [_TEXT, _marker("body"), _object(parameters(JointCoordinate))]},
        "body": _object(BODY_FIELDS),
        "beam": _object(BEAM_FIELDS),
        "drive": _object(DRIVE_FIELDS),
        "parameter": {"anyOf": [_reference("quantity"), _object(PARAMETER_FIELDS)]},
        "input": {"anyOf": [_reference("quantity"), _object(INPUT_FIELDS)]},
        "placement": _placement(),
        "member": {"anyOf": [_member(name, cls) for name, cls in MEMBERS.items()]},
        "limit": _object(parameters(Limit)),
        "mechanism": _mechanism(),
    }
    for base, registry in REGISTRIES.items():
        noun = NOUNS[base]
        custom = {name: cls for name, cls in CUSTOM_KINDS.items() if issubclass(cls, base)}
        family: dict[str, type] = {**registry, **custom}
        definitions[noun] = {"anyOf": [_reference(f"{noun} {name}") for name in family]}
        definitions |= {f"{noun} {name}": _kind(base, name, cls) for name, cls in family.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"bellcrank mechanism file, version {VERSION}",
        "$ref": "#/$defs/mechanism",
        "required": ["bellcrank"],
        "$defs": definitions,
    }


def _reference(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name.replace(' ', '%20')}"}


def _closed(properties: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    needed = list(required)
    return {
        "type": "object",
        "properties": dict(properties),
        **({"required": needed} if needed else {}),
        "additionalProperties": False,
    }


def _named(content: Schema) -> Schema:
    return {"type": ["object", "null"], "additionalProperties": content}


def _mechanism() -> Schema:
    sections = {section: _named(_reference(noun)) for section, noun in SECTIONS.items()}
    sections["markers"] = {  # a name such as "body.name" contains the body
        **_named(_marker("body")),
        "patternProperties": {r"\.": _marker()},
    }
    options = {"options": {"type": "object"}}
    simulation = {name: p for name, p in parameters(Simulation).items() if name not in options}
    return _closed(
        {
            "bellcrank": {"const": VERSION, "description": "version of the format"},
            "name": _TEXT,
            "gravity": _of(Vec3),
            "ground": _object(parameters(Ground)),
            **sections,
            "simulation": _object(simulation, options),
        }
    )


def _object(known: Mapping[str, Parameter], others: Mapping[str, Schema] | None = None) -> Schema:
    """A mapping with the given fields, and others that are described already."""
    properties = {name: _field(parameter) for name, parameter in known.items()}
    return _closed(
        {**(others or {}), **properties}, [name for name, parameter in known.items() if parameter.required]
    )


def _field(parameter: Parameter) -> Schema:
    found = _of(parameter.hint)
    return {"description": f"in {parameter.unit}", **found} if parameter.unit else found


def _kind(base: type, name: str, cls: type) -> Schema:
    """A member of a family, selected by its type, with the additional keys of its elements."""
    others: dict[str, Schema] = {"type": {"const": name}}
    required = ["type"]
    if base is JointKind:
        limits = {
            "anyOf": [_reference("limit"), {"type": "object", "additionalProperties": _reference("limit")}]
        }
        others |= {"first": _reference("marker"), "second": _reference("marker"), "limits": limits}
        others |= {"bodies": {"type": "array", "items": _TEXT, "minItems": 2}}
        others |= {key: _field(parameter) for key, parameter in MEETING_FIELDS.items()}
        others |= {key: _start(key) for key in STARTS if key not in parameters(cls)}
    if base in (ConstraintKind, ForceKind, SensorKind, ChangeKind):
        ends = _reference("end")
        others["ends"] = {"anyOf": [ends, {"type": "array", "items": ends}]}
        others |= {
            "joint": _reference("joint coordinate"),
            "coordinate": {"type": ["string", "integer", "null"]},
        }
    found = _formulas(cls, others) if name in CUSTOM_KINDS else _object(parameters(cls), others)
    found["required"] = [*required, *found.get("required", [])]
    if base is JointKind:
        found["anyOf"] = [{"required": ["first", "second"]}, {"required": ["bodies", "at"]}]
    if issubclass(cls, AttachedKind) and not re.fullmatch(cls.pattern, ""):
        found["anyOf"] = [{"required": ["ends"]}, {"required": ["joint"]}]
    return {"description": meaning_of(cls), **found}


def _formulas(cls: type, others: Mapping[str, Schema]) -> Schema:
    """The keys of a kind given by formulas; its ends are symbols named by `names`."""
    known = {name: p for name, p in parameters(cls).items() if name != "values"}
    properties = {
        name: FORMULA_KEYS[name] if name in FORMULA_KEYS else _field(parameter)
        for name, parameter in known.items()
        if name != "ends"
    }
    if "ends" in known:
        properties["names"] = NAMES
    return _closed(
        {**others, **properties}, [n for n, parameter in known.items() if parameter.required and n != "ends"]
    )


def _start(key: str) -> Schema:
    """The initial values of a joint: a number, a list, or a mapping from coordinates."""
    quantity = _reference("quantity")
    lists: Schema = {"type": "array", "items": quantity}
    named: Schema = {"type": "object", "additionalProperties": quantity}
    unit = parameters(Joint)[key].unit
    return {"description": f"initial {key}, in {unit}", "anyOf": [quantity, lists, named]}


def _rotation() -> Schema:
    quaternion = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
    axes = {name: _of(Vec3 | str) for name in AXES}
    angles = {"type": "array", "items": _reference("quantity"), "minItems": 3, "maxItems": 3}
    return {
        "description": "a unit quaternion (w, x, y, z), an axis and an angle, rpy, or one or two axes",
        "anyOf": [quaternion, _closed({**axes, "angle": _reference("quantity"), "rpy": angles})],
    }


def _marker(*required: str) -> Schema:
    found = _object(MARKER_FIELDS, {"body": _TEXT})
    return {**found, "required": list(required)} if required else found


def _joint_coordinate() -> Schema:
    written = _closed({"joint": _TEXT, "coordinate": {"type": ["string", "integer", "null"]}}, ["joint"])
    return {"anyOf": [_TEXT, written]}


def _placement() -> Schema:
    sources = {"file": _TEXT, "mechanism": _reference("mechanism")}
    numbers = {"type": "object", "additionalProperties": _reference("quantity")}
    found = _object(PLACEMENT_FIELDS, {**sources, "parameters": numbers})
    return {**found, "anyOf": [{"required": [source]} for source in sources]}


def _member(name: str, cls: type) -> Schema:
    own = {} if name == ROD else parameters(cls)
    between: Schema = {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2}
    found = _object(
        {**MEMBER_FIELDS, **size_fields(cls), **own}, {"type": {"const": name}, "between": between}
    )
    return {**found, "required": ["type", *found["required"]]}


def _of(hint: Any) -> Schema:
    """The schema of the values that a type hint allows."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint == Quat:
        return _reference("rotation")
    if origin in (Union, UnionType):
        return {"anyOf": [_of(part) for part in inner]}
    if origin is tuple:
        length = {} if inner[-1] is Ellipsis else {"minItems": len(inner), "maxItems": len(inner)}
        array = {"type": "array", "items": _of(inner[0]), **length}
        return {"anyOf": [array, _of(inner[0])]} if wanted(inner[0]).classes else array
    simple: dict[Any, Schema] = {
        float: _reference("quantity"),
        int: {"type": "integer"},
        str: _TEXT,
        bool: {"type": "boolean"},
        NoneType: {"type": "null"},
        Function: {"anyOf": [_reference("quantity"), _reference("function")]},
        Marker: _reference("marker"),
        JointCoordinate: _reference("joint coordinate"),
    }
    if hint in simple:
        return simple[hint]
    if hint in REGISTRIES:
        return _reference(NOUNS[hint])
    return _object(parameters(hint), {"type": {"const": hint.__name__}})


_NAME: Final[Schema] = {"type": "string"}
_ONE: Final[Schema] = {"$ref": "#/$defs/formula"}


def _list(item: Schema, count: int | None = None) -> Schema:
    length = {} if count is None else {"minItems": count, "maxItems": count}
    return {"type": "array", "items": item, **length}


def _one_or_list(item: Schema) -> Schema:
    return {"anyOf": [item, _list(item)]}


_POINT: Final = _list(_ONE, 3)
_UNIT: Final[Schema] = {"anyOf": [{"const": unit} for unit in ("m", "rad", "1")]}
_FACTOR: Final[Schema] = {"$ref": "#/$defs/factor%20of%20a%20pose"}


def _pose_factor(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


FORMULA: Final[Schema] = {
    "description": "an expression of the symbols of its element and of parameters, or a number",
    "anyOf": [{"type": "number"}, {"type": "string"}],
}
FACTOR: Final[Schema] = {
    "description": "a turn about an axis, a shift, or a rotation matrix with a position",
    "anyOf": [
        _pose_factor(turn={"anyOf": [{"const": axis} for axis in "xyz"]}, angle=_ONE),
        _pose_factor(shift=_POINT),
        _pose_factor(rotation=_list(_POINT, 3), position=_POINT),
    ],
}
NAMES: Final[Schema] = {"description": "names of new symbols", **_one_or_list(_NAME)}
_SYMBOL: Final[Schema] = {"description": "the name of a new symbol", "anyOf": [_NAME, _list(_NAME, 1)]}
ONE_SYMBOL: Final[dict[str, Schema]] = {
    "parameter": _SYMBOL,
    "spin": {**_SYMBOL, "anyOf": [*_SYMBOL["anyOf"], {"type": "null"}]},
    "heading": _SYMBOL,
    "lean": _SYMBOL,
}
SYMBOLS: Final[dict[str, Schema]] = {
    "coordinates": NAMES,
    **{f"parameters{which}": _list(_NAME, 2) for which in ("", "_1", "_2")},
    **ONE_SYMBOL,
}
FORMULAS: Final[dict[str, Schema]] = {
    **dict.fromkeys(("curve", "surface", "surface_1", "surface_2", "force", "moment"), _POINT),
    **dict.fromkeys(("equations", "efforts"), _one_or_list(_ONE)),
    "potential": _ONE,
}
FORMULA_KEYS: Final[dict[str, Schema]] = {
    **SYMBOLS,
    **FORMULAS,
    "pose": _one_or_list(_FACTOR),
    "units": _one_or_list(_UNIT),
    "unit": _UNIT,
}
"""By key of the kinds in `CUSTOM_KINDS`: new symbols, among them those that stand alone, formulas, others."""
