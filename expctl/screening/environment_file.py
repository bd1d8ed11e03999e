"""Read a JSON file that describes where results were measured: versions, commits, switches."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.files import user_file
from expctl.files.parse_json import once, parse_json

BYTES_MAX = 1_000_000


def environment_of(path: Path) -> dict[str, str]:
    """Return key -> value as text for a JSON object in a file. Keys of nested objects are joined with dots; lists stay JSON
    text. Raises Refused for a file that can't be read or is no JSON object, and for a key that appears twice.
    """
    raw = user_file.contents(path, "the environment", bytes_max=BYTES_MAX)
    try:
        value = parse_json(raw.decode("utf-8-sig"))
        flat = once(list(_leaves(value))) if isinstance(value, dict) else None
    except ValueError as error:
        raise _refusal(str(error), path) from error
    if flat is None:
        raise _refusal("a list" if isinstance(value, list) else f"only {json.dumps(value)[:60]}", path)
    return flat


def _refusal(found: str, path: Path) -> Refused:
    return Refused(
        "the file that describes the environment can't be read",
        code="environment-unreadable",
        expected='a JSON object, such as {"triton_version": "3.7.0"}',
        found=found,
        where=str(path),
        hint="correct the file, or leave the option out",
    )


def _leaves(mapping: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in mapping.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            # JSON can contain a lone surrogate, which can't be printed.
            yield _printable(prefix + key), _printable(text)


def _printable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
