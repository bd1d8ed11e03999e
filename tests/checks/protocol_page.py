"""Writes docs/PROTOCOL.md, the page with every key of protocol.yaml: types and defaults from the schema, words from a table.

`python -m tests.checks.protocol_page` writes the page. `--check` compares it instead and fails when it differs.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import NODEFAULT, Struct, inspect

from expctl.adapters.codec import strict_yaml
from expctl.domain.errors import Refused
from expctl.domain.protocol.inconsistencies import inconsistencies
from expctl.domain.protocol.model import Protocol

ROOT = Path(__file__).parents[2]
PAGE = Path("docs/PROTOCOL.md")
WORDS = Path(__file__).with_name("protocol_keys.yaml")
Words = Mapping[str, Mapping[str, Mapping[str, str]]]
SCALARS: Mapping[type, tuple[str, str]] = {
    inspect.StrType: ("text", "texts"),
    inspect.IntType: ("whole number", "whole numbers"),
    inspect.FloatType: ("number", "numbers"),
    inspect.BoolType: ("true or false", "true or false"),
    inspect.StructType: ("block", "blocks"),
}
EXAMPLE = """\
version: 1
name: dot product of two vectors
scope: [src]
harness: [bench]
decides: [here]
targets:
  here:
    build: {toolchain: command, argv: [cc, -O3, -shared, -fPIC, -o, "{artifact}", src/dot.c], artifact: libdot.so}
    test: {argv: ["{python}", bench/harness.py, "{artifact}"], timeout_s: 60}
    benchmark:
      argv: ["{python}", bench/harness.py, "{artifact}"]
      timeout_s: 600
      style: fine
      iterations: 2
      sizes: [{name: "n=1048576", weight: 1}]
"""
INTRODUCTION = f"""\
# Every key of protocol.yaml

protocol.yaml says what is non-negotiable about measuring a kernel: what a patch may touch, how it is built, tested and timed,
and when it is kept. `expctl init` writes a first one, with comments. A whole one need not be longer than this:

```yaml
{EXAMPLE}```

A run reads the file from the commit that it measures against, never from the work tree: commit an edit, or it doesn't count.
A key that isn't on this page is an error, and so is a value of another type; all mistakes of a file are told together.
Only strict YAML is read: one document, no anchors, no tags, no key twice. A NAME in a heading is a name of your own.

This page is generated: after a change of the schema, put words for the key into `tests/checks/protocol_keys.yaml` and run
`python -m tests.checks.protocol_page`.
"""


def sections(root: type = Protocol) -> dict[type, list[str]]:
    """Each type of the schema, in the order of the file, with the paths under which it stands in protocol.yaml."""
    found: dict[type, list[str]] = {}
    _visit(inspect.type_info(root), "", found)
    return found


def _visit(kind: inspect.Type, path: str, found: dict[type, list[str]]) -> None:
    match kind:
        case inspect.StructType(cls=cls, fields=fields):
            found.setdefault(cls, []).append(path)
            for each in fields:
                _visit(each.type, f"{path}.{each.name}".lstrip("."), found)
        case inspect.VarTupleType(item_type=inner) | inspect.DictType(value_type=inner):
            _visit(inner, f"{path}.NAME" if isinstance(kind, inspect.DictType) else path, found)
        case inspect.UnionType(types=types):
            for option in types:
                _visit(option, path, found)


def type_words(kind: inspect.Type, *, many: bool = False) -> str:
    """The type of a key in words, such as `list of texts`, `numbers by name`, `one of a, b`."""
    match kind:
        case inspect.EnumType(cls=cls):
            return "one of " + ", ".join(f"`{each.value}`" for each in cls)
        case inspect.VarTupleType(item_type=inner):
            return f"{'lists' if many else 'list'} of {type_words(inner, many=True)}"
        case inspect.DictType(value_type=inner):
            return f"{type_words(inner, many=True)} by name"
        case inspect.UnionType(types=types):
            return " or ".join(type_words(each) for each in types if not isinstance(each, inspect.NoneType))
    return SCALARS[type(kind)][many]


def default_words(field: inspect.Field) -> str:
    """The default of a key as it would be typed; `required` where it has none."""
    if field.required:
        return "**required**"
    value = field.default if field.default is not NODEFAULT else field.default_factory()
    match value:
        case None | "" | () | {}:
            return "none"
        case Struct():
            return "as below"
        case bool():
            return "true" if value else "false"
        case tuple():
            return f"`[{', '.join(_typed(each) for each in value)}]`"
        case float():
            return f"{value:g}"
    return f"`{value}`" if isinstance(value, str) else f"{value:_}".replace("_", ",")


def _typed(text: str) -> str:
    return f'"{text}"' if "*" in text else text


def page(words: Words) -> str:
    """The Markdown of docs/PROTOCOL.md: a heading for each block, and a row for each of its keys."""
    lines = [INTRODUCTION]
    for cls, paths in sections().items():
        title = " and ".join(f"`{path}`" for path in paths) if paths != [""] else "The file"
        lines += [f"## {title}", "", "| key | type | default | meaning | example |", "|---|---|---|---|---|"]
        lines += [_row(field, words[cls.__name__][field.name]) for field in _fields(cls)] + [""]
    return "\n".join(lines)


def _fields(cls: type) -> tuple[inspect.Field, ...]:
    kind = inspect.type_info(cls)
    assert isinstance(kind, inspect.StructType)
    return kind.fields


def _row(field: inspect.Field, words: Mapping[str, str]) -> str:
    example = f"`{field.name}: {words['example']}`"
    return f"| {' | '.join((f'`{field.name}`', type_words(field.type), default_words(field), words['says'], example))} |"


def faults(words: Words) -> Iterator[str]:
    """Keys without words, words without a key, and examples that protocol.yaml would refuse."""
    schema = {cls.__name__: cls for cls in sections()}
    yield from (f"{WORDS.name}: {name} is no type of protocol.yaml" for name in words if name not in schema)
    for name, cls in schema.items():
        keys = [field.name for field in _fields(cls)]
        known = words.get(name, {})
        yield from (f"{WORDS.name}: {name}.{key} has no words yet" for key in keys if key not in known)
        yield from (f"{WORDS.name}: {name}.{key} is no key of protocol.yaml" for key in known if key not in keys)
        types = {field.name: field.type for field in msgspec.structs.fields(cls)}
        for key, entry in known.items():
            if key in types:
                yield from _example_faults(f"{name}.{key}", key, types[key], entry["example"])


def _example_faults(where: str, key: str, kind: Any, example: str) -> Iterator[str]:
    alone = msgspec.defstruct("Alone", [(key, kind)], frozen=True, forbid_unknown_fields=True)
    try:
        strict_yaml.load(f"{key}: {example}\n".encode(), alone, where=where)
    except Refused as refusal:
        yield f"{WORDS.name}: the example of {where} is refused: {refusal.found}"


def main(arguments: list[str], root: Path = ROOT, table: Path = WORDS) -> int:
    """Write the page, or with `--check` compare it. Returns the exit status."""
    words: Words = yaml.safe_load(table.read_text("utf-8"))
    problems = [*faults(words), *inconsistencies(strict_yaml.load(EXAMPLE.encode(), Protocol, where=str(PAGE)))]
    file = root / PAGE
    if not problems and "--check" not in arguments:
        file.write_text(page(words), "utf-8")
    if not problems and "--check" in arguments and file.read_text("utf-8") != page(words):
        problems = [f"{PAGE} does not say what the schema says: run python -m tests.checks.protocol_page"]
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
