"""The JSON Schema of elements given by formulas: symbols, expressions, poses."""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

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


def _factor(**properties: Schema) -> Schema:
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
        _factor(turn={"anyOf": [{"const": axis} for axis in "xyz"]}, angle=_ONE),
        _factor(shift=_POINT),
        _factor(rotation=_list(_POINT, 3), position=_POINT),
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
