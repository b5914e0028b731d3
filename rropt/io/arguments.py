"""Checks of arguments by annotations: a failed call of a public callable names the argument that is wrong."""

import inspect
import math
import numbers
import os
import sys
import types
import typing
from collections import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np

from rropt.errors import InputError, RroptError, Unreadable, WrongType, shown
from rropt.io.counts import LONGEST_LIST, bounded

T = TypeVar("T")

LONGEST = 13_300
"""Bits of an integer that is still read: 4,000 digits."""
LISTED = (abc.Sequence, abc.Iterable, abc.Collection, tuple, list, np.ndarray)
NUMBERS = {int: "a whole number", float: "a number", Fraction: "a number"}
SHOWN = (str, bool, int, float, type(None))
"""Defaults that a message shows."""
DOTS = type("", (), {"__repr__": lambda _: "..."})()
WORDS = {
    str: "text",
    bool: "true or false",
    Mapping: "a mapping",
    type(None): "None",
    os.PathLike: "a path",
    abc.Hashable: "labels",
}


def checked(thing: T) -> T:
    """A function whose failures are explained by its arguments, or a class whose constructor and public methods are.

    Where a call ends in an error of Python and an argument is missing, unknown or does not match its annotation,
    InputError names that argument. Where all arguments match, the error is raised unchanged. The callable's own checks
    come first: they are more precise. Iterators become lists of bounded length.
    """
    if not inspect.isclass(thing):
        return typing.cast(T, _function(typing.cast(Callable[..., Any], thing)))
    for name, member in list(vars(thing).items()):
        if name != "__init__" and name.startswith("_"):
            continue
        if isinstance(member, classmethod):
            setattr(thing, name, classmethod(_function(member.__func__, True)))
        elif inspect.isfunction(member):
            setattr(thing, name, _function(member, True))
    return typing.cast(T, thing)


def _function(function: Callable[..., Any], bound: bool = False) -> Callable[..., Any]:
    signature = inspect.signature(function)
    module = function.__module__
    called = [
        one.name
        for one in signature.parameters.values()
        if one.kind is one.KEYWORD_ONLY and (callable(one.default) or "Callable[" in str(one.annotation))
    ]

    def where(given: tuple[Any, ...]) -> str:
        if not bound or not given:
            return function.__qualname__
        # What a class inherits is named after itself.
        kind = given[0] if inspect.isclass(given[0]) else type(given[0])
        return kind.__name__ if function.__name__ == "__init__" else f"{kind.__name__}.{function.__name__}"

    def bind(given: tuple[Any, ...], named: dict[str, Any]) -> inspect.BoundArguments:
        try:
            return signature.bind(*given, **named)
        except TypeError as error:
            raise WrongType(str(error), where(given), f"write {where(given)}{_form(signature, bound)}") from None

    @cache
    def hints() -> dict[str, object]:
        known = vars(sys.modules[module])
        return {
            one.name: _hint(one.annotation, known)
            for one in list(signature.parameters.values())[bound:]
            if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
        }

    def misfit(name: str, value: Any, given: tuple[Any, ...]) -> InputError | None:
        hint = hints().get(name, Any)
        if value is signature.parameters[name].default or fits(value, hint):
            return None
        return WrongType(f"expected {said(hint)}, got {shown(value)}", f"{where(given)}, {name}")

    @wraps(function)
    def read(*given: Any, **named: Any) -> Any:
        if any(isinstance(value, (abc.Iterator, range)) for value in (*given, *named.values())):
            call = bind(given, named)
            call.arguments |= {name: _end(value, hints().get(name), name) for name, value in call.arguments.items()}
            given, named = call.args, call.kwargs
        for name in called:
            # It may be called late, or never.
            if name in named and (wrong := misfit(name, named[name], given)) is not None:
                raise wrong
        try:
            return function(*given, **named)
        except RroptError:
            raise
        except Exception as error:
            call = bind(given, named)
            for name, value in call.arguments.items():
                if (wrong := misfit(name, value, given)) is not None:
                    raise wrong from error
            if isinstance(error, OSError) and error.filename is not None:
                # What no reader or writer handles, as a name that is too long.
                raise Unreadable(error.strerror or str(error), shown(error.filename), "check the path") from None
            # All arguments match: the fault is in this package, and the error is raised unchanged.
            raise

    return read


def _form(signature: inspect.Signature, bound: bool) -> inspect.Signature:
    """The signature as a call is written: without annotations, and with short defaults only."""
    empty = inspect.Parameter.empty
    written = [
        one.replace(annotation=empty, default=one.default if isinstance(one.default, SHOWN) else DOTS)
        if one.default is not empty
        else one.replace(annotation=empty)
        for one in list(signature.parameters.values())[bound:]
    ]
    return signature.replace(parameters=written, return_annotation=empty)


