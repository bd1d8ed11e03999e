"""Describe what one key of a Tensile name means.

A key consists of the capitals of a parameter's name: PrefetchGlobalRead is PGR. Tensile keeps digits (1LDSBuffer is 1LDSB),
TensileLite doesn't (LDSB). Keys and parameters are from tables that both generators print (ROCm 6.2 to 7.1); the meanings were
written for expctl.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

ON_OFF = {"0": "off", "1": "on"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of the Tensile generators; `words` maps a value, as a kernel name writes it, to its meaning. A value that is
    text or empty must be listed in `words`; any other value must be a number.
    """

    name: str
    meaning: str
    words: Mapping[str, str] = field(default_factory=dict)


def param(name: str, meaning: str, words: Mapping[str, str] | None = None) -> Parameter:
    """Return the Tensile parameter `name` with its meaning; without `words`, its value must be a number."""
    return Parameter(name=name, meaning=meaning, words=words or {})


def switch(name: str, meaning: str) -> Parameter:
    """Return a Tensile parameter that is on or off."""
    return param(name, meaning, ON_OFF)


def per_side(
    key: str, name: str, meaning: str, sides: Mapping[str, str], words: Mapping[str, str] | None = None
) -> dict[str, Parameter]:
    """Return a parameter for each tensor in `sides`, by its key in kernel names, e.g. for A and for B.

    `sides` maps what a parameter's name calls the tensor, such as `A`, to words for it. The former replaces `{}` in `name` (in
    `key` only its capitals), the latter replaces `{}` in `meaning`.
    """
    return {key.format(_capitals(side)): param(name.format(side), meaning.format(what), words) for side, what in sides.items()}


def _capitals(text: str) -> str:
    return "".join(letter for letter in text if letter.isupper())
