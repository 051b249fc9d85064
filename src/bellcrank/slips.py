"""Slips in calls and attributes, answered by what was meant: arguments that are not taken, or missing, names.

`answered` makes a function refuse wrong arguments in the form of faults; `answering` does so with the methods
of a class, refuses attributes and parts that its objects lack, and values for those of frozen ones, and keeps
what only bellcrank itself uses out of `dir`. Public classes get it where they are published (publishing.py);
those that are results, and public functions, where they are defined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import FrozenInstanceError
from functools import wraps
from inspect import Parameter, signature
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from bellcrank.errors import Fault, MechanismError, restored
from bellcrank.words import ATTRIBUTES, CALLS, CHANGED, INNER, METHODS, NAMES, PARTS, SYNONYMS

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
V = TypeVar("V")
_SHOWN: Final = 8
_PLAIN: Final = str.maketrans("", "", "_- ")


class WrongCall(MechanismError, TypeError):
    """A call with arguments that are not taken, or without some that are needed."""

    _several = "faults in the call"


class NoAttribute(MechanismError, AttributeError):
    """An object lacks an attribute. Its faults are found when they are read: many who ask expect none."""

    def __init__(self, owner: Any, name: str, fault: Fault | None = None) -> None:
        AttributeError.__init__(self, name=name, obj=owner)
        self._found: list[Fault] | None = None if fault is None else [fault]

    @property
    def faults(self) -> list[Fault]:  # type: ignore[override]
        """The one fault."""
        if self._found is None:
            self._found = [_lacking(self.obj, str(self.name))]
        return self._found

    def __str__(self) -> str:
        return self._text()

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (type(self), (), {**self.__dict__, "_found": self.faults})


class NoChange(MechanismError, FrozenInstanceError):
    """A value is given to a field of an object that does not change."""

    def __str__(self) -> str:
        return self._text()


def alike(word: str, known: Iterable[str]) -> list[str]:
    """Names that a word is like, the likest first: misspelt, in another case, without its blanks."""
    from difflib import get_close_matches

    names = list(known)
    if found := get_close_matches(word, names, n=3, cutoff=0.6):
        return found
    plain: dict[str, list[str]] = {}
    for name in names:
        plain.setdefault(name.translate(_PLAIN).casefold(), []).append(name)
    close = get_close_matches(word.translate(_PLAIN).casefold(), plain, n=3, cutoff=0.6)
    return [name for one in close for name in plain[one]][:3]


def meant(word: str, known: Sequence[str], contexts: Iterable[str] = ()) -> tuple[str | None, str]:
    """The argument or attribute that a word stands for, if there is one, and what to do about it.

    contexts: what is called, or whose attribute it is, and its bases: some words have an answer of their own.
    """
    first, *bases = [*contexts] or [""]
    if advice := _answer(word, first):
        return None, advice
    for words, names in SYNONYMS.items():
        if word in words.split() and (found := [name for name in names.split() if name in known]):
            return found[0], f"here it is called {found[0]!r}"
    for base in bases:
        if advice := _answer(word, base):
            return None, advice
    if found := alike(word, known):
        return found[0], f"did you mean {' or '.join(map(repr, found))}?"
    if not known:
        return None, "it takes none"
    shown = ", ".join(map(repr, known[:_SHOWN]))
    return None, f"there are {shown}" + (f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else "")


def _answer(word: str, context: str) -> str:
    """The answer of its own that a word has there; empty if it has none."""
    tables = (*CALLS.get(context, {}).items(), *ATTRIBUTES.get(context, {}).items())
    return next((advice for words, advice in tables if word in words.split()), "")


def named_elsewhere(name: Any, known: Iterable[str]) -> str:
    """The method or formulation that is nearest to one of another program; "" for a name that is no such."""
    word = str(name).casefold().replace(" ", "_")
    found = [here for words, here in METHODS.items() if word in words.split() and here in known]
    return f"the nearest here is {found[0]!r}" if found else ""


def published(word: str, known: Sequence[str]) -> str:
    """What a name that a package does not publish may have meant; empty if nothing is like it."""
    plain = word.translate(_PLAIN).casefold()
    if same := [name for name in known if name.casefold() == plain]:
        return f"; did you mean {same[0]}?"
    for ending in ("joint", "constraint", "force", "kind"):
        plain = plain.removesuffix(ending) or plain
    for words, advice in NAMES.items():
        if plain in words.split():
            return f"; {advice}"
    found = alike(plain, {name.casefold(): name for name in known})
    names = [name for one in found for name in known if name.casefold() == one]
    return f"; did you mean {' or '.join(names)}?" if names else ""


def answered(function: F) -> F:
    """The function, which refuses arguments that it does not take in the form of faults."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            begun = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            if begun:  # the function had taken the arguments
                raise
        raise _wrong(function, args, kwargs)

    found: Any = call
    found.answered = True
    return found  # type: ignore[no-any-return]


