"""Take a module of LLVM IR of CUDA's device code apart, before optimisation: a module for each kernel, with all that it uses.

Kernels don't call each other, so each is optimised by itself: several at a time, and none that was optimised before. What
doesn't reach machine code is left out or numbered, names of functions that nobody else can call included. So the text of a
kernel is the same for as long as its sources make the same of it, whatever else the file holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from expctl.inspection.readers.llvm_text import NAME

_ITEM = re.compile(rf"^(?:(?:define|declare)\b[^@]*(@{NAME})\(|([@%]{NAME}) = |attributes (#\d+) = |(!\d+) = |(![\w.]+) = )")
_TOKEN = re.compile(r'([@$%](?:"[^"]*"|[\w.$-]+)|#\d+|!\d+|c?"[^"]*")')
_STRING = r'"[^"]*"'
_PLACE = re.compile(rf"{_STRING}|,? !srcloc !\d+")
_HEADER = ("target ",)
_SILENT = (";", "source_filename", "$", "}")
_GROUP = re.compile(rf"{_STRING}|,? comdat(?:\(\${NAME}\))?(?=[ ,]|$)")
_STATE = re.compile(r"^@.* = .*\b(?:internal|private)\b(?!.*\baddrspace\(3\)).* global ", re.DOTALL)
_OWN = re.compile(r" (?:internal|private|linkonce_odr|linkonce) ")
_WHOLE = re.compile(r"^@[^=]* = [^\"]*\b(?:appending|alias|ifunc)\b", re.MULTILINE)
_LITERAL = re.compile(r"L[a-z]n?\d+E")
_LENGTH = re.compile(r"\d+")
KERNEL = " ptx_kernel "
_LOCAL_NAME = re.compile(r"^(?:  %([A-Za-z.][\w.$-]*) = |([A-Za-z.][\w.$-]*):)", re.MULTILINE)
_LOCAL_USE = re.compile(r'"[^"]*"|%([A-Za-z.][\w.$-]*)|^([A-Za-z.][\w.$-]*):', re.MULTILINE)
FIRST_NUMBER = 1_000_000
"""Of values that had a name: more than a function has."""


class _Item(NamedTuple):
    """What stands at the top of a module: its text, split so that every second part is a name, and the names of others."""

    name: str
    parts: Sequence[str]
    used: tuple[str, ...]

    @property
    def head(self) -> str:
        return self.parts[0] + "".join(self.parts[1:3])


class Kernel(NamedTuple):
    """A module with one kernel alone; its `kind` are the functions that it is made of, parameters of templates left out."""

    text: str
    kind: frozenset[str]
    state: frozenset[str]
    """Variables that no other file sees, but for shared memory, which each launch has anew."""


def kernel_modules(text: str) -> Mapping[str, Kernel]:
    """Return kernel -> the module with that kernel alone. Empty where nothing is to be gained, or a module holds more
    than functions and variables (assembly, aliases, lists of what must be kept), or two kernels share a variable that nobody
    else sees, which each alone would have for itself: such a one is optimised as a whole.
    """
    if KERNEL not in text or _WHOLE.search(text):
        return {}
    read = _read(_without(_PLACE, text))
    if read is None:
        return {}
    items = read[0]
    kernels = [each.name for each in items.values() if each.parts[0].startswith("define") and KERNEL in each.head]
    made = {name: _module(name, *read) for name in kernels}
    users = Counter(name for each in made.values() for name in each.state)
    is_apart = all(each.text.count(KERNEL) == 1 for each in made.values()) and all(count == 1 for count in users.values())
    return made if is_apart else {}


def one_of_each_kind(modules: Mapping[str, Kernel]) -> Sequence[str]:
    """Return the kernel of each kind that has the shortest text, but for kinds that are made of less than another."""
    kinds: dict[frozenset[str], str] = {}
    for name in sorted(modules, key=lambda name: (len(modules[name].text), name)):
        kinds.setdefault(modules[name].kind, name)
    return [name for kind, name in kinds.items() if not any(kind < other for other in kinds)]


def _words(name: str) -> Iterator[str]:
    """Yield the identifiers in a mangled name, each after its length; else the name."""
    if not name.startswith("@_Z"):
        yield name[1:]
    plain, at = _LITERAL.sub("", name), 3
    while name.startswith("@_Z") and (found := _LENGTH.search(plain, at)) is not None:
        at = found.end() + int(found[0])
        if int(found[0]) > 1:
            yield plain[found.end() : at]


def _read(text: str) -> tuple[Mapping[str, _Item], str, Sequence[_Item]] | None:
    """Return the items of a module by name, its header, and its named metadata; None if it holds anything else."""
    items: dict[str, _Item] = {}
    header, named = [], []
    lines = iter(text.split("\n"))
    for line in lines:
        found = _ITEM.match(line)
        if line.startswith(_HEADER):
            header.append(line)
        if found is None:
            if line and not line.startswith((*_HEADER, *_SILENT)):
                return None
            continue
        head = _without(_GROUP, line) if line.startswith(("define", "@")) else line  # nothing is linked
        body = [head, *_until_closed(lines)] if line.startswith("define") else [head]
        name = next(filter(None, found.groups()))
        parts = _TOKEN.split("\n".join(body))
        used = tuple(dict.fromkeys(part for part in parts[1::2] if part != name and part[0] in "@$%#!"))
        item = _Item(name, parts, used)
        if found[5]:
            named.append(item)
        else:
            items[name] = item
    return items, "\n".join(header), named


def _without(pattern: re.Pattern[str], text: str) -> str:
    """Return `text` without what matches `pattern`, which matches strings, too: these stay."""
    return pattern.sub(lambda found: found[0] if found[0][0] == '"' else "", text)


def _until_closed(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line.partition(";")[0].rstrip() if line[:1] not in (" ", "") else line
        if line == "}":
            return


def _module(kernel: str, items: Mapping[str, _Item], header: str, named: Sequence[_Item]) -> Kernel:
    held: dict[str, None] = {}
    _reach([kernel], items, held)
    lists = []
    for each in named:
        kept = [node for node in each.used if node in items and _globals(node, items) <= held.keys()]
        _reach(kept, items, held)
        lists.append((each.name, kept))
    names = {name: _short(items[name], at, items) for at, name in enumerate(held)}
    written = [_written(items[name], names) for name in items if name in held]
    ends = [f"{name} = !{{{', '.join(names[node] for node in kept)}}}" for name, kept in lists if kept]
    called = (name for name in held if name != kernel and items[name].parts[0].startswith("de"))
    kind = frozenset(word for name in called for word in _words(name)) - {*_words(kernel)}  # nor lambdas'
    state = frozenset(name for name in held if name[0] == "@" and _STATE.match(f"{name}{items[name].parts[2]}"))
    return Kernel("\n".join((header, *written, *ends, "")), kind, state)


def _reach(names: Iterable[str], items: Mapping[str, _Item], held: dict[str, None]) -> None:
    """Put `names` into `held`, and what they use."""
    waiting = list(names)[::-1]
    while waiting:
        name = waiting.pop()
        if name in held or name not in items:
            continue
        held[name] = None
        waiting += items[name].used[::-1]


def _globals(node: str, items: Mapping[str, _Item]) -> set[str]:
    """Return the functions and variables that a node of metadata is about."""
    held: dict[str, None] = {}
    waiting = [node]
    while waiting:
        name = waiting.pop()
        if name not in held:
            held[name] = None
            waiting += [each for each in items[name].used if each in items] if name[0] == "!" else []
    return {name for name in held if name[0] == "@"}


def _short(item: _Item, at: int, items: Collection[str]) -> str:
    """Return how an item is called: by its own name where others know it, else by a number, which is none of `items`' names."""
    kind = item.name[0]
    if kind in "#!":
        return f"{kind}{at}"
    if kind == "@" and _OWN.search(item.head) and KERNEL not in item.head:
        name = f"{kind}own.{at}"
        return f"{kind}own.own.{at}" if name in items else name
    return item.name


def _written(item: _Item, names: Mapping[str, str]) -> str:
    return "".join([names.get(part, part) if at & 1 else part for at, part in enumerate(item.parts)])


def with_numbers(text: str) -> str:
    """Return LLVM IR with numbers for the names that its optimiser gave to values and blocks, as clang prints none."""
    names = dict.fromkeys(found[1] or found[2] for found in _LOCAL_NAME.finditer(text))
    number = {name: str(FIRST_NUMBER + at) for at, name in enumerate(names)}
    return _LOCAL_USE.sub(lambda found: _numbered(found, number), text) if number else text


def _numbered(found: re.Match[str], number: Mapping[str, str]) -> str:
    if found[1] in number:
        return f"%{number[found[1]]}"
    return f"{number[found[2]]}:" if found[2] in number else found[0]
