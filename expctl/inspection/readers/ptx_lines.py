"""Lines of PTX: blocks, and instructions with their operands and the registers that they set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

REGISTER = re.compile(r"%(?:p|b|rs|rd|rq|r|fd|f|hh|h)\d+\b")
_REGISTERS = re.compile(f"({REGISTER.pattern})")
_INSTRUCTION = re.compile(r"(?:@(!?)(%p\d+)\s+)?([a-z][\w.:]*)\s*(.*?);?$", re.DOTALL)
PURE = frozenset(
    "add sub mul mad fma min max and or xor not shl shr shf prmt cvt cvta mov selp setp set neg abs bfe bfi lop3 rcp "  # noqa: SIM905
    "sqrt rsqrt ex2 lg2 sin cos rem div popc clz brev dp4a cnot sad copysign tanh mma".split()
)
_SUMS = re.compile(r"(?:add|sub|mul\.lo|mad\.lo|shl)\.[sub](?:32|64)$|neg\.s(?:32|64)$")
_VARYING = re.compile(r"%(?:clock|globaltimer)")
GIVES_NONE = frozenset({"st", "bra", "bar", "ret", "red", "call", "stmatrix", "cp", "fence", "membar"})
_ALONE = re.compile(r"asm (?:\{ ?)?([^;{}]*(?:\{[^;{}]*\}[^;{}]*)*);(?: ?\})?$")
ASM = "asm "
"""Begins the line of a whole piece of inline assembly."""


def plain_assembly(line: str) -> str:
    """Return inline assembly of one instruction without effects as that instruction."""
    alone = _ALONE.match(line)
    return alone[1] if alone and alone[1].partition(".")[0] in (*PURE, "ldmatrix") else line


def taken_registers(body: Sequence[str]) -> tuple[str, ...]:
    """Return the registers that a block reads before it sets them."""
    taken: dict[str, None] = {}
    found: set[str] = set()
    for line in body:
        given = () if line.startswith((ASM, "@")) else given_registers(line)
        parsed = read_line(line) if given else None
        read = " ".join(parsed.operands[1:]) if parsed else line
        taken |= dict.fromkeys(each for each in REGISTER.findall(read) if each not in found)
        found |= {*given}
    return tuple(taken)


class Read(NamedTuple):
    """An instruction: the sign and register of its predicate, its name and that up to the first point, its operands, and the
    registers that it sets. It `is_pure` if these depend on the operands alone.
    """

    sign: str
    predicate: str
    op: str
    word: str
    operands: tuple[str, ...]
    given: tuple[str, ...]
    is_pure: bool


@cache
def read_line(line: str) -> Read | None:
    """Read an instruction; None for inline assembly and what isn't one."""
    parsed = None if line.startswith((ASM, ".", "{", "}")) else _parsed(line)
    if parsed is None:
        return None
    sign, predicate, op, text, operands = parsed
    word, given = op.partition(".")[0], given_registers(line)
    is_pure = word in PURE and not predicate and bool(given) and not _VARYING.search(text)
    return Read(sign, predicate, op, word, operands, given, is_pure)


@cache
def is_sum(op: str) -> bool:
    """Is an instruction a sum or product of whole numbers?"""
    return _SUMS.match(op) is not None


@cache
def split_at_registers(text: str) -> Sequence[str]:
    """Split a text at the registers in it, which are every second part."""
    return _REGISTERS.split(text)


@cache
def _parsed(line: str) -> tuple[str, str, str, str, tuple[str, ...]] | None:
    """Return the sign and register of a predicate, the instruction, its operands as text, and each of them."""
    match = _INSTRUCTION.match(line)
    return None if match is None else (match[1] or "", match[2] or "", match[3], match[4], _split(match[4]))


@cache
def given_registers(line: str) -> tuple[str, ...]:
    """Return the registers that an instruction sets; none for inline assembly, of which we can't tell."""
    parsed = None if line.startswith(ASM) else _parsed(line)
    if parsed is None or parsed[2].partition(".")[0] in GIVES_NONE:
        return ()
    first = parsed[4][:1]
    return tuple(REGISTER.findall(first[0])) if first and not first[0].startswith("[") else ()


def _split(text: str) -> tuple[str, ...]:
    """Split operands at the commas that stand in no bracket; `%p1|%p2` are one."""
    if not any(letter in text for letter in "{[("):
        return tuple(each.strip() for each in text.split(","))
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return (*parts, text[start:].strip())


def blocks_of(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield blocks with their labels ("": none): they begin at a label and end after a branch."""
    label, body = "", []  # type: str, list[str]
    for line in lines:
        if line.startswith("$") and line.endswith(":"):
            if body or label:
                yield label, body
            label, body = line[:-1], []
            continue
        body.append(line)
        if line.startswith("bra") or (line.startswith("@") and " bra" in line.replace("\t", " ")):
            yield label, body
            label, body = "", []
    yield label, body