def _end(value: Any, hint: Any, name: str) -> Any:
    """An iterator as a list that is known to end, where a list is asked for."""
    listed = isinstance(value, range) or (isinstance(value, abc.Iterator) and _takes_lists(hint))
    return bounded(value, name) if listed else value


def _hint(annotation: Any, known: Mapping[str, Any]) -> Any:
    """The type that an annotation means; Any where it is a name for type checkers only."""
    if not isinstance(annotation, str):
        return Any if annotation is inspect.Parameter.empty else annotation
    try:
        return eval(annotation, dict(known))  # the package's own annotations
    except NameError:
        return Any


def fits(value: Any, hint: Any) -> bool:
    """Whether `value` matches an annotation."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object or isinstance(hint, TypeVar):
        return not isinstance(value, int) or value.bit_length() <= LONGEST
    if hint is None or hint is type(None):
        return value is None
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is typing.Literal:
        return isinstance(value, str) and value in inner
    if origin is typing.Annotated:
        return fits(value, inner[0])
    if hint is Callable or origin is abc.Callable:
        return callable(value)
    if origin is type:
        return inspect.isclass(value) and all(isinstance(one, TypeVar) or issubclass(value, one) for one in inner)
    if hint in NUMBERS:
        return _number(value, hint)
    if hint is bool:
        return isinstance(value, (bool, np.bool_))
    kind = origin or hint
    if kind in (abc.Mapping, dict):
        if isinstance(value, Mapping) and inner:
            return all(fits(key, inner[0]) and fits(entry, inner[1]) for key, entry in value.items())
        return isinstance(value, Mapping)
    if kind in LISTED:
        if kind in (abc.Sequence, list) and not isinstance(value, (abc.Sequence, np.ndarray)):
            return False
        if kind is tuple and not isinstance(value, tuple):
            return False
        return _list(
            value, tuple(one for one in inner if one is not Ellipsis), fixed=kind is tuple and Ellipsis not in inner
        )
    return isinstance(value, kind) if inspect.isclass(kind) and not getattr(kind, "_is_protocol", False) else True


def _takes_lists(hint: Any) -> bool:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(map(_takes_lists, typing.get_args(hint)))
    return (typing.get_origin(hint) or hint) in LISTED


def _number(value: Any, hint: type) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    if isinstance(value, numbers.Integral):
        return int(value).bit_length() <= (LONGEST if hint is not float else 1000)
    if hint is int:
        return False
    if isinstance(value, numbers.Rational):
        return hint is not float or abs(value) < 10**300
    return isinstance(value, numbers.Real) and not math.isnan(value)


def _list(value: Any, inner: Sequence[Any], fixed: bool) -> bool:
    if isinstance(value, (str, bytes)) or inspect.isclass(value) or not isinstance(value, Iterable):
        return False
    if getattr(value, "ndim", 1) == 0 or (isinstance(value, abc.Sized) and len(value) > LONGEST_LIST):
        return False
    if isinstance(value, np.ndarray):
        value = list(value)
    if not inner or not isinstance(value, (list, tuple)):
        return True
    if fixed and len(inner) != len(value):
        return False
    return all(fits(entry, inner[at] if fixed else inner[0]) for at, entry in enumerate(value))


def said(hint: Any) -> str:
    """An annotation in words."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object:
        return "a number of at most 4,000 digits"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(said(one) for one in inner if one is not type(None)))
    if origin is typing.Literal:
        return " or ".join(repr(word) for word in inner)
    if hint in NUMBERS:
        return NUMBERS[hint]
    if hint is Callable or origin is abc.Callable:
        return "a function"
    if origin is type:
        return f"a class ({', '.join(getattr(one, '__name__', '') for one in inner)})"
    kind = origin or hint
    if kind in (abc.Mapping, dict):
        return "a mapping"
    if kind in LISTED:
        of = said(inner[0]) if inner and inner[0] not in (object, Any) else ""
        return f"a list of {of}" if of else "a list"
    return WORDS.get(kind, getattr(kind, "__name__", str(kind)))


def position(value: object, size: int, what: str) -> int:
    """A position from 0 to `size` - 1. Raises InputError."""
    if type(value) is int and 0 <= value < size:
        return value
    if not _number(value, int) or not 0 <= int(value) < size:  # type: ignore[call-overload]
        raise WrongType(f"{shown(value)} is not a position", what, f"they are 0 to {size - 1}")
    return int(value)  # type: ignore[call-overload, no-any-return]
