"""Inline PTX in LLVM IR, instruction by instruction, with operands in their places: the order in which they are given, how
statements are split, names of local registers, spaces and the base of a constant don't count.

`ptx volatile memory bar.sync %5,128` is what becomes of an instruction, `outputs` what gives several values at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from typing import NamedTuple

from expctl.inspection.readers.llvm_assembly import ASM
from expctl.inspection.readers.llvm_text import Block, Instruction, split_list, text_type
from expctl.inspection.readers.ptx_lines import GIVES_NONE, PURE

_FIRST_NAME = 10**9
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_REGISTERS = re.compile(r"\.reg\s+(\.\w+)\s+([\w$%<>,\s]+)$")
_STATEMENT = re.compile(r"(?:@(!?)\s*([\w$%]+)\s+)?([a-z][\w.:]*)\s*(.*)$", re.DOTALL)
_WORD = re.compile(r"(\$\d+|(?<![\w.])\d\w*|[A-Za-z_%][\w$.]*)")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?$")
_INPUT = re.compile(r"[a-zA-Z]$")
_OUTPUT = re.compile(r"=&?[a-z]$")
_WIDE = re.compile(r"\.[bsuf]64\b")
_BARRIER = re.compile(r"(bar|barrier)(?:\.cta)?\.(sync|arrive)(|\.aligned)")
_OFFSET = re.compile(r"\[(%\d+)\+(-?\d+)\]")
_UNPACKED = re.compile(r"mov\.b(32|64)$")
_VARYING = re.compile(r"%(?:clock|globaltimer|smid|warpid|nwarpid)")
_HIDDEN = re.compile(r"(?:bra|call|ret|exit|brx|addc|subc|madc)\b|.*\.cc\b")
"""Instructions that do more than set operands: go elsewhere, or use the carry."""
_TOGETHER = frozenset({"mma"})
"""Instructions that depend on their operands alone, but are for all threads of a warp."""

Piece = int | str | tuple[str, int]
"""The number of an operand, text, or a local register with the number of its declaration."""


class Statement(NamedTuple):
    """An instruction as it is written: its predicate, name, first operand and the others."""

    sign: str
    predicate: tuple[Piece, ...]
    op: str
    first: tuple[Piece, ...]
    rest: tuple[Piece, ...]

    @property
    def word(self) -> str:
        """Return the name without what stands after the first point."""
        return self.op.partition(".")[0]

    @property
    def sets(self) -> bool:
        """Does it set its first operand?"""
        gives_none = self.word in GIVES_NONE and not self.op.startswith("bar.red")
        return not gives_none and not "".join(map(str, self.first[:1])).startswith("[")

    @property
    def is_pure(self) -> bool:
        """Does it give what its operands alone say?"""
        texts = (each for each in self.rest if isinstance(each, str))
        return self.word in PURE - _TOGETHER and not self.predicate and not any(_VARYING.match(each) for each in texts)


def instruction_by_instruction(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks with the instructions of PTX that their inline assembly is made of. What can't be read stays as it is."""
    names = (f"%{each}" for each in count(_FIRST_NAME))
    return tuple(
        Block(block.label, tuple(made for each in block.body for made in _instructions(each, names))) for block in blocks
    )


def _instructions(each: Instruction, names: Iterator[str]) -> Sequence[Instruction]:
    match = ASM.search(each.text) if each.text.startswith("call ") and " asm " in each.text else None
    statements = _statements(match[2]) if match else None
    if match is None or not statements:
        return (each,)
    constraints = [one for one in match[3].split(",") if one]
    taken = [one for one in constraints if not one.startswith("~")]
    outputs = [one for one in taken if one.startswith("=")]
    given = split_list(match[4])
    if len(given) != len(taken) - len(outputs) or not all(map(_OUTPUT.match, outputs)):
        return (each,)
    mentioned = {piece for one in statements for piece in (*one.predicate, *one.first, *one.rest)}
    held: dict[Piece, str] = {}
    for at, (how, argument) in enumerate(zip(taken[len(outputs) :], given, strict=True), len(outputs)):
        if at in mentioned if how.isdigit() else not _INPUT.match(how):
            return (each,)
        held[int(how) if how.isdigit() else at] = argument[len(text_type(argument)) :].strip()
    if not {*range(len(outputs)), *held} <= mentioned:
        return (each,)
    early = {at for at, one in enumerate(outputs) if "&" in one}
    reader = _Statements(names, held, len(outputs), early, is_memory="~{memory}" in constraints)
    is_volatile = bool(match[1]) or reader.is_memory
    acting = [one for one in statements if one.word not in PURE]
    if not is_volatile and (len(acting) > 1 or not all(one.sets for one in acting)):
        return (each,)  # it is kept for what it gives, and does more
    only_pure = all(one.is_pure for one in statements)
    for statement in statements:
        reader.read(statement, is_volatile=is_volatile and (only_pure or not statement.is_pure))
    return reader.named(each.result)


