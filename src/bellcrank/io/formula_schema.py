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
SYMBOLS: Final[Schema] = {"description": "names of new symbols", **_one_or_list(_NAME)}
_SYMBOL: Final[Schema] = {"description": "the name of a new symbol", "anyOf": [_NAME, _list(_NAME, 1)]}
FORMULA_KEYS: Final[dict[str, Schema]] = {
    "coordinates": SYMBOLS,
    **dict.fromkeys(("parameter", "heading", "lean"), _SYMBOL),
    "spin": {"description": "the name of a new symbol", "anyOf": [_NAME, _list(_NAME, 1), {"type": "null"}]},
    **{f"parameters{which}": _list(_NAME, 2) for which in ("", "_1", "_2")},
    **{f"surface{which}": _POINT for which in ("", "_1", "_2")},
    "curve": _POINT,
    "pose": _one_or_list(_FACTOR),
    "units": _one_or_list(_UNIT),
    "unit": _UNIT,
    "equations": _one_or_list(_ONE),
    "potential": _ONE,
    "efforts": _one_or_list(_ONE),
    "force": _POINT,
    "moment": _POINT,
}
"""By key of the kinds in `CUSTOM_KINDS`."""
