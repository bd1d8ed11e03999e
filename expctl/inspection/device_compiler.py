"""Compile the device code of a HIP source for one AMD GPU, with hipcc or else with clang of the Python package ziglang.

ziglang has no HIP headers, so the folder `hip_stubs` declares the part of HIP that kernels use. C and C++ headers are those of
ziglang, so that the result doesn't depend on the machine. What CUDA has built in is declared by the folder `cuda_stubs`; types
and functions of the host are those of the toolkit.
"""

import importlib.util
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.run.step_result import Available, Unavailable
from expctl.domain.text import one_line, plain_text
from expctl.inspection import tool_versions
from expctl.launcher.captured import Output, Timeout, captured

STUBS = Path(__file__).parent / "hip_stubs"
KEYWORDS = STUBS / "expctl_keywords.h"
CUDA_STUBS = Path(__file__).parent / "cuda_stubs"
ZIG_CLANG = (sys.executable, "-m", "ziglang", "clang")
TIMEOUT_S = 600
SCRATCH = "expctl-check."
"""How the folders of compilations begin, in the folder for temporary files."""
PLACES_MOST = 3
HOST = "x86_64-linux-musl"
"""Target of the host code, which is only parsed; fixed, so that sizes of types don't depend on the machine."""

DEVICE_ONLY = ("-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-fuse-cuid=none")
LINES = ("-gline-tables-only", "-fdebug-compilation-dir=/", "-fno-discard-value-names")
"""A line table whose paths are those of the command line, and the names of parameters in the metadata."""
LDS_PRINTED = tuple(
    word
    for each in ("-print-before=amdgpu-lower-module-lds", "-print-after=amdgpu-lower-module-lds", "-print-module-scope")
    for word in ("-mllvm", each)
)
TYPES = ("-g", "-fdebug-compilation-dir=/")
"""Full debugging information, for the types of parameters alone: it may change the code."""
_PARAMETER = re.compile(r"^[|`]-ParmVarDecl .*?'([^']+)'(?::'([^']+)')?", re.MULTILINE)
_SAID = re.compile(r"^(.+:\d+):\d+: warning: expctl: (.+?)(?: \[-W[^\]]*\])?$", re.MULTILINE)
_LIBRARY = (
    "ABI_VERSION=1", "ABI_NAMESPACE=__1", "HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE", "ASSERTION_SEMANTIC_DEFAULT=1",
    "HAS_THREADS=1", "HAS_MONOTONIC_CLOCK=1", "HAS_TERMINAL=1", "HAS_MUSL_LIBC=1", "HAS_FILESYSTEM=1", "HAS_RANDOM_DEVICE=1",
    "HAS_LOCALIZATION=1", "HAS_UNICODE=1", "HAS_WIDE_CHARACTERS=1", "HAS_TIME_ZONE_DATABASE=0",
    "HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0", "PSTL_BACKEND_SERIAL=1",
)  # fmt: skip
"""Macros that ziglang's libc++ needs; zig defines them only where it drives the whole compilation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options for compiling a HIP source for the GPU `arch`; `defines` are NAME or NAME=VALUE, `includes` are folders."""

    arch: str
    level: str = "-O3"
    standard: str = "-std=c++17"
    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """Result of a compilation: the compiler's name and version, the assembly text, and an ELF file of the same code."""

    compiler: str
    assembly: str
    code_object: bytes


def compile_source(source: Path, options: Options) -> Compiled:
    """Compile `source` to assembly and code object. Raises Refused without a compiler, or with the compiler's first error."""
    hipcc = tool_versions.program("hipcc", hint="install ROCm")
    with _scratch() as folder:
        text = folder / "kernel.s"
        if isinstance(hipcc, Available):
            flags = [*DEVICE_ONLY, *_option_flags(source, options, "hip/hip_runtime.h")]
            words = ["hipcc", f"--offload-arch={options.arch}", *flags, _word(source)]
            _run([*words, "-S", "-o", str(text)], source)
            loose = folder / "kernel.o"
            _run([*words, "-c", "-o", str(loose)], source)
            return Compiled(compiler=f"hipcc ({hipcc.versions['hipcc']})", assembly=_read(text), code_object=loose.read_bytes())
        compiler, assembly, _ = _of_wheel(source, options, text)
        return Compiled(compiler=compiler, assembly=assembly, code_object=_assembled(text, options.arch, source))


