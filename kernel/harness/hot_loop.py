"""Counts the instructions in the hot loop of a CPU build, from its disassembly. The counts are no speed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LISTED = re.compile(r"^\s*([0-9a-f]+):\s+([a-z][\w.]*)\s*(.*)$")
_JUMPED_TO = re.compile(r"^(?:0x)?([0-9a-f]+)\b")
_LABEL = re.compile(r"^([.\w]+):")
_STATEMENT = re.compile(r"^\s+([a-z][\w.]*)\s*(.*)$")
_VECTOR = re.compile(r"%?[xyz]mm\d|\bv\d+\.")
_MULTIPLY_ADD = re.compile(r"^(vfn?m(add|sub)\w*ps|fml[as])")
_MEMORY = re.compile(r"\(.*%r|\[")
_STACK = re.compile(r"\(%[re](sp|bp)\b|\[(sp|x29)\b")
_FUNCTION = re.compile(r"^([0-9a-f]+) <.*>:$")
_CALL = re.compile(r"^(callq?|blr?)$")
_SOURCE_LINE = re.compile(r"^\s+\.loc\s+(\d+)\s+(\d+)")
_INLINED_AT = re.compile(r"@\[ ([^\]\s:]+):(\d+)")
_SOURCE_FILE = re.compile(r'^\s+\.file\s+(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"')


_COMPILER = [
    *(sys.executable, "-m", "ziglang", "cc", "-x", "c++", "-std=c++17", "-O3", "-march=native"),
    *("-fno-exceptions", "-fno-rtti", "-nostdinc++", "-fPIC", "-S"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One line of a disassembly."""

    mnemonic: str
    operands: str
    target: int | None
    """Index of the instruction it jumps to."""
    begins: bool = False
    """Does a function begin here, by a symbol or because it is called?"""
    places: tuple[tuple[str, int], ...] = ()
    """File and line of the source, then of the call where that was inlined, if the assembly has a line table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotLoop:
    """The innermost loop with the most vector multiply-adds."""

    instructions: int
    multiply_adds: int
    vector_width_bits: int
    loads: int
    """Instructions that read memory, multiply-adds with a memory operand among them."""
    stores: int
    spills: int = 0
    """Instructions of the loop that read or write the stack."""
    function_spills: int = 0
    """Of the function around it, without the loop."""
    function_calls: int = 0
    function_instructions: int = 0
    places: tuple[tuple[str, int], ...] = ()
    """Files and lines of the source that its instructions came from, where they are known."""


class NoDisassembly(Exception):
    """There is neither a disassembler nor a source file to compile to assembly."""


def of_library(library: Path, source: Path | None) -> HotLoop | None:
    """Return the hot loop of a build, None if no loop has a vector multiply-add. Raises NoDisassembly."""
    tool = shutil.which("objdump") or shutil.which("llvm-objdump")
    if tool is not None:
        listing = _output([tool, "-d", "--no-show-raw-insn", str(library)])
        return hottest(list(parse_listing(listing)))
    if source is None:
        raise NoDisassembly("no objdump on PATH and no --source to compile to assembly")
    return hottest(list(parse_assembly(_assembly(source))))


def places_of(source: Path) -> tuple[tuple[str, int], ...]:
    """Return files and lines of the hot loop in the CPU source, compiled as the build is, with a line table; sorted. Raises
    NoDisassembly. The build itself has none, which would move its code.
    """
    loop = hottest(list(parse_assembly(_assembly(source, "-gline-tables-only"))))
    return loop.places if loop is not None else ()


def _assembly(source: Path, *options: str) -> str:
    with tempfile.TemporaryDirectory(prefix="assembly.") as folder:
        out = Path(folder) / "host.s"  # zig takes - for the name of a file
        _output([*_COMPILER, *options, str(source), "-o", str(out)])
        return out.read_text()


def _output(argv: list[str]) -> str:
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise NoDisassembly(f"{argv[0]} failed: {ran.stderr.strip()[-500:]}")
    return ran.stdout


def parse_listing(listing: str) -> Iterator[Instruction]:
    """Parse the disassembly that objdump and llvm-objdump print."""
    lines = listing.splitlines()
    found = [match for line in lines if (match := _LISTED.match(line))]
    index = {int(match[1], 16): i for i, match in enumerate(found)}
    begins = {int(match[1], 16) for line in lines if (match := _FUNCTION.match(line))}
    begins |= {int(to[1], 16) for match in found if _CALL.match(match[2]) and (to := _JUMPED_TO.match(match[3]))}
    for match in found:
        jump = _JUMPED_TO.match(match[3]) if match[2].startswith(("j", "b")) and not _CALL.match(match[2]) else None
        yield Instruction(
            mnemonic=match[2],
            operands=match[3],
            target=index.get(int(jump[1], 16)) if jump else None,
            begins=int(match[1], 16) in begins,
        )


def parse_assembly(text: str) -> Iterator[Instruction]:
    """Parse the assembly that a compiler writes with -S, and its line table if it has one."""
    statements: list[tuple[str, str, tuple[tuple[str, int], ...]]] = []
    labels: dict[str, int] = {}
    files: dict[str, str] = {}
    places: tuple[tuple[str, int], ...] = ()
    for line in text.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(statements)
        elif named := _SOURCE_FILE.match(line):
            files[named[1]] = named[3] if named[3].startswith("/") or not named[2] else f"{named[2]}/{named[3]}"
        elif located := _SOURCE_LINE.match(line):
            at = [(files.get(located[1], ""), located[2]), *_INLINED_AT.findall(line)[:1]]
            places = tuple((file, int(number)) for file, number in at if int(number))
        elif statement := _STATEMENT.match(line):
            statements.append((statement[1], statement[2].split("#")[0].strip(), places))
    begins = {at for label, at in labels.items() if not label.startswith(".")}
    for number, (mnemonic, operands, where) in enumerate(statements):
        target = labels.get(operands.strip()) if mnemonic.startswith(("j", "b")) else None
        yield Instruction(mnemonic=mnemonic, operands=operands, target=target, begins=number in begins, places=where)


def hottest(instructions: list[Instruction]) -> HotLoop | None:
    """Return the innermost loop with the most multiply-adds by vector width, None without any. A loop is a jump backwards."""
    loops = [(x.target, i + 1) for i, x in enumerate(instructions) if x.target is not None and x.target <= i]
    innermost = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    counted = [_count(instructions[begin:end], _around(instructions, begin, end)) for begin, end in innermost]
    best = max(counted, key=lambda loop: (loop.multiply_adds * loop.vector_width_bits, -loop.instructions), default=None)
    return best if best is not None and best.multiply_adds else None


def _around(instructions: list[Instruction], begin: int, end: int) -> list[Instruction]:
    """Return the instructions of the function around a loop, without the loop."""
    first = next((at for at in range(begin, -1, -1) if instructions[at].begins), 0)
    last = next((at for at in range(end, len(instructions)) if instructions[at].begins), len(instructions))
    return [*instructions[first:begin], *instructions[end:last]]


def _spills(body: list[Instruction]) -> int:
    return sum(bool(_STACK.search(each.operands)) for each in body)


def _count(body: list[Instruction], around: list[Instruction]) -> HotLoop:
    multiply_adds = [x for x in body if _MULTIPLY_ADD.match(x.mnemonic)]
    width = max((512 if "zmm" in x.operands else 256 if "ymm" in x.operands else 128 for x in multiply_adds), default=0)
    in_memory = [x for x in body if _MEMORY.search(x.operands) and _VECTOR.search(x.operands)]
    stores = [x for x in in_memory if re.search(r"[xyz]mm\d+,\s*[^,%]*\(", x.operands) and x.mnemonic.startswith("vmov")]
    return HotLoop(
        instructions=len(body),
        multiply_adds=len(multiply_adds),
        vector_width_bits=width,
        loads=len(in_memory) - len(stores),
        stores=len(stores),
        spills=_spills(body),
        function_spills=_spills(around),
        function_calls=sum(bool(_CALL.match(each.mnemonic)) for each in (*body, *around)),
        function_instructions=len(body) + len(around),
        places=tuple(sorted({place for each in body for place in each.places})),
    )
