"""Parse the YAML in which clang writes metadata: maps, lists and text, without tags, aliases and deep nesting.

It builds the values from YAML events: the YAML package's own loaders recurse without a limit, and raise odd exceptions for
damaged values.
"""

from typing import Any

DEPTH_MAX = 32


class BadMetadata(Exception):
    """The metadata is no YAML, or uses YAML features that clang doesn't."""


def load(text: str) -> Any:
    """Parse AMDGPU metadata, written as YAML, into dicts, lists and strings; None for an empty text. Raises BadMetadata."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    root: list[Any] = []
    stack: list[list[Any]] = [root]  # open collections; in a map, keys and values alternate
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise BadMetadata("an alias")
            if isinstance(event, yaml.ScalarEvent):
                stack[-1].append(event.value)
            elif isinstance(event, yaml.CollectionStartEvent):
                stack.append([])
                if len(stack) > DEPTH_MAX:
                    raise BadMetadata(f"nested deeper than {DEPTH_MAX}")
            elif isinstance(event, yaml.CollectionEndEvent):
                items = stack.pop()
                stack[-1].append(_map(items) if isinstance(event, yaml.MappingEndEvent) else items)
            elif isinstance(event, yaml.DocumentEndEvent):
                break
    except UnicodeEncodeError as error:  # the file's reader decoded bad bytes to surrogates
        raise BadMetadata("bytes that are not UTF-8") from error
    except yaml.YAMLError as error:
        raise BadMetadata(str(error)) from error
    return root[0] if root else None


def _map(items: list[Any]) -> dict[str, Any]:
    keys = items[::2]
    if any(not isinstance(key, str) for key in keys):
        raise BadMetadata("a key that is no text")
    return dict(zip(keys, items[1::2], strict=True))
