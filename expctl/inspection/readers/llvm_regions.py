"""Instructions of LLVM IR by the source functions in which they stand, those that were inlined included.

An instruction that sets a state (a priority, say) counts for what follows it too: it is raised around a call for the sake of
the call.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

_NODE = re.compile(
    r"^!(\d+) = (?:distinct )?!(DILocation|DISubprogram|DILexicalBlock|DILexicalBlockFile)\((.*)\)$", re.MULTILINE
)
_FIELD = re.compile(r'\b(scope|inlinedAt|name): (?:!(\d+)|"([^"]*)")')
_INSTRUCTION = re.compile(
    r"@llvm\.amdgcn\.([\w.]+)\(([^)]*)\).*?!dbg !(\d+)|asm sideeffect \"\s*([a-z]\w+)\s+(-?\w+)\s*\".*?!dbg !(\d+)"
)
_MEMORY = re.compile(r"^\s+(?:%\S+ = )?(?:load|store)\b.*!dbg !(\d+)")
_NUMBER = re.compile(r"^i\d+ (-?\d+)$")
_TYPE_SUFFIX = re.compile(r"\.(?:[if]\d+|v\d+[if]\d+|p\d+)\b.*$")
_SETS_STATE = ("s_setprio", "s_sleep", "s_setreg", "s_round_mode", "s_denorm_mode", "sched_group_barrier")


def instructions_by_region(text: str) -> Mapping[str, Mapping[str, int]]:
    """Return, by the name of a source function, how often each instruction stands in it; `s_setprio 2` where the operands are
    numbers. The module must have a line table.
    """
    nodes = {match[1]: (match[2], dict(_fields(match[3]))) for match in _NODE.finditer(text)}
    chains: dict[str, tuple[str, ...]] = {}

    def chain(location: str) -> tuple[str, ...]:
        if location not in chains:
            chains[location] = tuple(dict.fromkeys(_functions(nodes, location)))
        return chains[location]

    found: dict[str, Counter[str]] = {}
    pending: list[tuple[str, tuple[str, ...]]] = []
    for line in text.split("\n"):
        memory = _MEMORY.match(line)
        if memory:
            for name, counted in pending:
                for region in chain(memory[1]):
                    if region not in counted:
                        found.setdefault(region, Counter())[name] += 1
            pending = []
            continue
        match = _INSTRUCTION.search(line)
        if match:
            name, regions = _name(match), chain(match[3] or match[6])
            for region in regions:
                found.setdefault(region, Counter())[name] += 1
            if name.startswith(_SETS_STATE):
                pending.append((name, regions))
        elif line.startswith("}"):
            pending = []
    return found


def _name(match: re.Match[str]) -> str:
    if match[4]:
        return f"{match[4]} {match[5]}"
    numbers = [number[1] for each in match[2].split(",") if (number := _NUMBER.match(each.strip()))]
    return " ".join([_TYPE_SUFFIX.sub("", match[1]).replace(".", "_"), *(numbers if match[1].startswith("s.") else [])])


def _fields(text: str) -> Iterator[tuple[str, str]]:
    for match in _FIELD.finditer(text):
        yield match[1], match[2] or match[3]


def _functions(nodes: Mapping[str, tuple[str, Mapping[str, str]]], location: str) -> Iterator[str]:
    """Yield the names of the functions around a place, from the inside."""
    while location in nodes:
        fields = nodes[location][1]
        scope = fields.get("scope", "")
        while scope in nodes and nodes[scope][0] != "DISubprogram":
            scope = nodes[scope][1].get("scope", "")
        if scope in nodes:
            yield nodes[scope][1].get("name", "")
        location = fields.get("inlinedAt", "")