def assembly_with_lines(source: Path, options: Options) -> tuple[str, str, tuple[str, ...]]:
    """Compile `source` with the clang of the ziglang wheel, alone; return the compiler's name with its version, assembly with a
    line table and the names of parameters, and sentences about what our headers leave out. Raises Refused without the wheel, or
    with the first error of clang.
    """
    with _scratch() as folder:
        return _of_wheel(source, options, folder / "kernel.s", LINES)


def lds_layout(source: Path, options: Options) -> str:
    """Compile `source` as `assembly_with_lines` does; return what LLVM prints around the layout of LDS. Raises Refused."""
    with _scratch() as folder:
        words = [*ZIG_CLANG, *wheel_flags(options.arch), *LINES, *_option_flags(source, options), *LDS_PRINTED]
        return _run([*words, "-S", _word(source), "-o", str(folder / "kernel.s")], source).err


def object_with_types(source: Path, options: Options) -> bytes:
    """Compile `source` with the clang of the ziglang wheel, and return an ELF object file with full debugging information,
    which tells the types of parameters. Raises Refused as `assembly_with_lines` does.
    """
    with _scratch() as folder:
        text = folder / "kernel.s"
        _of_wheel(source, options, text, TYPES)
        return _assembled(text, options.arch, source)


@contextmanager
def _scratch() -> Iterator[Path]:
    """Give an empty folder for what a compiler writes. Folders of processes that were killed are removed first: those that are
    older than any compilation may take.
    """
    for old in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*"):
        with suppress(OSError):
            if time.time() - old.lstat().st_mtime > 2 * TIMEOUT_S:
                shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
        yield Path(folder)


def _of_wheel(source: Path, options: Options, text: Path, extra: Sequence[str] = ()) -> tuple[str, str, tuple[str, ...]]:
    """Compile `source` to the file `text`. Return the compiler, the text, and what our headers said."""
    compiler = _wheel()
    flags = [*wheel_flags(options.arch), *extra, *_option_flags(source, options)]
    ran = _run([*ZIG_CLANG, *flags, "-S", _word(source), "-o", str(text)], source)
    return compiler, _read(text), _said(ran.err)


def _said(output: str) -> tuple[str, ...]:
    """Return the warnings of our headers, each once with the places that it is about."""
    places: dict[str, list[str]] = {}
    for place, text in _SAID.findall(output):
        at = places.setdefault(plain_text(text), [])
        if plain_text(place) not in at:
            at.append(plain_text(place))
    return tuple(f"{text} ({_listed(at)})" for text, at in places.items())


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - PLACES_MOST} more" if len(places) > PLACES_MOST else ""
    return ", ".join(places[:PLACES_MOST]) + more


def declared_types(source: Path, options: Options, function: str) -> tuple[str, ...]:
    """Return the types of the parameters of a function with C linkage in `source`, as it declares them: its symbol has none.
    Empty if clang finds no such function. Raises Refused as `assembly_with_lines` does.
    """
    dump = ("-fsyntax-only", "-Xclang", "-ast-dump", "-Xclang", f"-ast-dump-filter={function}")
    printed = _run([*ZIG_CLANG, *wheel_flags(options.arch), *_option_flags(source, options), *dump, _word(source)], source).out
    declared = re.search(rf"^Dumping {re.escape(function)}:\n(.*?)(?=^Dumping |\Z)", printed, re.MULTILINE | re.DOTALL)
    return tuple(plain or written for written, plain in _PARAMETER.findall(declared[1])) if declared else ()


def assemble(text: Path, arch: str) -> bytes | None:
    """Assemble the file `text` into an ELF object file and return its bytes; None if ziglang is not installed. Raises Refused
    with clang's error.
    """
    if isinstance(tool_versions.packages("ziglang", "elftools", extra="cpu"), Unavailable):
        return None
    return _assembled(text, arch, text)


def _assembled(text: Path, arch: str, source: Path) -> bytes:
    with _scratch() as folder:
        loose = folder / "kernel.o"
        target = ("--target=amdgcn-amd-amdhsa", f"-mcpu={arch}")
        _run([*ZIG_CLANG, *target, "-x", "assembler", "-c", str(text), "-o", str(loose)], source)
        return loose.read_bytes()


