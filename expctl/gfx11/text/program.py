"""Parse the body of one function of clang's -S text: its instructions with their line numbers, and its labels."""

import re
from dataclasses import dataclass
from functools import lru_cache

from expctl.domain.text import one_line
from expctl.gfx11.text.errors import BadLaunch, Unsupported
from expctl.gfx11.text.operand import Operand, parse_operand

_LABEL = re.compile(r"^([.\w$]+):")
_END_OF_BODY = re.compile(r"^\s*(\.section|\.size|\.text)\b|^\.Lfunc_end")
_HARMLESS = re.compile(r"^\s*\.(loc|cfi_\w+|file|set|amdgpu_\w+|globl|type)\b")
SYMBOL = re.compile(r"([\w.$]+)@rel32@lo\+\d+")
"""A reference to data or to a function, in the instruction that adds the low half of its distance."""
_LITERAL = re.compile(r"[\w\s.,:|&+()\[\]@>-]*")
"""Characters that an instruction may have. They admit no comment, string, macro argument or second statement on the line."""
_ALIGNMENT = re.compile(r"^\s*\.p2align\s+(\d{1,2})(\s*,\s*,\s*\d+)?\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction of the text. `line` counts from 1."""

    line: int
    mnemonic: str
    rest: str
    """Everything after the mnemonic, without the comment."""

    @property
    def text(self) -> str:
        """Return the instruction as the assembly has it, without its comment."""
        return f"{self.mnemonic} {self.rest}".strip()

    def unsupported(self, why: str) -> Unsupported:
        """Return (not raise) the error that this instruction is not supported; `why` is the reason."""
        return Unsupported(why, line=self.line, text=one_line(self.text, 200))

    def fields(self) -> "Fields":
        """Parse the instruction's operands and modifiers. Raises Unsupported for an operand that is not known."""
        words, modifiers = _split(self.rest)
        operands = []
        for word in words:
            operand = parse_operand(word)
            if operand is None:
                raise self.unsupported(f"unknown operand {word!r}")
            operands.append(operand)
        return Fields(operands=tuple(operands), modifiers=modifiers)

    def halves(self) -> tuple["Instruction", "Instruction"]:
        """Split a v_dual instruction into its two operations. Raises Unsupported if there is only one."""
        first, separator, second = self.text.partition("::")
        if not separator:
            raise self.unsupported("v_dual without :: and a second operation")
        x, y = (part.strip().partition(" ") for part in (first, second))
        return (
            Instruction(line=self.line, mnemonic=x[0], rest=x[2].strip()),
            Instruction(line=self.line, mnemonic=y[0], rest=y[2].strip()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The operands and modifiers of an instruction. `modifiers` maps names to values, "" for a modifier without a value."""

    operands: tuple[Operand, ...]
    modifiers: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A function's instructions in order. `labels` maps a label to the index of the instruction after it; `alignments` maps an
    instruction's index to the .p2align directive before it.
    """

    name: str
    instructions: tuple[Instruction, ...]
    labels: dict[str, int]
    alignments: dict[int, str]


def _split(rest: str) -> tuple[list[str], dict[str, str]]:
    pieces = [piece.strip() for piece in re.split(r",(?![^\[]*\]|[^(]*\))", rest)] if rest else []
    modifiers: dict[str, str] = {}
    if pieces:
        last, *trailing = pieces[-1].split()
        pieces[-1] = last
        for word in trailing:
            name, _, value = word.partition(":")
            modifiers[name] = value
    return pieces, modifiers


@lru_cache(maxsize=2)
def lines_of(assembly: str) -> tuple[str, ...]:
    """Split a text into lines. The result is cached, because a text is parsed once for each kernel in it."""
    return tuple(assembly.splitlines())


def with_callees(assembly: str, program: Program) -> Program:
    """Return the program with the functions appended that it refers to, and those that they do. Their names are labels."""
    instructions, labels = list(program.instructions), dict(program.labels)
    at = 0
    while at < len(instructions):
        for name in SYMBOL.findall(instructions[at].rest):
            if name not in labels and is_function(assembly, name):
                called = parse_program(assembly, name)
                labels |= {label: index + len(instructions) for label, index in called.labels.items()}
                labels[name] = len(instructions)
                instructions += called.instructions
        at += 1
    return Program(name=program.name, instructions=tuple(instructions), labels=labels, alignments=program.alignments)


def is_function(assembly: str, name: str) -> bool:
    """Return whether a symbol of the text is a function."""
    return any(line.startswith("\t.type") and line.split() == [".type", f"{name},@function"] for line in lines_of(assembly))


def parse_program(assembly: str, name: str) -> Program:
    """Parse the code of function `name`. Raises BadLaunch if it is not in the text, Unsupported for a line that can't be
    parsed.
    """
    lines = lines_of(assembly)
    begin = next((i for i, line in enumerate(lines) if line.startswith(f"{name}:")), None)
    if begin is None:
        raise BadLaunch(
            f"the assembly has no function {name}",
            code="assembly-has-no-function",
            expected=f"a label {name}: at the start of a line",
            found="no such label",
            hint="give the mangled name, as the assembly has it",
        )
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    alignments: dict[int, str] = {}
    for number, line in enumerate(lines[begin + 1 :], begin + 2):
        if _END_OF_BODY.match(line):
            break
        code = line.split(";", 1)[0].rstrip()
        if label := _LABEL.match(code):
            if code != label[0]:
                raise Unsupported("something after a label", line=number, text=line)
            labels[label[1]] = len(instructions)
        elif _ALIGNMENT.match(code):
            alignments[len(instructions)] = code.strip()
        elif code.strip() and not _HARMLESS.match(code):
            mnemonic, _, rest = code.strip().replace("\t", " ").partition(" ")
            if mnemonic.startswith("."):
                raise Unsupported("unknown directive inside a function", line=number, text=line)
            if not _LITERAL.fullmatch(code):
                raise Unsupported("a character that no instruction has", line=number, text=line)
            instructions.append(Instruction(line=number, mnemonic=mnemonic, rest=rest.strip()))
    return Program(name=name, instructions=tuple(instructions), labels=labels, alignments=alignments)
