"""The reference of the Python interface: a page for each group of public names, from docstrings and types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

import bellcrank as bc
from bellcrank.mechanism.attachment import ConstraintKind, ForceKind
from bellcrank.mechanism.changes import ChangeKind
from bellcrank.mechanism.functions.function import Function
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.motor_joints import MotorKind
from bellcrank.mechanism.sensors import SensorKind
from docs_site.docstrings import markdown


@dataclass
class Group:
    """A page of the reference: its name, its title, a sentence, and what stands on it."""

    place: str
    title: str
    about: str
    members: dict[str, Any] = field(default_factory=dict)


GROUPS: Final = {
    group.place: group
    for group in (
        Group(
            "mechanism", "Mechanisms", "What a mechanism is made of: bodies, markers, joints and the rest."
        ),
        Group("shapes", "Shapes", "What bodies look like, and what gives them mass."),
        Group("joints", "Joints", "The kinds of joints, for `Mechanism.add_joint`."),
        Group("motors", "Motors", "Joints that are driven, for `Mechanism.add_joint`."),
        Group("constraints", "Constraints", "Gears, belts and cables, for `Mechanism.add_constraint`."),
        Group("forces", "Forces", "Springs, dampers, motors and friction, for `Mechanism.add_force`."),
        Group("functions", "Functions of time", "What a drive or a force follows."),
        Group("formulas", "Elements given by formulas", "Joints, constraints and forces that you define."),
        Group("simulating", "Simulating", "From a mechanism to a run."),
        Group("results", "Results", "What a run has recorded."),
        Group("analysis", "Analysis", "Assembly, degrees of freedom, statics, kinematics, verification."),
        Group("studies", "Studies", "Many runs: sweeps, optimization, fits to recorded data."),
        Group("solids", "Flexible solids", "From finite elements to interfaces and modes between them."),
        Group("files", "Files", "Mechanisms in files."),
        Group(
            "expressions",
            "Expressions",
            "`bellcrank.expression`: formulas that are differentiated and compiled.",
        ),
        Group(
            "scene", "Scenes", "`bellcrank.scene`: what is drawn of a mechanism, independent of the drawing."
        ),
        Group("errors", "Errors", "What is raised, and what it says."),
    )
}
_KINDS: Final = (
    (MotorKind, "motors"),
    (JointKind, "joints"),
    (ConstraintKind, "constraints"),
    (ForceKind, "forces"),
)
_ROOMS: Final = (
    (r"mechanism\.(custom|curve_f|surface_f)", "formulas"),
    (r"mechanism\.functions", "functions"),
    (r"mechanism\.(shape|mesh)", "shapes"),
    (r"mechanism", "mechanism"),
    (r"analysis|verification|linear|compile\.(report|validate)", "analysis"),
    (r"simulate|run|integrate|formulations|accuracy|compile|_core", "simulating"),
    (r"trajectory", "results"),
    (r"studies", "studies"),
    (r"io", "files"),
    (r"expression", "expressions"),
    (r"scene", "scene"),
    (r"solids", "solids"),
    (r"errors", "errors"),
)
_FIRST: Final = (
    "Mechanism", "Body", "Ground", "Marker", "rotation", "Limit", "quantity", "Parameter", "Input",
    "simulate", "start", "Run", "prepare", "System", "Trajectory", "info", "assemble", "find_equilibrium",
    "kinematics", "inverse_dynamics", "verify", "load", "save", "loads",
)  # fmt: skip
"""What stands first on its page, in this order; the rest follows as it is published."""
_MADE_ELSEWHERE: Final = [
    "Trajectory", "MoveTrajectory", "MoveEnergy", "Run", "AdaptiveRun", "QuasistaticRun", "System",
    "Placement",
]  # fmt: skip
"""Classes whose constructors nobody calls."""
_WITHIN: Final = {
    "Limit": ("lowered",),
    "Joint": ("resolved", "only_locks", "lowered"),
    "Drive": ("lowered",),
    "PathDrive": ("lowered",),
    "Sensor": ("refers_to",),
    "EndCoordinate": ("names",),
    "EndPose": ("names",),
    "LoadKind": ("carried", "loads", "fault_of"),
    "Shape": ("volume_beyond", "mass_beyond", "moved"),
    "Function": ("flat",),
    "Selection": ("near", "middle", "distances"),
    "Curve": ("coordinate_params",),
    "Run": ("followed",),
    "Trajectory": ("within",),
    "EffortHistory": ("of",),
    "Readings": ("at",),
    "SweepResult": ("measure_number",),
}
"""Methods by which parts of the library call each other; the reference leaves them out."""


def group_of(value: Any, module: str) -> str:
    """The page for a public name that comes from a module."""
    room = module.removeprefix("bellcrank.")
    if inspect.isclass(value) and not re.match(_ROOMS[0][0], room):
        for base, place in _KINDS:
            if issubclass(value, base):
                return place
    for pattern, place in _ROOMS:
        if re.match(pattern, room):
            return place
    raise LookupError(f"{module}: no page of the reference takes it")


def collected() -> dict[str, Group]:
    """The pages with what stands on them, every public name once."""
    package: Any = bc
    for name, module in package.published.items():
        value = getattr(bc, name)
        if not isinstance(value, ModuleType):
            GROUPS[group_of(value, module)].members[f"bellcrank.{name}"] = value
    for module in (bc.expression, bc.scene):
        for name in module.__all__:
            place = module.__name__.removeprefix("bellcrank.").replace("expression", "expressions")
            GROUPS[place].members[f"{module.__name__}.{name}"] = getattr(module, name)
    for group in GROUPS.values():
        group.members = dict(sorted(group.members.items(), key=lambda member: _rank(member[0])))
    return GROUPS


def _rank(path: str) -> int:
    name = path.removeprefix("bellcrank.")
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def links_to(groups: dict[str, Group]) -> dict[str, str]:
    """The path of everything that code in a docstring may mean."""
    found: dict[str, str] = {}
    for group in groups.values():
        for path, value in group.members.items():
            name = path.removeprefix("bellcrank.")
            found.setdefault(name, path)
            found.setdefault(name.rpartition(".")[2], path)
            if inspect.isclass(value) and not _is_kind(value):
                for member, _ in members_of(value):
                    found[f"{name}.{member}"] = f"{path}.{member}"
    return found


def page(group: Group, links: dict[str, str]) -> str:
    """A page of the reference."""
    made = "[The index](index.md#the-examples) shows what the examples use without making it."
    parts = [f"# {group.title}\n\n{group.about} {made}\n"]
    for path, value in group.members.items():
        parts.append(_entry(path, value, links))
    return "\n".join(parts)


def _is_kind(value: type) -> bool:
    """Whether its methods are for those who write formulations, not for users."""
    bases = (*(base for base, _ in _KINDS), ChangeKind, SensorKind)
    return issubclass(value, bases) or (issubclass(value, Function) and value is not Function)


def members_of(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class, its bases in bellcrank included, and its attributes."""
    seen = {name for base in cls.__mro__ for name in _WITHIN.get(base.__name__, ())}
    for base in cls.__mro__:
        if not base.__module__.startswith("bellcrank"):
            continue
        for name, value in vars(base).items():
            known = isinstance(value, (property, classmethod, staticmethod)) or inspect.isfunction(value)
            if not name.startswith("_") and known and name not in seen and _doc(value):
                seen.add(name)
                yield name, value


