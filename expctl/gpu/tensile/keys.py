"""Parse the keys of a Tensile kernel name, each a parameter and its value: `PGR1`, `WG32_4_1`, `GRPM0p20`, `USFGROn1`, `KLA`.

A value is written with 1 and 0 for true and false, n1 for -1, 1p25 for 1.25, `_` between list items, and a word's capitals
for the word. So a token that is only a number is a further list item of the key before it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from expctl.gpu.tensile.load_keys import LOAD_KEYS
from expctl.gpu.tensile.parameter import Parameter, param
from expctl.gpu.tensile.schedule_keys import SCHEDULE_KEYS
from expctl.gpu.tensile.store_keys import STORE_KEYS
from expctl.gpu.tensile.tile_keys import TILE_KEYS

KEYS: dict[str, Parameter] = TILE_KEYS | LOAD_KEYS | STORE_KEYS | SCHEDULE_KEYS
# Names of 2018 have separate keys for M and N.
FIRST_KEYS: dict[str, Parameter] = KEYS | {
    "MT0": param("MacroTile0", "rows of C that a workgroup computes"),
    "MT1": param("MacroTile1", "columns of C that a workgroup computes"),
    "TT0": param("ThreadTile0", "rows of C per thread"),
    "TT1": param("ThreadTile1", "columns of C per thread"),
    "WG0": param("WorkGroup0", "threads in M"),
    "WG1": param("WorkGroup1", "threads in N"),
    "TTE": param("ThreadTileEdge", "rows and columns of C per thread, before its shape"),
    "WGE": param("WorkGroupEdge", "threads in M and in N, before its shape"),
    "E0": param("Edge0", "the rim of C in M is handled"),
    "E1": param("Edge1", "the rim of C in N is handled"),
}
LONGEST = max(map(len, FIRST_KEYS))
# TensileLite drops digits: AssertFree0... and AssertFree1... share a key, of which the second occurrence is AssertFree1.
SECOND = {"AFEM": param("AssertFree1ElementMultiple", "N is a multiple of this", {"1": "any"})}

NUMBER = re.compile(r"n?\d+", re.ASCII)
DECIMAL = re.compile(r"(\d+)p(\d\d)", re.ASCII)
INSTRUCTION_SET = re.compile(r"\d{2,3}[0-9a-f]", re.ASCII)
LETTERS = re.compile(r"([A-Z]+)", re.ASCII)

Value = int | float | str | tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of a Tensile kernel name, with its value; `parameter` is "" if no generator has such a key. `token` is the key
    with its value, as written. `value` is a number, a list of numbers (perhaps empty), or a word's capitals.
    """

    token: str
    key: str
    parameter: str
    value: Value
    meaning: str

    @property
    def known(self) -> bool:
        """Return whether a generator of Tensile kernels uses this key."""
        return bool(self.parameter)


def read_keys(tokens: Iterable[str], table: Mapping[str, Parameter] = KEYS) -> tuple[Key, ...]:
    """Return the keys in `tokens` (parts of a kernel name between underscores), in order. A number continues the list of the
    key before it. Other text that is no key of `table` becomes a Key without a parameter.
    """
    found: list[Key] = []
    for token in tokens:
        if NUMBER.fullmatch(token) and found and _continues(found[-1]):
            found[-1] = _with_item(found[-1], token, table)
        else:
            found.append(_read(token, table))
    seen: set[str] = set()
    for index, key in enumerate(found):
        if key.key in seen and key.key in SECOND:
            found[index] = replace(key, parameter=SECOND[key.key].name, meaning=_meaning(SECOND[key.key], key.token, key.key))
        seen.add(key.key)
    return tuple(found)


def unknown(token: str) -> Key:
    """Return a Key without a parameter, for a token of a kernel name that is no key of any generator."""
    return Key(token=token, key=token, parameter="", value="", meaning="unknown")


def _read(token: str, table: Mapping[str, Parameter]) -> Key:
    """Parse one token of a kernel name, e.g. `PGR1`, as the longest key of `table` after which a valid value remains."""
    if token in ("MAC", "MAD", "FMA"):
        parameter = table["MAC"]
        return Key(
            token=token, key="MAC", parameter=parameter.name, value=token, meaning=_meaning(parameter, f"MAC{token}", "MAC")
        )
    for length in range(min(len(token), LONGEST), 0, -1):
        parameter_or_none = table.get(token[:length])
        if parameter_or_none is None:
            continue
        value = _value(token[length:], parameter_or_none)
        if value is not None:
            key = token[:length]
            meaning = _meaning(parameter_or_none, token, key)
            return Key(token=token, key=key, parameter=parameter_or_none.name, value=value, meaning=meaning)
    letters = LETTERS.match(token)
    return unknown(token) if letters is None else replace(unknown(token), key=letters[1])


def _value(text: str, parameter: Parameter) -> Value | None:
    if parameter.name == "ISA":
        return text if INSTRUCTION_SET.fullmatch(text) else None
    if NUMBER.fullmatch(text):
        return number(text)
    decimal = DECIMAL.fullmatch(text)
    if decimal is not None:
        return int(decimal[1]) + int(decimal[2]) / 100
    if text in parameter.words:
        return text if text else ()
    return None


def number(text: str) -> int:
    """Return the integer of a key's value, e.g. 16 for `16` and -1 for `n1`."""
    return -int(text[1:]) if text.startswith("n") else int(text)


def _continues(key: Key) -> bool:
    return key.known and isinstance(key.value, int | tuple) and key.value != ()


def _with_item(key: Key, token: str, table: Mapping[str, Parameter]) -> Key:
    before = key.value if isinstance(key.value, tuple) else (key.value,)
    whole = f"{key.token}_{token}"
    value = (*(int(each) for each in before), number(token))
    return replace(key, token=whole, value=value, meaning=_meaning(table[key.key], whole, key.key))


def _meaning(parameter: Parameter, token: str, key: str) -> str:
    text = token[len(key) :]
    word = parameter.words.get(text) or (f"gfx{text}" if parameter.name == "ISA" else "")
    return f"{parameter.meaning}: {word}" if word else parameter.meaning