def answering(cls: C) -> C:
    """The class, whose methods are `answered`, and whose objects refuse attributes that they lack."""
    for base in cls.__mro__:
        if not base.__module__.startswith("bellcrank") or "_answers" in vars(base):
            continue
        for name, value in list(vars(base).items()):
            inner = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            public = not name.startswith("_") or name == "__init__"
            if public and isinstance(inner, FunctionType) and not hasattr(inner, "answered"):
                wrapped = answered(inner)
                setattr(base, name, wrapped if inner is value else type(value)(wrapped))
        setattr(base, "_answers", True)  # noqa: B010
    own: Any = cls
    known = {base.__name__ for base in cls.__mro__}
    if not hasattr(cls, "__getattr__"):
        own.__getattr__ = _lacks
    if known & PARTS.keys() and not hasattr(cls, "__getitem__"):
        own.__getitem__, own.__iter__ = _no_part, None  # or indices would make it iterable
    if {f"{name}()" for name in known} & PARTS.keys() and "__call__" not in dir(cls):
        own.__call__ = _no_call
    if not any("__dir__" in vars(base) for base in cls.__mro__[:-1]):
        own.__dir__ = _shown
    if getattr(vars(cls).get("__dataclass_params__"), "frozen", False):
        own.__setattr__ = _frozen
    return cls


def _inner(kind: type) -> frozenset[str]:
    """The attributes of a class that only bellcrank itself uses."""
    return frozenset(name for base in kind.__mro__ for name in INNER.get(base.__name__, "").split())


def _shown(self: Any) -> list[str]:
    """The names that completion offers."""
    inner = _inner(type(self))
    return [name for name in object.__dir__(self) if name not in inner]


def _advice(self: Any, table: Mapping[str, str], ending: str = "") -> str:
    """The entry of a table for the class of an object, or a base of it; "" if there is none."""
    return next((table[key] for one in type(self).__mro__ if (key := one.__name__ + ending) in table), "")


def _no_part(self: Any, part: Any) -> Any:
    advice = _advice(self, PARTS).format(_brief(part))
    raise WrongCall(Fault(labelled(self), "it has no parts in brackets", part, advice))


def _no_call(self: Any, *_: Any, **__: Any) -> Any:
    raise WrongCall(Fault(labelled(self), "it is not a function", None, _advice(self, PARTS, "()")))


def _frozen(self: Any, name: str, value: Any) -> None:
    found = _advice(self, CHANGED) or "make another one"
    advice = found.format(field=name, value=_text(value), name=getattr(self, "name", None))
    raise NoChange(
        Fault(labelled(self), f"{name} cannot be set: what it holds does not change", None, advice)
    )


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, (int, float, str, bool, tuple)) else "..."


def labelled(owner: Any) -> str:
    """An object in messages: its class and, if it has one, its name."""
    name = getattr(owner, "__dict__", {}).get("name")
    return type(owner).__name__ + (f" {name!r}" if isinstance(name, str) else "")


