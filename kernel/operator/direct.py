"""Calls of the operator past Python, by a small extension (direct.cpp) that is compiled once where a C++ compiler is.

Python checks, chooses a config and launches the first product of each shape on a GPU, then `remember` lets `call` do those like
it. Without the extension `call` always returns None, and Python does every product: the same ones, some us later.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

from kernel.operator.builds import cache

SOURCE = Path(__file__).with_suffix(".cpp")
VARIABLE = "EXPCTL_OPERATOR_CALLS"
"""Set to "python", it keeps the extension from being compiled and used."""

_TELLER = "aoti_torch_get_current_cuda_stream"


class NoExtension(Exception):
    """Why there is no extension: `expected` is whether that is how things are here, not a fault."""

    def __init__(self, reason: str, expected: bool) -> None:
        super().__init__(reason)
        self.expected = expected


def call(a: Tensor, b_prepacked: Tensor, scale: float, bias: Tensor | None, b_dtype: int | None) -> Tensor | None:  # noqa: ARG001 - that of the extension
    """Compute C as `scaled_mm` does, or return None: then Python must. `remember` puts the extension's own in this place."""
    return None


_PYTHON_CALL = call


def remember(a: Tensor, b_prepacked: Tensor, fp8: int, config: int, ordinal: int, enqueue: int, stream_teller: int) -> None:
    """Let `call` launch what is like these operands, which have been checked, with `config` on GPU `ordinal`. The last two are
    addresses of C functions: scaled_mm_enqueue, and one like that of `stream_teller`.
    """
    global call  # noqa: PLW0603 - the name by which every call finds it
    module, _ = extension()
    if module is not None and stream_teller:
        module.remember(a, b_prepacked, fp8, config, ordinal, enqueue, stream_teller)
        call = module.call


def forget() -> None:
    """Let Python do every product like those that are remembered."""
    global call  # noqa: PLW0603 - see `remember`
    call = _PYTHON_CALL
    module, _ = extension()
    if module is not None:
        module.forget()


def path() -> str:
    """Return the way that a GPU's products go once one like them was done: "C++", or "Python: " and why."""
    _, why_not = extension()
    if not why_not and torch.cuda.is_available() and not stream_teller():
        why_not = f"torch {torch.__version__} has no {_TELLER}"
    return f"Python: {why_not}" if why_not else "C++"


@functools.cache
def stream_teller() -> int:
    """Return the address of torch's C function that writes a GPU's current stream, (int32 device, void **) -> 0; 0 for none."""
    library = Path(torch.__file__).parent / "lib" / f"libtorch_{'hip' if torch.version.hip else 'cuda'}.so"
    try:
        return ctypes.cast(getattr(ctypes.CDLL(str(library)), _TELLER), ctypes.c_void_p).value or 0
    except (OSError, AttributeError):
        return 0


@functools.cache
def extension() -> tuple[ModuleType | None, str]:
    """Load the extension, compile it before if need be; return it, or None and why. Warns once where compiling failed."""
    try:
        return _load(kept()), ""
    except (NoExtension, OSError) as reason:
        if not getattr(reason, "expected", False):
            warnings.warn(f"scaled_mm is called through Python, which takes some us longer: {reason}", stacklevel=2)
        return None, str(reason)


def kept(source: Path = SOURCE) -> Path:
    """Return the extension of `source` for this torch, Python and compiler in the user's cache; compile it if it isn't there,
    in one process at a time. Raises NoExtension; a compiler that has refused is not asked again. Raises OSError.
    """
    if os.environ.get(VARIABLE) == "python":
        raise NoExtension(f"{VARIABLE} is python", expected=True)
    argv = command(source)
    folder = cache() / f"direct-{_key(argv, source)}"
    library, failure = folder / "direct.so", folder / "failure.txt"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not library.exists() and not failure.exists():
                _compile(argv, library, failure)
    if not library.exists():
        said = failure.read_text(encoding="utf-8")
        raise NoExtension(
            f"{source.name} was not compiled; delete {folder} to try again, or set {VARIABLE}=python.\n{said}", False
        )
    return library


def command(source: Path = SOURCE) -> list[str]:
    """Return the argv that compiles `source` to direct.so in the current folder. Raises NoExtension where a part is missing."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX") or "g++", "c++", "clang++"))), None)
    if compiler is None:
        raise NoExtension("no C++ compiler is on PATH", expected=True)
    torch_folder, python = Path(torch.__file__).parent, Path(sysconfig.get_path("include"))
    headers = [torch_folder / "include", torch_folder / "include/torch/csrc/api/include", python]
    for needed in (headers[0] / "ATen/core/Tensor.h", python / "Python.h"):
        if not needed.exists():
            raise NoExtension(f"{needed} is missing", expected=True)
    flags = ["-O2", "-std=c++20", "-fPIC", "-shared", "-w", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"]
    libraries = [f"-L{torch_folder / 'lib'}", "-lc10", "-ltorch_cpu", "-ltorch_python"]
    return [compiler, *flags, *(f"-isystem{each}" for each in headers), str(source), "-o", "direct.so", *libraries]


def _compile(argv: list[str], library: Path, failure: Path) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent) as made:
        ran = subprocess.run(argv, cwd=made, capture_output=True, text=True, check=False)
        if ran.returncode:
            failure.write_text(ran.stderr[-2000:], encoding="utf-8")
        else:
            (Path(made) / library.name).replace(library)


def _load(library: Path) -> ModuleType:
    spec = spec_from_file_location("direct", library, loader=ExtensionFileLoader("direct", str(library)))
    assert spec is not None  # noqa: S101 - a loader was given
    assert spec.loader is not None  # noqa: S101 - the same
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise NoExtension(f"{library} can't be loaded; delete its folder to compile it again: {error}", False) from error
    return module


def _key(argv: list[str], source: Path) -> str:
    """Return a name for what decides the extension: command, compiler, source, torch, Python."""
    version = subprocess.run([argv[0], "--version"], capture_output=True, check=False).stdout
    parts = [" ".join(argv).encode(), version, source.read_bytes(), torch.__version__.encode(), sys.version.encode()]
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:24]
