"""A launch description as it is written, made ready for its types, and the errors of these in words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from expctl.check.nested_fields import written_path
from expctl.check.type_names import numbers_of

_PATH = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<path>[^`]*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_CHOICE = re.compile(r"Invalid enum value '(.*)'")
_TYPE_OF_BITS = re.compile(r"(u?)(int|float|fp|bfloat)(\d+)(?:_t)?")
_LETTERS = {"int": "i", "float": "f", "fp": "f", "bfloat": "bf"}


def plain(value: Any, key: str = "") -> Any:
    """Return a description with Python's numbers in place of numpy's, and lists in place of arrays but the `values` of one."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and key != "values"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(each, key) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def listed(entry: Any, *keys: str) -> Any:
    """Return a mapping in which a lone number or expression at one of `keys` is a list of one; anything else as it is."""
    if not isinstance(entry, Mapping):
        return entry
    return {**entry, **{key: [entry[key]] for key in keys if isinstance(entry.get(key), int | str)}}


def problem_of(
    error: str, paths: tuple[str, ...], choices: Mapping[str, Collection[str]], fields: Mapping[str, Collection[str]]
) -> tuple[str, str]:
    """Return (path in the description as it was written, what is wrong) for the text of a ValidationError of msgspec.

    `paths` are those of the flattened arguments. `choices` has what may stand at a key, `fields` the keys of a mapping by the
    first word of its path: "" for the description itself.
    """
    found = _PATH.match(error)
    what, path = (found["what"], found["path"] or "") if found else (error, "")
    written = written_path(path, paths)
    if unknown := _UNKNOWN.fullmatch(what):
        known = fields.get(re.split(r"\W", path)[0], ())
        inside = f"{written}.{unknown[1]}".removeprefix(".")
        return inside, f"unknown field `{unknown[1]}`, expected one of {', '.join(known)}{_meant(unknown[1], known)}"
    key = path.rpartition(".")[2]
    if key in choices and (choice := _CHOICE.fullmatch(what)):
        return written, f"{what}, expected one of {', '.join(choices[key])}{_meant(choice[1], choices[key])}"
    return written, what


def _meant(name: str, known: Collection[str]) -> str:
    """Return a question for the one of `known` that `name` is like: a C++ or numpy name of a type, or a slip of the pen."""
    bits = _TYPE_OF_BITS.fullmatch(name.lower())
    like = [f"{bits[1] or _LETTERS[bits[2]]}{bits[3]}"] if bits else []
    like += [numbers[0] for numbers in (numbers_of(name), numbers_of(name.lower())) if numbers]
    like += difflib.get_close_matches(name.lower(), known, n=1)
    return next((f"; did you mean {each}?" for each in like if each in known), "")