class _Statements:
    """Instructions of one piece of assembly; `held` is what its operands and local registers are: the name of a value, that of
    an instruction with the number of what it gives, or a constant.
    """

    def __init__(self, names: Iterator[str], held: dict[Piece, str], outputs: int, early: set[int], *, is_memory: bool) -> None:
        self.names = names
        self.held = held
        self.outputs = outputs
        self.early = early
        self.is_memory = is_memory
        self.made: list[Instruction] = []

    def read(self, statement: Statement, *, is_volatile: bool) -> None:
        """Add the instructions that a statement is."""
        if not is_volatile and statement.word == "mov" and not statement.predicate and self._move(statement):
            return
        written: list[Piece] = []
        first = "".join(
            [
                self._first(piece, written, statement) if statement.sets else self._taken(piece, written)
                for piece in statement.first
            ]
        )
        rest = "".join([self._taken(piece, written) for piece in statement.rest])
        predicate = "".join([f"@{statement.sign}{self._value(piece)} " for piece in statement.predicate])
        flags = "volatile " * is_volatile + "memory " * (is_volatile and self.is_memory)
        if not flags and statement.word not in PURE - _TOGETHER:
            flags = "here "
        early = "&" * any(piece in self.early for piece in written)
        place = ",".join(each for each in (first, rest) if each)
        text = f"ptx {flags}{predicate}{early}{statement.op} {_OFFSET.sub(self._sum, place)}"
        name = next(self.names) if written else ""
        self.made.append(Instruction(name, text))
        for at, piece in enumerate(written):
            self.held[piece] = name if len(written) == 1 else f"{name} {at}"

    def named(self, result: str) -> Sequence[Instruction]:
        """Return the instructions, of which the whole is called `result`."""
        parts = [self.held.get(at, "undefined") for at in range(self.outputs)]  # what is a predicate alone is not set
        if len(parts) == 1 and self.made and self.made[-1].result == parts[0]:
            self.made[-1] = Instruction(result, self.made[-1].text)
        elif parts:
            self.made.append(Instruction(result, f"outputs {', '.join(parts)}"))
        return self.made

    def _first(self, piece: Piece, written: list[Piece], statement: Statement) -> str:
        """Return a place that is set, with what it was before, which the instruction may leave or take."""
        if isinstance(piece, str) or (isinstance(piece, int) and piece >= self.outputs):
            return self._taken(piece, written)
        if piece not in written:
            written.append(piece)
        is_new = statement.word in PURE and not statement.predicate
        return "=" if is_new or piece not in self.held else f"={self._value(piece)}"

    def _taken(self, piece: Piece, written: list[Piece]) -> str:
        if not isinstance(piece, str) and piece not in self.held:  # nothing has set it, so this does
            if piece not in written:
                written.append(piece)
            return f"={written.index(piece)}"
        return self._value(piece)

    def _value(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return piece
        held = self.held.get(piece, "undefined")  # a predicate that nothing sets
        if held.startswith("%") and " " in held:
            held = self.held[piece] = self._add(f"outputs {held}")
        return held

    def _add(self, text: str) -> str:
        name = next(self.names)
        self.made.append(Instruction(name, text))
        return name

    def _sum(self, found: re.Match[str]) -> str:
        return f"[{self._add(f'add i64 {found[1]}, {found[2]}')}]"

    def _move(self, statement: Statement) -> bool:
        """Read a move of one register to another, or to or from the halves of one; False for any other."""
        bits = _UNPACKED.match(statement.op)
        to, source = _registers(statement.first), _registers(statement.rest)
        if to is None or source is None or not (len(to) == len(source) == 1 or (bits and {len(to), len(source)} == {1, 2})):
            return False
        if len(to) == len(source) == 1:
            self.held[to[0]] = self._value(source[0])
            return True
        half = int(bits[1]) // 2 if bits else 0
        whole = f"i{half * 2}"
        if len(to) == 2:
            value = self._value(source[0])
            self.held[to[0]] = self._add(f"trunc {whole} {value} to i{half}")
            self.held[to[1]] = self._add(f"trunc {whole} {self._add(f'lshr {whole} {value}, {half}')} to i{half}")
            return True
        low, high = (self._add(f"zext i{half} {self._value(each)} to {whole}") for each in source)
        self.held[to[0]] = self._add(f"or disjoint {whole} {low}, {self._add(f'shl {whole} {high}, {half}')}")
        return True


def _registers(pieces: Sequence[Piece]) -> tuple[Piece, ...] | None:
    """Return the registers of an operand that is nothing else than one, or several in braces."""
    texts = "".join(each for each in pieces if isinstance(each, str))
    found = tuple(each for each in pieces if not isinstance(each, str))
    return found if texts in ("", "{,}") and found else None


@cache
def _statements(template: str) -> tuple[Statement, ...] | None:
    """Split the text of inline assembly; None for what has labels, directives, or operands spelt another way."""
    text = _COMMENT.sub(" ", _ESCAPE.sub(lambda found: chr(int(found[1], 16)), template)).strip()
    text = re.sub(r"\$\{(\d+)\}", r"$\1", text)
    if re.search(r"\$(?!\d)", text) or not text.endswith((";", "}")):
        return None
    scopes: list[dict[str, tuple[str, int]]] = []
    numbers = count()
    made = []
    for part in text.split(";"):
        words = part.strip()
        while words[:1] in ("{", "}") and words:
            if words[0] == "}" and not scopes:
                return None
            scopes = [*scopes, {}] if words[0] == "{" else scopes[:-1]
            words = words[1:].lstrip()
        declared = _REGISTERS.match(words)
        if declared and scopes:
            for name in declared[2].split(","):
                if not re.fullmatch(r"[\w$%]+", name.strip()):
                    return None
                scopes[-1][name.strip()] = (declared[1], next(numbers))
        elif words:
            statement = _statement(words, {name: each for scope in scopes for name, each in scope.items()})
            if statement is None:
                return None
            made.append(statement)
    return None if scopes else tuple(made)


def _statement(words: str, scope: Mapping[str, tuple[str, int]]) -> Statement | None:
    match = _STATEMENT.fullmatch(words)
    if match is None or _HIDDEN.match(match[3]):
        return None
    wide = bool(_WIDE.search(match[3]))

    def pieces(text: str) -> tuple[Piece, ...]:
        found: list[Piece] = []
        for each in _WORD.split("".join(text.split())):
            if each.startswith("$"):
                found.append(int(each[1:]))
            elif each in scope:
                found.append(scope[each])
            elif each:
                found.append(_number(each, is_wide=wide) if _NUMBER.match(each) else each)
        return tuple(found)

    first, rest = _first_operand(match[4])
    return Statement(match[1] or "", pieces(match[2] or ""), _synonym(match[3]), pieces(first), pieces(rest))


def _first_operand(text: str) -> tuple[str, str]:
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and not depth:
            return text[:at], text[at + 1 :]
    return text, ""


def _number(text: str, *, is_wide: bool) -> str:
    """Return a whole number as LLVM writes it, with a sign."""
    plain = text.rstrip("U")
    base = 8 if len(plain) > 1 and plain[0] == "0" and plain[1].isdigit() else 0
    value, bits = int(plain, base), 64 if is_wide else 32
    return str(value - (1 << bits) if value >> (bits - 1) == 1 else value)


def _synonym(op: str) -> str:
    """Return the one name of a barrier that has several."""
    match = _BARRIER.fullmatch(op)
    return f"barrier.{match[2]}{'.aligned' if match[1] == 'bar' else match[3]}" if match else op
