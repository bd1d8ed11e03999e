"""Decode plain data (dicts, lists, text, numbers) strictly into msgspec structs and dataclasses, and encode them.

A wrong type, an unknown key and a missing key are problems; all problems of a file are collected before any is reported. A
value from YAML is a `Scalar`, its text as it was typed: the type that the field wants decides what the text means, so that `no`
in a text field stays text and never becomes false.
"""

import functools
import re
import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)", re.ASCII)
DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)


class Field(typing.NamedTuple):
    """A field of a struct or dataclass. `default` makes its default value; a field that is `required` has none."""

    name: str
    required: bool
    default: Callable[[], Any]


class Scalar(Struct, frozen=True):
    """The text of a YAML value as typed, with its line (from 1); `plain` is False if it was quoted."""

    text: str
    line: int
    plain: bool


UNKNOWN_KEY = ": unknown key"
PLAIN = frozenset({str, int, float, bool})  # a value of just such a type is its own form


class Problems:
    """Collects the problems of one file in `found`, one line of text for each."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, path: str, expected: str, raw: object) -> None:
        """Add a problem: at `path` (e.g. `gate.wait_s`) the file holds `raw`, but should hold what `expected` says in words."""
        line = f" (line {raw.line})" if isinstance(raw, Scalar) else ""
        self.found.append(f"{path or 'the file'}{line}: expected {expected}, found {_show(raw)}")


def decode(raw: object, wanted: Any, problems: Problems, path: str = "") -> Any:
    """Return `raw`, found at `path` in a file, as a value of type `wanted`; on a problem, add it to `problems`, return None."""
    if type(raw) is wanted and wanted in PLAIN:
        return raw
    origin = typing.get_origin(wanted)
    arguments = typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        if raw is None or (isinstance(raw, Scalar) and raw.plain and raw.text in ("null", "~", "")):
            return None
        return decode(raw, next(a for a in arguments if a is not type(None)), problems, path)
    if origin is typing.Annotated:
        value, least = decode(raw, arguments[0], problems, path), arguments[1].ge
        return problems.add(path, f"at least {least}", raw) if value is not None and value < least else value
    if origin is tuple:
        return _decode_tuple(raw, arguments, problems, path)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(raw, Mapping):
            return problems.add(path, "a mapping", raw)
        return {str(key): decode(value, arguments[1], problems, _join(path, str(key))) for key, value in raw.items()}
    if _has_fields(wanted):
        return _decode_fields(raw, wanted, problems, path)
    return _decode_leaf(raw, wanted, problems, path)


def encode(value: object) -> Any:
    """Return `value` as dicts, lists and text or numbers, without fields that hold their default."""
    kind: Any = type(value)
    if kind in PLAIN:
        return value
    if _has_fields(kind):
        return {
            field.name: encode(content)
            for field in _fields(kind)
            if (content := getattr(value, field.name)) != field.default() or field.required
        }
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [item if type(item) in PLAIN else encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    return value


@functools.cache
def _has_fields(wanted: Any) -> bool:
    return isinstance(wanted, type) and (issubclass(wanted, Struct) or hasattr(wanted, "__dataclass_fields__"))


@functools.cache
def _fields(wanted: Any) -> tuple[Field, ...]:
    if issubclass(wanted, Struct):
        names, defaults = wanted.__struct_fields__, wanted.__struct_defaults__
        defaults = (msgspec.NODEFAULT,) * (len(names) - len(defaults)) + defaults
        return tuple(
            Field(name, default is msgspec.NODEFAULT, getattr(default, "factory", None) or _constant(default))
            for name, default in zip(names, defaults, strict=True)
        )
    from dataclasses import MISSING, fields

    return tuple(
        Field(
            each.name,
            each.default is each.default_factory is MISSING,
            _constant(each.default) if each.default_factory is MISSING else each.default_factory,
        )
        for each in fields(wanted)
    )


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


@functools.cache
def _hints(wanted: Any) -> dict[str, Any]:
    return typing.get_type_hints(wanted, include_extras=True)


def _decode_fields(raw: object, wanted: Any, problems: Problems, path: str) -> Any:
    if not isinstance(raw, Mapping):
        return problems.add(path, "a mapping", raw)
    fields = {field.name: field for field in _fields(wanted)}
    for key in raw:
        if key not in fields:
            problems.found.append(f"{_join(path, str(key))}{UNKNOWN_KEY}; known here: {', '.join(fields)}")
    values: dict[str, Any] = {}
    before = len(problems.found)
    for name, field in fields.items():
        if name in raw:
            values[name] = decode(raw[name], _hints(wanted)[name], problems, _join(path, name))
        elif field.required:
            problems.found.append(f"{_join(path, name)}: missing")
    return wanted(**values) if len(problems.found) == before else None


def _decode_tuple(raw: object, arguments: tuple[Any, ...], problems: Problems, path: str) -> Any:
    if not isinstance(raw, list | tuple):
        return problems.add(path, "a list", raw)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        if arguments[0] in PLAIN and {*map(type, raw)} <= {arguments[0]}:
            return tuple(raw)
        return tuple(decode(item, arguments[0], problems, f"{path}[{i}]") for i, item in enumerate(raw))
    if len(raw) != len(arguments):
        return problems.add(path, f"a list of {len(arguments)}", raw)
    return tuple(
        decode(item, kind, problems, f"{path}[{i}]") for i, (item, kind) in enumerate(zip(raw, arguments, strict=True))
    )


def _decode_leaf(raw: object, wanted: Any, problems: Problems, path: str) -> Any:
    text = raw.text if isinstance(raw, Scalar) else None
    plain = isinstance(raw, Scalar) and raw.plain
    if issubclass(wanted, StrEnum):
        word = text if text is not None else raw
        known = [member.value for member in wanted]
        return (
            wanted(word) if isinstance(word, str) and word in known else problems.add(path, f"one of {', '.join(known)}", raw)
        )
    if wanted is str:
        if text is not None or isinstance(raw, str):
            return text if text is not None else raw
        return problems.add(path, "text", raw)
    if wanted is bool:
        if text in ("true", "false") and plain:
            return text == "true"
        return raw if isinstance(raw, bool) else problems.add(path, "true or false", raw)
    if wanted is int:
        if text is not None and plain and INTEGER.fullmatch(text) and len(text) < 20:
            return int(text)
        return raw if isinstance(raw, int) and not isinstance(raw, bool) else problems.add(path, "a whole number", raw)
    if wanted is float:
        if text is not None and plain and DECIMAL.fullmatch(text) and len(text) < 40:
            return float(text)
        return float(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) else problems.add(path, "a number", raw)
    raise TypeError(f"no rule decodes {wanted}")


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _show(raw: object) -> str:
    if isinstance(raw, Scalar):
        return repr(raw.text[:60])
    if isinstance(raw, Mapping):
        return "a mapping"
    if isinstance(raw, list | tuple):
        return f"a list of {len(raw)}"
    return "nothing" if raw is None else repr(raw)[:60]
