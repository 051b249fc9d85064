"""The schema of mechanism files, and whether it accepts a value."""

import re

from bellcrank import io

SCHEMA = io.schema()


TYPES = {"object": dict, "array": list, "string": str, "null": type(None), "boolean": bool}


def is_type(value, name):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if name in ("number", "integer"):
        return number and (name == "number" or value == int(value))
    return isinstance(value, TYPES[name])


def accepts(schema, value):
    """Whether a value satisfies a schema made of the keywords that ours uses."""
    checks = {
        "$ref": lambda target: accepts(definition(target), value),
        "type": lambda names: any(is_type(value, n) for n in ([names] if isinstance(names, str) else names)),
        "const": lambda wanted: type(value) is type(wanted) and value == wanted,
        "anyOf": lambda options: any(accepts(option, value) for option in options),
        "required": lambda keys: not isinstance(value, dict) or set(keys) <= set(value),
        "properties": lambda known: (
            not isinstance(value, dict)
            or all(accepts(known[key], item) for key, item in value.items() if key in known)
        ),
        "additionalProperties": lambda rest: (
            not isinstance(value, dict)
            or all(rest is not False and accepts(rest, value[key]) for key in others(schema, value))
        ),
        "patternProperties": lambda known: (
            not isinstance(value, dict)
            or all(accepts(known[p], value[key]) for p in known for key in value if re.search(p, key))
        ),
        "items": lambda inner: not isinstance(value, list) or all(accepts(inner, item) for item in value),
        "minItems": lambda least: not isinstance(value, list) or len(value) >= least,
        "maxItems": lambda most: not isinstance(value, list) or len(value) <= most,
        "pattern": lambda pattern: not isinstance(value, str) or re.search(pattern, value) is not None,
    }
    told = {"$schema", "$defs", "title", "description"}
    return all(checks[keyword](content) for keyword, content in schema.items() if keyword not in told)


def others(schema, value):
    """The keys of a mapping that neither properties nor patterns of the schema speak of."""
    patterns = schema.get("patternProperties", {})
    unknown = set(value) - set(schema.get("properties", {}))
    return [key for key in unknown if not any(re.search(pattern, key) for pattern in patterns)]


def definition(reference):
    return SCHEMA["$defs"][reference.removeprefix("#/$defs/").replace("%20", " ")]
