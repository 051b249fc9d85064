"""The sections of a mechanism file, and those of their keys that are not the fields of a class."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bellcrank.io.fields import Parameter, parameters
from bellcrank.mechanism import Body, Drive, JointCoordinate, PathDrive
from bellcrank.mechanism import Parameter as ParameterOfMechanism
from bellcrank.mechanism.checking import Mat3, Quat, Vec3
from bellcrank.mechanism.contents import TABLES

VERSION: Final = 1
"""The version of the file format: the value of the key `bellcrank`."""

SECTIONS: Final = {
    "parameters": "parameter",
    "inputs": "input",
    **TABLES,
    "mechanisms": "placement",
}
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
INPUT_FIELDS: Final = {
    "value": Parameter("value", float, default=0.0),
    "unit": PARAMETER_FIELDS["unit"],
}
SOURCES: Final = ("file", "mechanism")
"""The keys that say what is placed: the name of another file, or a mechanism written out."""

PLACEMENT_FIELDS: Final = {
    "prefix": Parameter("prefix", str),
    "position": Parameter("position", Vec3, units=("m",)),
    "rotation": Parameter("rotation", Quat, units=("1",)),
    "attach_to": Parameter("attach_to", str),
}