def _wheel() -> str:
    here = tool_versions.packages("ziglang", "elftools", extra="cpu")
    if isinstance(here, Unavailable):
        raise Refused(
            "there is no compiler for a HIP source",
            code="no-hip-compiler",
            expected="hipcc of a ROCm on PATH, or the ziglang wheel",
            found=here.reason,
            hint=here.hint,
        )
    return f"clang of ziglang {here.versions['ziglang']}"


def wheel_flags(arch: str) -> tuple[str, ...]:
    """Return the flags with which `zig clang` compiles the device code of a HIP source for `arch`."""
    return (*DEVICE_ONLY, f"--target={HOST}", f"--offload-arch={arch}", *_header_flags(STUBS), "-include", str(KEYWORDS))


def cuda_flags(arch: str, toolkit: Path) -> tuple[str, ...]:
    """Return the flags with which `zig clang` compiles the device code of a CUDA source for `arch`, with the headers of a CUDA
    toolkit in the folder `toolkit`.
    """
    language = ("-x", "cuda", "--cuda-device-only", f"--target={HOST}", f"--cuda-gpu-arch={arch}", "-fdeclspec", "-w")
    return (*language, *_header_flags(CUDA_STUBS), "-isystem", str(toolkit), "-include", "cuda_runtime.h")


def optimiser_flags(arch: str) -> tuple[str, ...]:
    """Return the flags with which `zig clang` optimises LLVM IR of CUDA's device code for `arch`."""
    return ("-x", "ir", "--target=nvptx64-nvidia-cuda", f"-march={arch}", "-nogpulib", "-w")


def _header_flags(stubs: Path) -> tuple[str, ...]:
    """Return the flags that find ziglang's headers of C and C++, after those of the folder `stubs`."""
    spec = importlib.util.find_spec("ziglang")
    library = Path(spec.origin).parent / "lib" if spec is not None and spec.origin else Path()
    c = library / "libc" / "include"
    folders = [stubs, library / "libcxx" / "include", library / "include"]
    folders += [c / name for name in (HOST, "generic-musl", "x86-linux-any", "any-linux-any")]
    return (
        *("-nogpuinc", "-nogpulib", "-nostdinc", "-nostdinc++", "-Wno-macro-redefined"),
        *(word for folder in folders for word in ("-isystem", str(folder))),
        *(f"-D_LIBCPP_{each}" for each in _LIBRARY),
    )


def _word(source: Path) -> str:
    """Return the path as a word of a command line that is no option: clang takes `-x.hip` for one, `--` before it or not."""
    return f"./{source}" if str(source).startswith("-") else str(source)


def _option_flags(source: Path, options: Options, runtime: str = "cuda_runtime.h") -> list[str]:
    """Return compiler flags for `options`; for a .cu file also one that includes the header `runtime`, as nvcc does."""
    words = [options.level, options.standard]
    words += [f"-D{each}" for each in options.defines] + [f"-I{each}" for each in options.includes]
    return words + (["-include", runtime] if source.suffix.lower() == ".cu" else [])


def _run(argv: Sequence[str], source: Path) -> Output:
    name = plain_text(str(source))
    try:
        ran = captured(argv, timeout_s=TIMEOUT_S, environment={**os.environ, "LC_ALL": "C"})
    except (OSError, Timeout) as error:
        raise Refused(
            f"the compiler could not be run to its end: {type(error).__name__}",
            code="compiler-did-not-end",
            expected=f"an answer within {TIMEOUT_S} s",
            found=one_line(str(error), 200),
            where=name,
            hint="try -O 1, or fewer kernels in the file",
        ) from error
    if ran.status:
        raise Refused(
            "this file does not compile",
            code="does-not-compile",
            expected="device code that the compiler accepts",
            found=_first_error(ran.err.replace(str(source), name)) or f"status {ran.status}",
            where=name,
            hint="edit it; -D NAME=VALUE and -I FOLDER give what the file lacks (docs/INSPECT.md: what the HIP headers hold)",
        )
    return ran


def _first_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[-1] if lines else "")[:400]


def _read(path: Path) -> str:
    return path.read_text(errors="surrogateescape")
