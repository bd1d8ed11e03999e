"""Reads and replaces the values of named constants in a source text. Pure."""

import itertools
import re
from collections.abc import Iterator, Mapping

from expctl.domain.protocol.proposer import Sweep

Combination = Mapping[str, str]
# Definitions of a constant: a C macro, a statement up to `;`, a line of Python or YAML-like text.
FORMS = (
    r"^(?P<before>[ \t]*#[ \t]*define[ \t]+{name}[ \t]+)(?P<value>\S.*?)(?P<after>[ \t]*(?://.*|/\*.*)?)$",
    r"^(?P<before>[^\n;=/#]*\b{name}[ \t]*(?:\[\w*\][ \t]*)?=(?!=)[ \t]*)(?P<value>[^;\n]*?)(?P<after>[ \t]*;[^\n]*)$",
    r"^(?P<before>[ \t]*{name}[ \t]*(?::[^=\n]*)?=(?!=)[ \t]*)(?P<value>[^#;\n]+?)(?P<after>[ \t]*(?:\#[^\n]*)?)$",
)


class NotAConstant(ValueError):
    """Raised for a constant that isn't defined in exactly one line of the file. The message says in how many lines it is."""


def combinations(sweep: Sweep) -> Iterator[Combination]:
    """Yield every combination of values to try, as a mapping from name to value; the last name varies fastest."""
    if sweep.tuples:
        yield from sweep.tuples
        return
    for values in itertools.product(*sweep.constants.values()):
        yield dict(zip(sweep.constants, values, strict=True))


def with_values(text: str, combination: Combination) -> str:
    """Return `text` with the values of `combination` (name -> value). Raises NotAConstant for one not defined in exactly one
    line.
    """
    for name, value in combination.items():
        match = _definition(text, name)
        text = text[: match.start("value")] + value + text[match.end("value") :]
    return text


def values_in(text: str, names: Iterator[str] | tuple[str, ...]) -> Combination:
    """Return the values of the constants `names` in `text`. Raises NotAConstant if one isn't defined in exactly one line."""
    return {name: _definition(text, name)["value"] for name in names}


def words_of(combination: Combination) -> str:
    """Return values of constants as text, e.g. `TILE=64, STAGES=2`."""
    return ", ".join(f"{name}={value}" for name, value in combination.items())


def _definition(text: str, name: str) -> re.Match[str]:
    for form in FORMS:
        found = list(re.finditer(form.format(name=re.escape(name)), text, re.MULTILINE))
        if len(found) == 1:
            return found[0]
        if found:
            raise NotAConstant(f"{name} is defined in {len(found)} lines, expected one")
    raise NotAConstant(f"{name} is defined nowhere: expected a line like `#define {name} 4` or `{name} = 4`")
