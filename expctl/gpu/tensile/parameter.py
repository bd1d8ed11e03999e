"""Describe what one key of a Tensile name means.

A key consists of the capitals of a parameter's name: PrefetchGlobalRead is PGR. Tensile keeps digits (1LDSBuffer is 1LDSB),
TensileLite doesn't (LDSB). Source of keys and parameters: the tables that both generators print, ROCm 6.2 to 7.1; the meanings
are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

ON_OFF = {"0": "off", "1": "on"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of the Tensile generators; `words` explains values by their text in a kernel name.

    Only a value listed in `words` may be letters or empty; any other value must be a number.
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
    """Return key in kernel names -> Tensile parameter for several tensors: `{}` in `key`, `name` and `meaning` is the tensor.

    `sides` maps the tensor's part of the name, such as `A`, to its words in the meaning.
    """
    return {key.format(_capitals(side)): param(name.format(side), meaning.format(what), words) for side, what in sides.items()}


def _capitals(text: str) -> str:
    return "".join(letter for letter in text if letter.isupper())
