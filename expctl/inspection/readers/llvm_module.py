"""What surrounds a function of LLVM IR: types with their layout, and globals as what they hold, whatever their names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache

from expctl.inspection.readers.llvm_sums import digest
from expctl.inspection.readers.llvm_text import NAME, Module, split_list

_GLOBAL = re.compile(rf"@({NAME})")
_NAMED_TYPE = re.compile(r'%(?:"[^"]*"|[A-Za-z_][\w.$-]*)')
_INT = re.compile(r"i(\d+)$")
SIZES = {"float": 4, "double": 8, "half": 2, "bfloat": 2}


class Surroundings:
    """Types and globals of one module. `meaning` returns the hash of what a function does; `pure` are functions that neither
    read nor write memory.
    """

    def __init__(self, module: Module, pure: frozenset[str], meaning: Callable[[str], str]) -> None:
        self._module = module
        self._meaning = meaning
        self.pure = pure
        self.is_ptx = module.is_ptx
        self._functions = {each.name: each for each in module.functions}
        self._types: dict[str, str] = {}
        self._globals: dict[str, str] = {}
        self._users: dict[str, set[int]] = defaultdict(set)
        self._sizes: dict[str, tuple[int, int]] = {}

    def of_global(self, name: str) -> str:
        """Return the hash of what a variable is, with the name by which other files see it, if they do; of a function that
        name, else its hash. No other file calls a function of CUDA's device code.
        """
        name = name.strip('"')
        if name in self._globals:
            return self._globals[name]
        if name in self._functions:
            is_named = self._functions[name].is_named and not self.is_ptx
            return name if is_named else self._meaning(name)
        text = self._module.variables.get(name)
        if text is None:
            return name
        own = any(word in text for word in ("internal", "private", "linkonce"))
        self._globals[name] = "itself"
        self._globals[name] = digest("variable", self._place(name, text) if own else name, self.spelt(text))
        return self._globals[name]

    def _place(self, name: str, text: str) -> str:
        """Return how many variables that look like one stand before it, of those that a function uses beside it; "" for none,
        or for what nobody writes.
        """
        alike = [each for each, other in self._module.variables.items() if other == text] if " global " in text else []
        if len(alike) < 2:
            return ""
        if not self._users:
            for at, function in enumerate(self._module.functions):
                for used in _GLOBAL.findall("\n".join(each.text for block in function.blocks for each in block.body)):
                    self._users[used.strip('"')].add(at)
        return "+" * sum(bool(self._users[each] & self._users[name]) for each in alike[: alike.index(name)])

    def spelt(self, text: str) -> str:
        """Return `text` with globals as what they hold, and named types as what they are made of."""
        if "@" in text:
            parts = _at_globals(text)
            text = "".join([self.of_global(part) if at & 1 else part for at, part in enumerate(parts)])
        if "%" in text:
            text = _NAMED_TYPE.sub(lambda match: self.type(match[0]), text)
        return text

    def type(self, name: str) -> str:
        """Return what a named type is made of."""
        if name not in self._types:
            self._types[name] = name
            made = self._module.types.get(name, name)
            self._types[name] = _NAMED_TYPE.sub(lambda match: self.type(match[0]), made) if made != name else name
        return self._types[name]

    def size(self, kind: str) -> tuple[int, int]:
        """Return size and alignment of a type in bytes; (0, 0) where we can't tell."""
        if kind not in self._sizes:
            self._sizes[kind] = self._size(kind.strip())
        return self._sizes[kind]

    def _size(self, kind: str) -> tuple[int, int]:
        if kind.startswith("%"):
            return self.size(self.type(kind))
        if kind.startswith("ptr"):
            return (4, 4) if "(3)" in kind or "(5)" in kind else (8, 8)
        simple = SIZES.get(kind)
        if simple:
            return simple, simple
        match = _INT.match(kind)
        if match:
            found = max(1, 1 << (max(int(match[1]) - 1, 0) // 8).bit_length())
            return found, found
        if kind.startswith(("[", "<")) and " x " in kind and not kind.startswith("<{"):
            count, _, inner = kind[1:-1].partition(" x ")
            size, align = self.size(inner)
            return size * int(count), (size * int(count) if kind[0] == "<" else align)
        packed = kind.startswith("<{")
        if kind.startswith(("{", "<{")):
            at, most = 0, 1
            for each in split_list(kind.strip("<>")[1:-1]):
                size, align = self.size(each)
                align = 1 if packed else max(align, 1)
                at, most = (at + align - 1) // align * align + size, max(most, align)
            return (at + most - 1) // most * most, most
        return 0, 0

    def member(self, kind: str, index: int) -> tuple[str, int]:
        """Return type and offset of a member of a structure."""
        kind = self.type(kind) if kind.startswith("%") else kind
        packed, at = kind.startswith("<{"), 0
        for place, each in enumerate(split_list(kind.strip("<>").strip()[1:-1])):
            size, align = self.size(each)
            align = 1 if packed else max(align, 1)
            at = (at + align - 1) // align * align
            if place == index:
                return each, at
            at += size
        raise ValueError(f"{kind} has no member {index}")


@cache
def _at_globals(text: str) -> Sequence[str]:
    """Split a text at the names of globals, which are every second part."""
    return _GLOBAL.split(text)
