"""Parse a strict subset of YAML: one document of mappings, lists and text; no tags, anchors, aliases or duplicate keys."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from expctl.adapters.codec.decode import Problems, Scalar, decode
from expctl.domain.errors import Refused

if TYPE_CHECKING:
    from yaml import Node

BYTES_MAX = 256_000
DEPTH_MAX = 12
NO_TEXT = re.compile("[\x00\ud800-\udfff]")  # what argv and files can't hold

T = TypeVar("T")


def load(text: bytes, wanted: type[T], *, where: str) -> T:
    """Parse the YAML document `text` into `wanted`. Raises Refused with every problem; `where` names the file."""
    problems = Problems()
    value = decode(_plain(text, where), wanted, problems)
    if problems.found:
        raise _refusal(where, problems.found)
    return value  # type: ignore[no-any-return]


def _plain(text: bytes, where: str) -> Any:
    import yaml

    if len(text) > BYTES_MAX:
        raise _refusal(where, [f"expected at most {BYTES_MAX} bytes, found {len(text)}"])
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        decoded = text.decode("utf-8")
        documents = depth = 0
        for event in yaml.parse(decoded, Loader=loader):
            documents += isinstance(event, yaml.DocumentStartEvent)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            _check_event(event, documents, depth, where)
        node = yaml.compose(decoded, Loader=loader)
    except UnicodeDecodeError as error:
        raise _refusal(where, [f"expected UTF-8, found byte {text[error.start]:#04x} at {error.start}"]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise _refusal(where, [f"not YAML: {' '.join(str(error).split())[:300]}"]) from error
    return None if node is None else _convert(node, where)


def _check_event(event: Any, documents: int, depth: int, where: str) -> None:
    """Raise Refused if a YAML event has a tag, anchor or alias, is nested too deep, or begins a second document."""
    import yaml

    line = event.start_mark.line + 1
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise _refusal(where, [f"line {line}: anchors and aliases are not allowed"])
    if getattr(event, "tag", None):
        raise _refusal(where, [f"line {line}: the tag {event.tag!r} is not allowed"])
    if documents > 1:
        raise _refusal(where, [f"line {line}: expected one document, found a second"])
    if depth > DEPTH_MAX:
        raise _refusal(where, [f"line {line}: nested too deep, expected at most {DEPTH_MAX} levels"])


def _convert(node: "Node", where: str) -> Any:
    import yaml

    line = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        return Scalar(_text(node.value, line, where), line, node.style in (None, ""))
    if isinstance(node, yaml.SequenceNode):
        return [_convert(item, where) for item in node.value]
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _refusal(where, [f"line {key.start_mark.line + 1}: expected a word as key"])
        if key.value in mapping:
            raise _refusal(where, [f"line {key.start_mark.line + 1}: the key {key.value!r} appears twice"])
        mapping[_text(key.value, line, where)] = _convert(value, where)
    return mapping


def _text(text: str, line: int, where: str) -> str:
    if NO_TEXT.search(text):
        raise _refusal(where, [f"line {line}: expected text, found a NUL or half of a surrogate pair"])
    return text


def contradiction(where: str, faults: Iterable[str]) -> Refused:
    """Return the error for the file `where`, which parses but has forbidden values; `faults` has a line for each."""
    return Refused(
        f"{where} has values that are wrong or contradict each other",
        code="file-contradicts-itself",
        found="\n".join(faults),
        where=where,
        hint=f"edit {where} and commit it",
    )


def _refusal(where: str, problems: list[str]) -> Refused:
    return Refused(
        f"{where} has {len(problems)} problem{'s' if len(problems) > 1 else ''}",
        code="file-has-problems",
        found="\n".join(problems),
        where=where,
        hint=f"edit {where} and commit it",
    )