def _lacks(self: Any, name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
    if isinstance(getattr(type(self), name, None), property):  # it is there, and computing it went wrong
        return object.__getattribute__(self, name)
    raise NoAttribute(self, name)


def _lacking(owner: Any, name: str) -> Fault:
    kind, held = type(owner), getattr(owner, "__dict__", {})
    inner = _inner(kind)
    known = [
        one for one in dict.fromkeys((*held, *dir(kind))) if not one.startswith("_") and one not in inner
    ]
    _, advice = meant(name, known, [base.__name__ for base in kind.__mro__])
    return Fault(labelled(owner), f"it has no attribute {name!r}", None, advice)


_BY_PLACE: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME: Final = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_ANY: Final = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def _wrong(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> WrongCall:
    """The error of a call whose arguments do not fit."""
    taken = list(signature(function).parameters.values())
    contexts, name = [function.__name__], function.__name__
    if taken and taken[0].name in ("self", "cls"):
        kind, taken, args = type(args[0]), taken[1:], args[1:]
        if name == "__init__":
            name, contexts = kind.__name__, [base.__name__ for base in kind.__mro__]
    element, kinds = _element(name, args, kwargs), {one.kind for one in taken}
    places = [one.name for one in taken if one.kind in _BY_PLACE]
    named = [one.name for one in taken if one.kind in _BY_NAME]
    filled, unclear = {*kwargs, *places[: len(args)]}, 0
    faults = []
    for word, value in kwargs.items():
        if word in places[: len(args)]:
            advice = "give it once, with its name or without"
            if "bodies" in places and isinstance(args[places.index("bodies")], str):
                advice = "bodies stand in a list, as ['ground', 'rod'] does"
            faults.append(Fault(element, f"{word} is given twice", _brief(value), advice))
        elif word not in named and Parameter.VAR_KEYWORD not in kinds:
            argument, advice = meant(word, named, contexts)
            unclear += argument is None
            filled.add(argument or word)
            faults.append(Fault(element, f"it has no argument {word!r}", _brief(value), advice))
    if len(args) > len(places) and Parameter.VAR_POSITIONAL not in kinds:
        faults.append(_surplus(element, name, args, taken, contexts))
        return WrongCall(faults)
    needed = [one.name for one in taken if one.default is Parameter.empty and one.kind not in _ANY]
    lacking = [one for one in needed if one not in filled]
    if len(lacking) > unclear or not faults:
        rule = f"{_listed(lacking)} {'is' if len(lacking) == 1 else 'are'} missing"
        faults.append(Fault(element, rule, None, f"call it as {_shape(name, taken)}"))
    return WrongCall(faults)


def _element(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """What a call makes, such as "body 'crank'", or the name of what is called."""
    called = kwargs.get("name", args[0] if args else None)
    if name.startswith("add_") and isinstance(called, str):
        return f"{name.removeprefix('add_')} {called!r}"
    return name


def _brief(value: Any) -> Any:
    """A value as messages show it: of an element, its name."""
    name = getattr(value, "__dict__", {}).get("name")
    return name if isinstance(name, str) else value


def _surplus(
    element: str, name: str, args: tuple[Any, ...], taken: Sequence[Parameter], contexts: Sequence[str]
) -> Fault:
    """Of more arguments without names than are taken."""
    places = [one.name for one in taken if one.kind in _BY_PLACE]
    others = [one.name for one in taken if one.kind is Parameter.KEYWORD_ONLY]
    count, given = len(places), len(args)
    rule = (
        f"it takes {count or 'no'} argument{'' if count == 1 else 's'} without a name, "
        f"{given} {'is' if given == 1 else 'are'} given"
    )
    special = [
        CALLS[one]["*"] for one in (contexts if not count else contexts[:1]) if "*" in CALLS.get(one, {})
    ]
    if special:
        advice = special[0]
    elif count and given in (3, 4) and all(isinstance(one, (int, float)) for one in args):
        advice = f"did you mean {name}(({', '.join(f'{one:g}' for one in args)}))?"
    elif others:
        advice = f"name those{f' after {places[-1]}' if places else ''}: {_listed(others[:_SHOWN], 'or')}"
    else:
        advice = f"it takes {', '.join(places)}" if places else f"call it as {name}()"
    return Fault(element, rule, tuple(map(_brief, args[count:])), advice)


def _shape(name: str, taken: Sequence[Parameter]) -> str:
    """How something is called, such as kinematics(mechanism, duration, ...)."""
    needed = [one for one in taken if one.default is Parameter.empty and one.kind not in _ANY]
    texts = [f"{one.name}=..." if one.kind is Parameter.KEYWORD_ONLY else one.name for one in needed]
    return f"{name}({', '.join([*texts, *(['...'] if len(needed) < len(taken) else [])])})"


def _listed(names: Sequence[str], word: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


class NoName(MechanismError, KeyError):
    """There is nothing of this name."""

    def __str__(self) -> str:
        return self._text()


class Named(dict[str, V]):
    """Things by name; a name that is not there is refused, with those that it is like.

    noun: for one of them.
    """

    def __init__(self, noun: str, items: Mapping[str, V] | Iterable[tuple[str, V]] = ()) -> None:
        super().__init__(items)
        self.noun = noun

    def __missing__(self, name: Any) -> V:
        _, advice = meant(name, list(self)) if isinstance(name, str) else (None, "give its name, a text")
        advice = advice if self else "there is none yet"
        raise NoName(Fault(f"{self.noun} {name!r}", f"there is no {self.noun} of this name", None, advice))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            _refuse_attribute(self, self, name)

    def copy(self) -> Named[V]:
        """A copy that can be changed independently."""
        return Named(self.noun, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Named, (self.noun, dict(self))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


class View(Mapping[str, V]):
    """What a mechanism has under names: it follows the mechanism, and cannot be changed itself."""

    __slots__ = ("_named",)

    def __init__(self, named: Named[V]) -> None:
        self._named = named

    def __getitem__(self, name: str) -> V:
        return self._named[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def __contains__(self, name: object) -> bool:
        return name in self._named

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {value!r}' for name, value in self._named.items())}}}"

    def keys(self) -> Any:
        """The names."""
        return self._named.keys()

    def values(self) -> Any:
        """What has these names."""
        return self._named.values()

    def items(self) -> Any:
        """Both, in pairs."""
        return self._named.items()

    def copy(self) -> dict[str, V]:
        """The same as a dict of its own."""
        return dict(self._named)

    if not TYPE_CHECKING:

        def __setitem__(self, name: str, _: Any) -> None:
            noun = self._named.noun
            advice = f"mech.add_{noun}(...) adds one, mech.replace(element, ...) changes one"
            raise WrongCall(Fault(f"{noun} {name!r}", "it cannot be put in here", None, advice))

        def __delitem__(self, name: str) -> None:
            noun = self._named.noun
            raise WrongCall(
                Fault(f"{noun} {name!r}", "it cannot be deleted here", None, "mech.remove(element)")
            )

        def __getattr__(self, name: str) -> Any:
            _refuse_attribute(self, Named("") if name.startswith("_") else self._named, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return View, (self._named,)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._named)


def _refuse_attribute(owner: Any, named: Named[Any], name: str) -> NoReturn:
    """Refuse an attribute of a table: names stand in brackets."""
    if name.startswith("_"):
        raise AttributeError(
            f"{type(owner).__name__!r} object has no attribute {name!r}", name=name, obj=owner
        )
    many = "bodies" if named.noun == "body" else "table" if " " in named.noun else f"{named.noun}s"
    meant_one = name if name in named else next(iter(alike(name, named)), "")
    adds = name in ("append", "add", "insert", "update", "pop", "remove", "clear")
    advice = f"names stand in brackets, as in {many}[{meant_one or 'name'!r}]"
    if adds:
        advice = f"mech.add_{named.noun}(...) adds one, mech.remove(element) removes one"
    raise NoAttribute(owner, name, Fault(many, f"there is no attribute {name!r}", None, advice))


class Names(tuple[str, ...]):
    """Names of what a run contains; who takes one for an index is referred to the method with results."""

    __slots__ = ()

    if not TYPE_CHECKING:  # which see the types of a tuple

        def __getitem__(self, index: Any) -> Any:
            if isinstance(index, str):
                advice = f"results by name are called, such as run.body({index!r}), run.joint({index!r})"
                raise WrongCall(Fault("names of a run", "an index is a number here", index, advice))
            return super().__getitem__(index)
