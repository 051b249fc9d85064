"""Joints, constraints and forces given by formulas, read from files and written as plain data.

In files their own symbols are strings: names of coordinates, of parameters of curves and surfaces, of ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from bellcrank.io.decode import FAILED, Decoder, Failed, all_read, expression, written_expression
from bellcrank.io.fields import NOUNS, parameters, wanted
from bellcrank.io.node import Items, Node, Place, Scalar, plain
from bellcrank.io.schema import FORMULAS, ONE_SYMBOL, SYMBOLS
from bellcrank.mechanism.formulas import CUSTOM_KINDS, EndCoordinate, EndPose, Formulas

_NOWHERE: Final = Scalar(0, 0, None, "")
_FACTORS: Final = ("turn", "angle", "shift", "rotation", "position")


@dataclass
class CustomReader:
    """Reads the fields of one kind given by formulas.

    letters: the ends of the element, M for a marker, J for a joint.
    """

    decoder: Decoder
    place: Place
    letters: str = ""

    def __post_init__(self) -> None:
        self.names: dict[str, Any] = dict(self.decoder.names)

    def kind(self, cls: type, node: Node, entries: Mapping[str, Node], others: tuple[str, ...]) -> Any:
        """An instance of the class, or FAILED."""
        known = {n: p for n, p in parameters(cls).items() if n not in ("values", "ends")}
        keys = [*known, *others, *(("names",) if "ends" in parameters(cls) else ())]
        required = [name for name, parameter in known.items() if parameter.required]
        if not self.decoder.check_keys(node, self.place, entries, keys, required):
            return FAILED
        if getattr(cls, "timed", False):
            from bellcrank.expression.reading import TIME

            self.names["t"] = TIME
        values: dict[str, Any] = {}
        if "ends" in parameters(cls):
            values["ends"] = self.ends(entries.get("names"))
        for name in SYMBOLS:
            if name in known and name in entries:
                values[name] = self.symbols(entries[name], self.place.at(name), name in ONE_SYMBOL)
        for name in known:
            if name in entries and name not in SYMBOLS:
                values[name] = self.field(cls, name, entries[name])
        if all_read(values) is FAILED:
            return FAILED
        return self.decoder.made(node, self.place, lambda: cls(**values))

    def field(self, cls: type, name: str, node: Node) -> Any:
        """The value of one field."""
        at = self.place.at(name)
        if name == "pose":
            return self.pose(node, at)
        if name in FORMULAS:
            return self.formulas(node, at)
        if name in ("units", "unit"):
            return tuple(plain(node)) if isinstance(node, Items) else plain(node)
        return self.decoder.value(node, wanted(parameters(cls)[name].hint), at, parameters(cls)[name].units)

    def symbols(self, node: Node, place: Place, single: bool) -> Any:
        """New symbols with the given names."""
        from bellcrank.expression import symbol

        listed = node.items if isinstance(node, Items) else (node,)
        found = []
        for item in listed:
            if not isinstance(item, Scalar) or not isinstance(item.value, str):
                return self.decoder.fault(place, item, "the name of a symbol is needed here", plain(item))
            if item.text in self.names:
                return self.decoder.fault(place, item, "this name is taken", item.text, "choose another")
            made = symbol(item.text)
            self.names[item.text] = made
            found.append(made)
        return found[0] if single and len(found) == 1 else tuple(found)

    def ends(self, node: Node | None) -> Any:
        """Symbols for the ends, with the names given, or else a, b, c, ..."""
        at = self.place.at("names")
        names = [chr(ord("a") + number) for number in range(len(self.letters))]
        if node is not None:
            listed = node.items if isinstance(node, Items) else (node,)
            names = [item.text if isinstance(item, Scalar) else "" for item in listed]
        if len(names) != len(self.letters):
            advice = f"there are {len(self.letters)} ends"
            return self.decoder.fault(
                self.place.at("names"), node, "a name for each end is needed", names, advice
            )
        kinds = {"M": EndPose, "J": EndCoordinate}
        made: list[Any] = []
        for letter, name in zip(self.letters, names, strict=True):
            if name in self.names:
                return self.decoder.fault(at, node, "this name is taken", name, "use names: [...]")
            end = self.decoder.made(node or _NOWHERE, at, partial(kinds[letter], name))
            if end is FAILED:
                return FAILED
            self.names |= end.names()
            made.append(end)
        return tuple(made)

    def formulas(self, node: Node, place: Place) -> Any:
        """An expression, or a list of expressions."""
        if isinstance(node, Items):
            return all_read(tuple(self.formulas(item, place.at(str(i))) for i, item in enumerate(node.items)))
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or node.value is None:
            return self.decoder.fault(place, node, "an expression is needed here", plain(node))
        if not isinstance(node.value, str):
            return float(node.value)
        text = node.value
        return self.decoder.made(node, place, lambda: expression(text, self.names, False, place.element))

    def pose(self, node: Node, place: Place) -> Any:
        """A transform: the product of the factors in a list."""
        from bellcrank.expression.frames import transform_of

        listed = node.items if isinstance(node, Items) else (node,)
        factors = [self.factor(item, place.at(str(number))) for number, item in enumerate(listed)]
        if any(isinstance(factor, Failed) for factor in factors):
            return FAILED
        return transform_of(factors)

    def factor(self, node: Node, place: Place) -> Any:
        """One factor of a transform."""
        from bellcrank.expression.expression import as_expression
        from bellcrank.expression.poses import Transform, Turn

        entries = self.decoder.entries(node, place)
        if isinstance(entries, Failed) or not self.decoder.check_keys(node, place, entries, _FACTORS):
            return FAILED
        given = {key: self.formulas(value, place.at(key)) for key, value in entries.items() if key != "turn"}
        if all_read(given) is FAILED:
            return FAILED
        try:
            if set(entries) == {"turn", "angle"}:
                axis: Any = plain(entries["turn"])
                if axis in ("x", "y", "z"):
                    return Turn(axis, as_expression(given["angle"]))
            elif set(entries) == {"shift"}:
                return Transform(position=given["shift"]).factors[0]
            elif set(entries) == {"rotation", "position"}:
                return Transform(given["rotation"], given["position"]).factors[0]
        except (TypeError, ValueError):
            pass
        advice = "{turn: z, angle: ...}, {shift: [x, y, z]} or {rotation: 3 x 3, position: [x, y, z]}"
        return self.decoder.fault(place, node, "this is no factor of a pose", plain(node), advice)


def encoded_kind(kind: Formulas) -> dict[str, Any]:
    """The fields of a kind given by formulas, as plain data."""
    found: dict[str, Any] = {"type": type(kind).__name__}
    cls: type = type(kind)
    for name, parameter in parameters(cls).items():
        value = getattr(kind, name)
        if name == "values" or (not parameter.required and value == parameter.default):
            continue
        if name == "ends":
            found["names"] = [end.name for end in value]
        elif name == "pose":
            found[name] = [_factor(factor) for factor in value]
        else:
            found[name] = _data(value)
    return found


def _data(value: Any) -> Any:
    if isinstance(value, (str, int, float)) or value is None:
        return value
    if hasattr(value, "op"):
        return float(value) if value.is_constant else written_expression(value)
    return [_data(item) for item in value]


def _factor(factor: Any) -> dict[str, Any]:
    if hasattr(factor, "axis"):
        return {"turn": factor.axis, "angle": _data(factor.angle)}
    if hasattr(factor, "rotation"):
        return {"rotation": _data(factor.rotation), "position": _data(factor.offset)}
    return {"shift": _data(factor.offset)}


def custom_kinds(noun: str) -> dict[str, type[Formulas]]:
    """The classes given by formulas among joints, constraints or forces."""
    base = next(base for base, word in NOUNS.items() if word == noun)
    return {name: cls for name, cls in CUSTOM_KINDS.items() if issubclass(cls, base)}


def custom_kind(entries: Mapping[str, Node], noun: str) -> type[Formulas] | None:
    """The class given by formulas that the key `type` names, or None."""
    given = entries.get("type")
    return custom_kinds(noun).get(given.text) if isinstance(given, Scalar) else None
