"""Structs of a launch description: their fields are read as arguments, whose names begin with that of the struct."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

KEYS = frozenset(("name", "fields"))
_ARGUMENT = re.compile(r"^arguments\[(\d+)\]")


def flattened(raw: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a description as plain data with the fields of structs among its arguments, `p.n` for field n of p, and the path
    of each argument in the description as it was written.
    """
    if not isinstance(raw.get("arguments"), list | tuple):
        return dict(raw), ()
    placed = [each for i, entry in enumerate(raw["arguments"]) for each in _parts(f"arguments[{i}]", entry)]
    return {**raw, "arguments": [entry for _, entry in placed]}, tuple(path for path, _ in placed)


def written_path(path: str, paths: tuple[str, ...]) -> str:
    """Return a path in the flattened description as one in the description that was written."""
    found = _ARGUMENT.match(path)
    return paths[int(found[1])] + path[found.end() :] if found and int(found[1]) < len(paths) else path


def entry_problems(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (path, what is wrong) for each struct among the arguments that has no such form, and for names with a dot."""
    entries = raw.get("arguments")
    for i, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
        if not isinstance(entry, Mapping):
            continue
        path = f"arguments[{i}]"
        if "." in str(entry.get("name", "")):
            yield f"{path}.name", "a name has letters, digits and _"
        if "fields" in entry:
            yield from _struct_problems(path, entry)


def _struct_problems(path: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in entry.keys() - KEYS:
        yield f"{path}.{key}", f"a struct has a name and fields; {key} belongs to a field"
    if not isinstance(entry.get("name"), str):
        yield path, "a struct needs a name"
    fields = entry["fields"]
    if not isinstance(fields, list | tuple) or not fields:
        yield f"{path}.fields", "expected a list of fields, written as arguments are"
        return
    for j, each in enumerate(fields):
        if not isinstance(each, Mapping) or not isinstance(each.get("name"), str) or "fields" in each or "." in each["name"]:
            yield (
                f"{path}.fields[{j}]",
                "expected a mapping with a name of letters, digits and _, and no fields of its own",
            )


def _parts(path: str, entry: Any) -> list[tuple[str, Any]]:
    fields = entry.get("fields") if isinstance(entry, Mapping) else None
    if not isinstance(fields, list | tuple):
        return [(path, entry)]
    named = (
        {**each, "name": f"{entry.get('name')}.{each.get('name')}"} if isinstance(each, Mapping) else each for each in fields
    )
    return [(f"{path}.fields[{j}]", each) for j, each in enumerate(named)]
