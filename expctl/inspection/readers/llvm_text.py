"""Read LLVM's assembly language: types, functions, blocks and instructions of a module, without what reaches no machine code.

Written for what `clang -S -emit-llvm -g0` prints after optimisation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

NAME = r'(?:[\w.$-]+|"[^"]*")'
_FUNCTION = re.compile(rf"^define\b.*?@({NAME})\((.*)\)([^()]*)\{{$")
_GLOBAL = re.compile(rf"^@({NAME}) = (.*)$")
_TYPE = re.compile(rf"^(%{NAME}) = type (.*)$")
_ALIGNED = re.compile(r"\balign \d+")
_OF_KERNEL = re.compile(r'\bnoalias\b|\bby(?:val|ref)\((?:"[^"]*"|[^()"])*\)')
_CONSTANT = re.compile(rf'^!\{{ptr @({NAME}), !"grid_constant", !(\d+)\}}$')
_METADATA = re.compile(r"^!(\d+) = (?:distinct )?(.*)$")
_LABEL = re.compile(rf"^({NAME}):")
_RESULT = re.compile(rf"^(%{NAME}) = (.*)$")
_GROUP = re.compile(r"^attributes #(\d+) = \{(.*)\}")
_GROUP_OF = re.compile(r"\)[^()\"]*?#(\d+)")
_LIMITS = "waves-per-eu|flat-work-group-size|max-num-workgroups|num-vgpr|num-sgpr|agpr-alloc"
_BOUNDS = "maxntid|minctasm|maxclusterrank"
_ATTRIBUTE = re.compile(
    rf'"(?:amdgpu-(?:{_LIMITS})|nvvm\.(?:{_BOUNDS})|prefer-vector-width|target-cpu|target-features|tune-cpu)"="[^"]*"|\b(?:optsize|minsize|optnone)\b'
)
"""Of a function's attributes, those that say how its machine code is made."""
_ATTACHED = re.compile(r",? ?!([\w.]+) !(\d+)")
KEPT_METADATA = frozenset({"mmra", "nontemporal", "prof", "invariant.load", "unpredictable"})
"""Attached metadata that reaches the machine code; the rest says what the optimiser has used up."""
_WORDS = (
    "nsw nuw nusw exact inbounds samesign tail musttail notail noundef nonnull immarg dso_local local_unnamed_addr unnamed_addr"
)
_WITH_VALUE = r"captures\([^)]*\)|range\([^)]*\)|dereferenceable(?:_or_null)?\(\d+\)|memory\([^)]*\)|align \d+"
_OF_ARGUMENTS = "readonly readnone writeonly noalias nocapture nofree nocallback signext zeroext returned"
FLAGS = re.compile(
    rf"\b(?:{_WORDS.replace(' ', '|')})\b ?|, align \d+|\b(?:{_WITH_VALUE}) ?"
    rf"|\b(?:{_OF_ARGUMENTS.replace(' ', '|')}) ?(?=\b|[%@)])|\s#\d+"
)
"""What says more about a value than the machine code needs."""


class Instruction(NamedTuple):
    """`result` is the name that it gives (""), `text` the rest of its line, without flags that change no code."""

    result: str
    text: str


class Block(NamedTuple):
    """A basic block."""

    label: str
    body: tuple[Instruction, ...]


class Function(NamedTuple):
    """A function's name, the parameters with their types, its linkage and calling convention, its blocks, those of its
    attributes that its machine code depends on, and the parameters that point to what nobody writes.
    """

    name: str
    head: str
    parameters: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...]
    attributes: tuple[str, ...] = ()
    constants: frozenset[str] = frozenset()

    @property
    def is_seen(self) -> bool:
        """Can other files call it?"""
        return not {"internal", "private"} & {*self.head.split()}

    @property
    def is_named(self) -> bool:
        """Do other files know it by its name? Not one of many that templates make."""
        return self.is_seen and "odr" not in self.head


class Module(NamedTuple):
    """What a file holds: types by name, globals by name, functions in order. Is its assembly PTX?"""

    types: Mapping[str, str]
    variables: Mapping[str, str]
    functions: tuple[Function, ...]
    is_ptx: bool = False


def read_module(text: str) -> Module:
    """Split the text of a module."""
    lines = text.split("\n")
    metadata = {match[1]: match[2] for line in lines if (match := _METADATA.match(line))}
    is_ptx = '\ntarget triple = "nvptx' in text
    held = [(match[1].strip('"'), metadata[match[2]]) for each in metadata.values() if (match := _CONSTANT.match(each))]
    constants = {name: (f"grid_constant {which}",) for name, which in held}
    groups = {match[1]: tuple(_ATTRIBUTE.findall(match[2])) for line in lines if (match := _GROUP.match(line))}
    types, variables, functions = {}, {}, []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("define"):
            end = lines.index("}", at)
            group = _GROUP_OF.search(line)
            function = _function(line, lines[at:end], metadata, keeps_alignment=is_ptx)
            attributes = (*groups.get(group[1] if group else "", ()), *constants.get(function.name, ()))
            functions.append(function._replace(attributes=attributes))
            at = end + 1
        elif line.startswith("%") and (match := _TYPE.match(line)):
            types[match[1]] = match[2]
        elif line.startswith("@") and (match := _GLOBAL.match(line)):
            aligned = _ALIGNED.search(match[2]) if " addrspace(3) " in match[2] else None  # copies of tiles depend on it
            variables[match[1].strip('"')] = _plain(match[2], metadata) + (f", {aligned[0]}" if aligned else "")
    return Module(types, variables, tuple(functions), is_ptx)


