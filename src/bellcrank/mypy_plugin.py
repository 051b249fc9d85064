"""A plugin for mypy that reads texts with units: it accepts mass="2 kg" and refuses mass="heavy".

In the settings of mypy:  plugins = ["bellcrank.mypy_plugin"].  Without it mypy rejects every string where a
number is expected; `bc.quantity("2 kg", "kg")` passes with and without it.

With it, arguments may be kept in a dict and unpacked: rod = {"mass": 1.0, "inertia": (1, 1, 1)}, then
add_body("upper", **rod). Without it mypy takes such a dict only where all its values are of one type.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import ARG_STAR, ARG_STAR2, CallExpr, Expression, ListExpr, StrExpr, TupleExpr
from mypy.plugin import FunctionSigContext, MethodSigContext, Plugin
from mypy.types import AnyType, FunctionLike, TypedDictType, TypeOfAny, get_proper_type

from bellcrank.mechanism.units import UnitError, read_quantity

Context = FunctionSigContext | MethodSigContext


def _has_units(argument: Expression) -> bool:
    """Whether an argument is a text with a unit, or contains only such texts."""
    if isinstance(argument, StrExpr):
        try:
            return read_quantity(argument.value) is not None
        except UnitError:
            return False
    if isinstance(argument, (TupleExpr, ListExpr)):
        texts = [item for item in argument.items if isinstance(item, (StrExpr, TupleExpr, ListExpr))]
        return bool(texts) and all(map(_has_units, texts))
    return False


def _is_unpacked(context: Context, given: list[Expression]) -> bool:
    """Whether an argument comes out of a dict that the call unpacks, as in add_body("rod", **rod).

    The type of such a dict is one for all its values, which says nothing of any of them.
    """
    call = context.context
    if not isinstance(call, CallExpr):
        return False
    dicts = [one for one, kind in zip(call.args, call.arg_kinds, strict=True) if kind is ARG_STAR2]
    return any(one is other for one in given for other in dicts)


def _with_units(context: Context) -> FunctionLike:
    """The signature in which texts with units may stand for numbers, and dicts be unpacked."""
    signature = context.default_signature
    types = list(signature.arg_types)
    anything = AnyType(TypeOfAny.special_form)
    for place, (kind, given) in enumerate(zip(signature.arg_kinds, context.args, strict=False)):
        wanted = get_proper_type(types[place])
        if kind is not ARG_STAR2 and _is_unpacked(context, given):
            types[place] = anything
        if kind is ARG_STAR or not any(map(_has_units, given)):
            continue
        if kind is not ARG_STAR2:
            types[place] = anything
        elif isinstance(wanted, TypedDictType) and isinstance(context.context, CallExpr):
            call = context.context
            named = {n for n, one in zip(call.arg_names, call.args, strict=True) if _has_units(one)}
            items = [anything if name in named else item for name, item in wanted.items.items()]
            types[place] = wanted.copy_modified(item_types=items)
    return signature.copy_modified(arg_types=types)


class Units(Plugin):
    """Looks at the calls of bellcrank's functions, methods and classes."""

    def get_function_signature_hook(
        self, fullname: str
    ) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """For functions and classes."""
        return _with_units if fullname.startswith("bellcrank.") else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        """For methods."""
        return _with_units if fullname.startswith("bellcrank.") else None


def plugin(_version: str) -> type[Plugin]:
    """The entry point that mypy calls."""
    return Units
