"""What the functions of a module of LLVM IR compute, each looked up where it was kept before it is read."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import NamedTuple

from expctl.files.cache_folder import CacheFolder
from expctl.inspection.readers.llvm_meaning import FunctionReader
from expctl.inspection.readers.llvm_module import Surroundings
from expctl.inspection.readers.llvm_sums import digest, is_digest
from expctl.inspection.readers.llvm_text import NAME, Function, Module

COUNT_MOST = 1 << 53
_PURE_GROUP = re.compile(r"^attributes #(\d+) = \{.*memory\(none\)", re.MULTILINE)
_CALLED = re.compile(rf"@({NAME})\(")
_DECLARED = re.compile(rf"^declare .*?@({NAME})\(.*?#(\d+)$", re.MULTILINE)


class Meaning(NamedTuple):
    """What a function computes: `whole` is equal for functions that do the same, `parts` counts its instructions by kind and
    constants. `key` is its name, or `whole` for one of many that templates make: its name is that of its template.
    """

    name: str
    key: str
    whole: str
    parts: Mapping[str, int]


def pure_functions(text: str) -> frozenset[str]:
    """Return the functions that a module declares to neither read nor write memory."""
    groups = {match[1] for match in _PURE_GROUP.finditer(text)}
    return frozenset(match[1].strip('"') for match in _DECLARED.finditer(text) if match[2] in groups)


def meanings(module: Module, pure: frozenset[str], kept: CacheFolder | None = None) -> tuple[Meaning, ...]:
    """Return what each function does that other files may call; of CUDA's device code each kernel: nothing else is called.
    What a function does is looked up in `kept` first, and put there. Most are the same in several versions of a source, which
    are often read at the same time: each process goes through them in another order, so that one finds what others have done.
    """
    functions = {each.name: each for each in module.functions}
    kernels = [each for each in module.functions if "ptx_kernel" in each.head]
    seen = kernels or [each for each in module.functions if each.is_seen]
    found: dict[str, Meaning] = {}

    def meaning(name: str) -> str:
        if name not in found:
            each = functions[name]
            found[name] = Meaning(name, name, "itself", {})  # where it calls itself
            asked = _asked(around, each) if kept is not None else ""
            held = _as_read(kept.get(asked)) if kept is not None else None
            whole, parts = held if held is not None else FunctionReader(around, each).read()
            if kept is not None and held is None:
                kept.put(asked, json.dumps((whole, parts)).encode())
            found[name] = Meaning(name, name if each.is_named else whole, whole, parts)
        return found[name].whole

    around = Surroundings(module, pure, meaning)
    for each in random.sample(seen, len(seen)):
        meaning(each.name)
    return tuple(found[each.name] for each in seen)


def _as_read(kept: bytes | None) -> tuple[str, Mapping[str, int]] | None:
    """Return what was kept of a function; None if there is nothing, or something else."""
    try:
        whole, parts = json.loads(kept or b"0")
        sound = is_digest(whole) and all(type(each) is int and 0 <= each < COUNT_MOST for each in parts.values())
        "".join(parts).encode()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return (whole, parts) if sound else None


def _asked(around: Surroundings, function: Function) -> str:
    """Return a hash of all that a function's meaning is read from: its text, with globals and types as what they hold."""
    texts = [each.text for block in function.blocks for each in block.body]
    lines = [f"{block.label} {each.result} {around.spelt(each.text)}" for block in function.blocks for each in block.body]
    kinds = [f"{name} {around.spelt(kind)}" for name, kind in function.parameters]
    pure = sorted(around.pure & {name.strip('"') for text in texts if "@" in text for name in _CALLED.findall(text)})
    facts = (str(around.is_ptx), *sorted(function.constants))
    return digest(function.head, *function.attributes, *facts, *kinds, *lines, *pure)
