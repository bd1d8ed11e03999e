"""One table: a config for each bucket of M, read strictly, looked up, and written with one bucket a line.

The first bucket M_LEQ_b, ascending, with M <= b is taken; else the first M_GEQ_b, descending, with M >= b; else `any`. The
value is a config, or "build": the build itself chooses, as it does where there is no table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from expctl.tables.operations import Operation, Settings

ANY, BUILD, MADE_WITH = "any", "build", "made_with"
FACTS = ("compiler", "driver", "device")
BUCKET = re.compile(r"M_(LEQ|GEQ)_([1-9]\d*)")
BYTES_MOST = 1 << 20

Entry = Settings | None
"""A config; None where the build chooses."""


class BadTable(ValueError):
    """A file that is no table, or a folder that is none of tables. The message says what was expected and found, and where."""


class StaleTable(ValueError):
    """A table that was made with another compiler, driver or device than those here. The message says what differs."""


@dataclass(frozen=True, slots=True)
class Table:
    """The buckets of one file, in its order, and what it was made with: `compiler`, `driver`, `device`; {} in the flat form."""

    buckets: Mapping[str, Entry]
    made_with: Mapping[str, str]

    def bucket_of(self, m: int) -> str:
        """Return the name of the bucket of `m` rows."""
        return bucket_of(tuple(self.buckets), m)

    def text(self) -> str:
        """Return the file, with one bucket a line, so that two branches that change one bucket conflict."""
        facts = [f'"{MADE_WITH}": {json.dumps(dict(self.made_with))}'] if self.made_with else []
        lines = [
            *facts,
            *(f'"{name}": {json.dumps(BUILD if entry is None else entry)}' for name, entry in self.buckets.items()),
        ]
        return "{\n  " + ",\n  ".join(lines) + "\n}\n"


def bucket_of(names: Sequence[str], m: int) -> str:
    """Return which of `names`, buckets with `any` among them, holds `m` rows."""
    bounds: dict[str, list[int]] = {"LEQ": [], "GEQ": []}
    for name in names:
        if name != ANY:
            kind, bound = _parts(name)
            bounds[kind].append(bound)
    least = min((bound for bound in bounds["LEQ"] if m <= bound), default=0)
    most = max((bound for bound in bounds["GEQ"] if m >= bound), default=0)
    return f"M_LEQ_{least}" if least else f"M_GEQ_{most}" if most else ANY


def in_order(names: Sequence[str]) -> list[str]:
    """Return buckets in the order in which they are looked up."""
    bounded = [(*_parts(name), name) for name in names if name != ANY]
    least = [name for _, name in sorted((bound, name) for kind, bound, name in bounded if kind == "LEQ")]
    most = [name for _, name in sorted(((bound, name) for kind, bound, name in bounded if kind == "GEQ"), reverse=True)]
    return [*least, *most, ANY]


def parse(raw: bytes, where: str, operation: Operation | None, *, flat: bool = False) -> Table:
    """Read a table; `where` names the file in messages, `operation` (None: unknown) says which settings a config has.

    With `flat` it is of the older form, which doesn't say what it was made with. Raises BadTable.
    """
    found = _object(raw, where)
    made_with = found.pop(MADE_WITH, {} if flat else None)
    if not flat:
        _check_facts(made_with, where)
    elif made_with:
        raise _bad(where, "a table of the older form, without made_with", "one")
    for name in found:
        if name != ANY and not BUCKET.fullmatch(name):
            raise _bad(where, f"the keys {MADE_WITH}, M_LEQ_<b>, M_GEQ_<b> and {ANY}, b a number from 1", repr(name))
    if ANY not in found:
        raise _bad(where, f"a bucket {ANY!r}, for every M that no other bucket holds", "none")
    for name in found:
        if not _is_reached(name, tuple(found)):
            raise _bad(where, "buckets that are all reached", f"{name}, which no M reaches")
    return Table({name: _entry(value, f"{where}, {name}", operation) for name, value in found.items()}, made_with)


def differences(table: Table, here: Mapping[str, str]) -> list[str]:
    """Return what a table was made with that differs from the facts known `here`, one sentence each."""
    known = {name: here[name] for name in FACTS if name in here and name in table.made_with}
    return [
        f"{name}: made with {table.made_with[name] or 'none'}, here {value or 'none'}"
        for name, value in known.items()
        if table.made_with[name] != value
    ]


def _parts(name: str) -> tuple[str, int]:
    _, kind, bound = name.split("_")
    return kind, int(bound)


def _is_reached(name: str, names: Sequence[str]) -> bool:
    if name == ANY:
        return True  # it has to be there, whether or not the others leave something
    return bucket_of(names, _parts(name)[1]) == name or any(
        bucket_of(names, _parts(each)[1] + 1) == name for each in names if each != ANY
    )


def _object(raw: bytes, where: str) -> dict[str, Any]:
    if len(raw) > BYTES_MOST:
        raise _bad(where, f"at most {BYTES_MOST} bytes", str(len(raw)))

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise _bad(where, "each key once", f"{twice!r} twice")
        return dict(pairs)

    def not_json(word: str) -> None:
        raise _bad(where, "JSON", word)

    try:
        found = json.loads(raw.decode(), object_pairs_hook=unique, parse_constant=not_json)
    except UnicodeDecodeError as error:
        raise _bad(where, "UTF-8", str(error)) from error
    except BadTable:
        raise
    except (ValueError, RecursionError) as error:
        raise _bad(where, "JSON", str(error) or "too many brackets") from error
    if not isinstance(found, dict):
        raise _bad(where, "a JSON object", type(found).__name__)
    return found


def _check_facts(made_with: object, where: str) -> None:
    if not isinstance(made_with, dict) or tuple(made_with) != FACTS:
        raise _bad(where, f"{MADE_WITH} with {', '.join(FACTS)}", repr(made_with))
    for name, value in made_with.items():
        if not isinstance(value, str):
            raise _bad(f"{where}, {MADE_WITH}, {name}", 'a text, "" for none', repr(value))


def _entry(value: object, where: str, operation: Operation | None) -> Entry:
    if value == BUILD:
        return None
    if not isinstance(value, dict) or (operation is None and not value):
        raise _bad(where, f"a config, or {BUILD!r}", repr(value))
    if operation is None:
        for name, each in value.items():
            if not isinstance(each, int | str | None):
                raise _bad(f"{where}, {name}", "a whole number, a text or null", repr(each))
        return value
    unknown = [name for name in value if name not in operation.parameters]
    missing = [name for name in operation.parameters if name not in value]
    if unknown or missing:
        found = [*(f"{name} unknown" for name in unknown), *(f"{name} missing" for name in missing)]
        raise _bad(where, f"a config of {', '.join(operation.parameters)}", ", ".join(found))
    for name, each in value.items():
        if type(each) is not int or each < 1:
            raise _bad(f"{where}, {name}", "a whole number from 1", repr(each))
    settings = {name: value[name] for name in operation.parameters}
    if fault := operation.fault(settings):
        raise _bad(where, "a config that can be built", fault)
    return settings


def _bad(where: str, expected: str, found: str) -> BadTable:
    return BadTable(f"{where}: expected {expected}, found {found}")
