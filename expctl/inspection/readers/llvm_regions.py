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
_INTRINSIC = re.compile(r"@llvm\.amdgcn\.([\w.]+)\(([^)]*)\).*?!dbg !(\d+)")
_ASM = re.compile(r' asm (?:\w+ )*"([^"]*)", "([^"]*)"\((.*?)\).*?!dbg !(\d+)')
_OPERAND = re.compile(r"\$\{?(\d+)(?::\w+)?\}?")
_ONE_OPERAND = re.compile(r"\s*([a-z]\w+)\s+(-?\w+)\s*")
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
        for name, location in _instructions(line):
            regions = chain(location)
            for region in regions:
                found.setdefault(region, Counter())[name] += 1
            if name.startswith(_SETS_STATE):
                pending.append((name, regions))
        if line.startswith("}"):
            pending = []
    return found


def _instructions(line: str) -> Iterator[tuple[str, str]]:
    """Yield the instructions of a line of IR, each with the number of its place: of an intrinsic, or, with one operand, of
    inline assembly, whose operands that are constants are filled in.
    """
    called = _INTRINSIC.search(line)
    if called:
        numbers = [number[1] for each in called[2].split(",") if (number := _NUMBER.match(each.strip()))]
        name = _TYPE_SUFFIX.sub("", called[1]).replace(".", "_")
        yield " ".join([name, *(numbers if called[1].startswith("s.") else [])]), called[3]
    written = _ASM.search(line) if " asm " in line else None
    if written:
        results = sum(each.startswith("=") for each in written[2].split(","))
        given = [number[1] if (number := _NUMBER.match(each.strip())) else "" for each in written[3].split(",")]

        def filled(operand: re.Match[str]) -> str:
            at = int(operand[1]) - results
            return given[at] if 0 <= at < len(given) else ""

        for each in re.split(r"\\0A|\n", _OPERAND.sub(filled, written[1])):
            plain = _ONE_OPERAND.fullmatch(each.partition(";")[0])
            if plain:
                yield f"{plain[1]} {int(plain[2], 0) if plain[2].startswith('0x') else plain[2]}", written[4]


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