def _doc(value: Any) -> str:
    function = getattr(value, "__func__", value)
    text = inspect.cleandoc(function.__doc__ or "")
    return re.sub(r"^\w+\(.*\) -> .*\n+", "", text)


def _entry(path: str, value: Any, links: dict[str, str]) -> str:
    module, _, name = path.rpartition(".")
    if inspect.isclass(value):
        body = [markdown(_class_doc(value), _described(value), links)]
        if not _is_kind(value):
            body += [_member(member, found, links) for member, found in members_of(value)]
        return _directive("class", module, name + _constructor(name, value), body, 5)
    if callable(value):
        return _directive("function", module, name + signature(value), [_text(value, links)], 5)
    return _directive("data", module, name, [markdown(_about_data(value), set(), links)], 5)


def _class_doc(cls: type) -> str:
    """The docstring of a class; of a joint also what it locks and leaves free."""
    text, before, example = inspect.cleandoc(cls.__doc__ or "").partition("\n\n>>>")
    if issubclass(cls, JointKind) and (cls.locked or cls.free):
        locked, free = (
            ", ".join(f"`{name}`" for name in names) or "none" for names in (cls.locked, cls.free)
        )
        text += f"\n\nLocked: {locked}. Free: {free}."
    if issubclass(cls, (ConstraintKind, ForceKind)) and cls.ends_text:
        text += f"\n\nEnds: {cls.ends_text}."
    return text + before + example


