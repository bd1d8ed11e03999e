"""What one key of a Tensile name stands for.

A key is made of the capitals of a parameter's name: PrefetchGlobalRead is PGR. Tensile keeps digits (1LDSBuffer is 1LDSB),
TensileLite doesn't (LDSB). Source of keys and parameters: the tables of both generators as printed by them, ROCm 6.2 to 7.1;
the meanings are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

ON_OFF = {"0": "off", "1": "on"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """`words` explains single values, by the text in the name. Only a value found there may be letters or nothing."""

    name: str
    meaning: str
    words: Mapping[str, str] = field(default_factory=dict)


def of(name: str, meaning: str, words: Mapping[str, str] | None = None) -> Parameter:
    """A parameter; with no `words` its value is a number."""
    return Parameter(name=name, meaning=meaning, words=words or {})


def switch(name: str, meaning: str) -> Parameter:
    """A parameter that is on or off."""
    return of(name, meaning, ON_OFF)


def each(
    key: str, name: str, meaning: str, sides: Mapping[str, str], words: Mapping[str, str] | None = None
) -> dict[str, Parameter]:
    """One parameter per side, which `sides` gives as its part of the parameter's name, and what to call it in the meaning."""
    return {key.format(_capitals(side)): of(name.format(side), meaning.format(what), words) for side, what in sides.items()}


def _capitals(text: str) -> str:
    return "".join(letter for letter in text if letter.isupper())
