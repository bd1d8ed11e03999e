"""Parse PTX, what Triton and nvcc write before ptxas assigns registers: kernels, instructions, and a hash without lines.

Source: NVIDIA's "Parallel Thread Execution ISA".
"""

import hashlib
import math
import re
from collections import Counter
from dataclasses import dataclass

from expctl.domain.errors import Refused

_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+)", re.MULTILINE | re.ASCII)
_ENTRY = re.compile(r"\.entry\s+([\w$%]+)", re.ASCII)
_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+([\d,\s]+)", re.ASCII)
_SHARED = re.compile(r"\.shared\b[^;]*?\.(?:b|u|s|f)(8|16|32|64)\s+[\w$%]+((?:\[\d+\])*)\s*;", re.ASCII)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEBUG = re.compile(r"^\s*\.section\s+\.debug\w*\s*\{.*?^\s*\}", re.MULTILINE | re.DOTALL)
_LINES = re.compile(r"^\s*(?:\.(?:loc|file)\b.*|\$L__(?:tmp|func_begin|func_end)\w*:)\s*$", re.MULTILINE)
_STATEMENT = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)\b[^;]*;", re.MULTILINE | re.ASCII)

_CLASSES = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"w?g?mma\.|wmma\.|tcgen05\.mma", "matrix"),
        (r"cvt\b", "cvt"),
        (r"cp\.async|cp\.bulk|ld\.global.*\.v[48]\.|ld\.global.*\.b128", "global load wide"),
        (r"(?:atom|red)\b", "atomic"),
        (r"ldu?\.(?:global|param|const)\b|ld\.[a-z]\d", "global load narrow"),
        (r"st\.global.*\.v[48]\.|st\.global.*\.b128", "global store wide"),
        (r"st\.(?:global\b|[a-z]\d)", "global store narrow"),
        (r"ldmatrix|ld\.shared", "shared load"),
        (r"stmatrix|st\.shared", "shared store"),
        (r"(?:ld|st)\.local", "local memory"),
        (r"(?:shfl|vote|match|redux)\b", "lane moves"),
        (r"(?:bra|call|ret|exit|brx)\b", "branch"),
        (r"(?:bar|barrier|mbarrier|fence|membar|wgmma\.(?:fence|commit|wait))\b", "barrier"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PtxKernel:
    """One `.entry`: the most threads of a block, bytes of static shared memory, instructions by class, hash of its text."""

    name: str
    threads: int
    shared_bytes: int
    instructions: dict[str, int]
    code_hash: str


def parse_ptx(text: str, where: str) -> tuple[str, tuple[PtxKernel, ...]]:
    """Return the GPU, e.g. sm_90, and the kernels of a PTX text; `where` names its file in errors. Raises Refused."""
    target, plain = _TARGET.search(text), without_lines(text)
    parts = _ENTRY.split(plain)
    if target is None or len(parts) < 3:
        raise Refused(
            "this is not PTX with a kernel",
            code="not-ptx",
            expected="a line .target sm_NN and at least one .entry",
            found="no .target" if target is None else "no .entry",
            where=where,
            hint="make the file with nvcc -ptx; from Triton it is NAME.ptx in the cache folder",
        )
    shared = parts[0]
    return target[1], tuple(_kernel(name, body, shared) for name, body in zip(parts[1::2], parts[2::2], strict=True))


def without_lines(text: str) -> str:
    """Return PTX without comments, debug sections and what refers to lines of the source."""
    plain = _LINES.sub("", _DEBUG.sub("", _COMMENT.sub("", text)))
    return "\n".join(line.rstrip() for line in plain.splitlines() if line.strip())


def _kernel(name: str, body: str, shared: str) -> PtxKernel:
    threads = _THREADS.search(body)
    counted = Counter(_class_of(found) for found in _STATEMENT.findall(body))
    order = [each for _, each in _CLASSES] + ["other"]
    return PtxKernel(
        name=name,
        threads=math.prod(int(each) for each in threads[1].split(",") if each.strip()) if threads else 1024,
        shared_bytes=sum(_bytes(*found) for found in _SHARED.findall(body)),
        instructions={each: counted[each] for each in dict.fromkeys(order) if counted[each]},
        code_hash=hashlib.sha256(f"{shared}\n{name}\n{body}".encode(errors="surrogateescape")).hexdigest(),
    )


def _bytes(bits: str, dimensions: str) -> int:
    return int(bits) // 8 * math.prod(int(each) for each in re.findall(r"\d+", dimensions))


def _class_of(mnemonic: str) -> str:
    return next((name for pattern, name in _CLASSES if pattern.match(mnemonic)), "other")