def _function(head: str, lines: Sequence[str], metadata: Mapping[str, str], *, keeps_alignment: bool) -> Function:
    match = _FUNCTION.match(
        re.sub(r"\s(?:comdat|align \d+|#\d+|section \"[^\"]*\"|personality \S+ \S+)(?:\([^)]*\))?", "", head)
    )
    if match is None:
        raise ValueError(f"no head of a function: {head[:200]}")
    kind = " ".join(word for word in head.split("@", 1)[0].split() if word in KINDS)
    listed = split_list(match[2])
    parameters = tuple(_parameter(each, is_kernel="kernel" in kind) for each in listed)
    constants = frozenset(each.split()[-1] for each in listed if " byval(" in each and " readonly " in each)
    blocks = _blocks(lines, str(len(parameters)), metadata, keeps_alignment=keeps_alignment)
    return Function(match[1].strip('"'), kind, parameters, tuple(blocks), constants=constants)


KINDS = frozenset(
    {"internal", "private", "linkonce_odr", "weak_odr", "weak", "linkonce", "amdgpu_kernel", "ptx_kernel", "fastcc"}
)


def _parameter(text: str, *, is_kernel: bool) -> tuple[str, str]:
    """Return a parameter's name and type; of a kernel also what its machine code depends on: that nothing else points
    there, and what it is a copy of.
    """
    words = FLAGS.sub("", text).split()
    kind = text_type(" ".join(words))
    if is_kernel:
        kind = " ".join((kind, *_OF_KERNEL.findall(text)))
    return (words[-1] if words and words[-1].startswith("%") else "", kind)


@cache
def text_type(text: str) -> str:
    """Return the type at the beginning of `text`, such as `ptr addrspace(3)` or `[4 x i32]`."""
    text = text.strip()
    if text.startswith(("[", "<", "{")):
        return text[: closing(text, 0) + 1]
    if text.startswith("%"):
        match = re.match(rf"%{NAME}", text)
        return match[0] if match else text
    match = re.match(r"ptr(?: addrspace\(\d+\))?|[\w.]+", text)
    return match[0] if match else text


def closing(text: str, at: int) -> int:
    """Return the place of the bracket that closes the one at `at`."""
    depth, quoted = 0, False
    for place in range(at, len(text)):
        letter = text[place]
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
            if not depth:
                return place
    return len(text) - 1


@cache
def split_list(text: str) -> tuple[str, ...]:
    """Split at the commas that stand in no bracket or quotes."""
    if not text.strip():
        return ()
    if not any(letter in text for letter in '([{<"'):
        return tuple(each.strip() for each in text.split(","))
    parts, depth, quoted, start = [], 0, False, 0
    for at, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return (*parts, text[start:].strip())


def _blocks(lines: Sequence[str], first: str, metadata: Mapping[str, str], *, keeps_alignment: bool) -> Iterator[Block]:
    label, body = first, []  # type: str, list[Instruction]
    pending = ""
    for line in lines:
        if not line:
            continue
        if line[0] != " ":
            match = _LABEL.match(line)
            if match:
                if body:
                    yield Block(label, tuple(body))
                label, body = match[1], []
            continue
        pending = f"{pending} {line.strip()}" if pending else line.strip()
        if pending.startswith("switch") and not pending.endswith("]") and "]" not in pending.split("[", 1)[-1]:
            continue
        match = _RESULT.match(pending)
        result, text = (match[1], match[2]) if match else ("", pending)
        plain = _plain(text, metadata)
        if keeps_alignment and (text.startswith(("load ", "store ")) or "@llvm.mem" in text):
            how = "".join(f", {each}" for each in _ALIGNED.findall(text))  # a GPU of NVIDIA reads no more at once
            plain = plain.removesuffix(")") + how + ")" * plain.endswith(")")
        body.append(Instruction(result, plain))
        pending = ""
    if body:
        yield Block(label, tuple(body))


def _plain(text: str, metadata: Mapping[str, str]) -> str:
    kept = ""
    if "!" in text:
        kept = "".join(f" !{name} {metadata.get(at, '')}" for name, at in _ATTACHED.findall(text) if name in KEPT_METADATA)
        text = _ATTACHED.sub("", text)
    return FLAGS.sub("", text).strip() + kept