def _about_data(value: Any) -> str:
    return f"`{value!r}`"


def _text(value: Any, links: dict[str, str]) -> str:
    return markdown(_doc(value), _parameters(value), links)


def _parameters(value: Callable[..., Any]) -> set[str]:
    try:
        return set(inspect.signature(value).parameters)
    except (TypeError, ValueError):  # of the core
        return set()


def _described(cls: type) -> set[str]:
    """The names that the docstring of a class may describe: arguments, fields, attributes."""
    found = {name for name, _ in members_of(cls)}
    for base in cls.__mro__:
        found |= set(getattr(base, "__annotations__", ()))
        if base is not object and "__init__" in vars(base):
            found |= _parameters(base)
    return found | set(re.findall(r"self\.(\w+) =", _source(cls)))


def _source(cls: type) -> str:
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        return ""


def _member(name: str, value: Any, links: dict[str, str]) -> str:
    if isinstance(value, property):
        kind = _annotation(getattr(value.fget, "__annotations__", {}).get("return", Any))
        body = ([f":type: {kind}"] if kind else [], [markdown(_doc(value.fget), set(), links)])
        return _directive("property", "", name, body[1], 4, body[0])
    function = getattr(value, "__func__", value)
    options = [":classmethod:"] if isinstance(value, classmethod) else []
    options += [":staticmethod:"] if isinstance(value, staticmethod) else []
    bound = not isinstance(value, staticmethod)
    return _directive(
        "method", "", name + signature(function, bound=bound), [_text(function, links)], 4, options
    )


def _directive(
    kind: str, module: str, text: str, body: list[str], ticks: int, options: list[str] | None = None
) -> str:
    fence = "`" * ticks
    head = [f"{fence}{{py:{kind}}} {text}", *([f":module: {module}"] if module else []), *(options or ())]
    return "\n".join([*head, "", *body, fence, ""])


def _constructor(name: str, cls: type) -> str:
    if name in _MADE_ELSEWHERE or inspect.isabstract(cls):
        return ""
    return signature(cls, result=False)


def signature(function: Callable[..., Any], *, bound: bool = False, result: bool = True) -> str:
    """The arguments of a function as Python writes them, with the types that say something."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):  # a function of the core, whose docstring begins with its signature
        return "()"
    given = list(found.parameters.values())[1 if bound else 0 :]
    shown = [p.replace(annotation=inspect.Parameter.empty, default=inspect.Parameter.empty) for p in given]
    texts, starred = [], False
    for parameter, plain in zip(given, shown, strict=True):
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        kind, default = _annotation(parameter.annotation), _default(parameter.default)
        between = " = " if kind else "="
        texts.append(f"{plain}{': ' + kind if kind else ''}{between + default if default else ''}")
    returned = _annotation(found.return_annotation) if result else ""
    return f"({', '.join(texts)}){' -> ' + returned if returned else ''}"


def _annotation(annotation: Any) -> str:
    """A type as text; nothing where it says nothing."""
    if annotation in (inspect.Parameter.empty, Any, "Any"):
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", text)


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return ""
    text = repr(value)
    return "..." if text.startswith("<") or "object at" in text or len(text) > 60 else text
