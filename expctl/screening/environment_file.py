"""A JSON object that says where results were measured: versions, commits, switches. Flat or nested."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.files import user_file
from expctl.files.strict_json import no_constant, once

BYTES_MAX = 1_000_000


def environment_of(path: Path) -> dict[str, str]:
    """Its values as text by key, nested keys joined with dots, lists as JSON. Raises Refused when it is no such file."""
    raw = user_file.contents(path, "the environment", bytes_max=BYTES_MAX)
    try:
        value = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=once, parse_constant=no_constant)
        flat = once(list(_leaves(value))) if isinstance(value, dict) else None
    except (ValueError, RecursionError) as error:
        raise _refusal(str(error), path) from error
    if flat is None:
        raise _refusal("a list" if isinstance(value, list) else f"only {json.dumps(value)[:60]}", path)
    return flat


def _refusal(found: str, path: Path) -> Refused:
    return Refused(
        "the environment cannot be read",
        code="environment-unreadable",
        expected='a JSON object, such as {"triton_version": "3.7.0"}',
        found=found,
        where=str(path),
        hint="mend the file, or leave the option out",
    )


def _leaves(mapping: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in mapping.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            # A lone surrogate can be written in JSON but not printed.
            yield _printable(prefix + key), _printable(text)


def _printable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
