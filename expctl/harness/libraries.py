"""How a build is loaded that is no C library: Python, torch's operators, and sources that are compiled when they are loaded."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from expctl.harness.mistake import Mistake
from expctl.harness.report import BuildFailed, Fault

if TYPE_CHECKING:
    from pathlib import Path

COMPILED_BY_TORCH = (".cu", ".hip", ".cpp", ".cc", ".cxx")


class Loader(Protocol):
    """Loads a build; what it returns is the `build` of `Kernel.call`."""

    def load(self, artifact: Path) -> Any:
        """Return the build. Raises Fault, Mistake or BuildFailed."""


class PythonFile:
    """A build that is a Python file or an extension module (pybind11, torch): `build` is the module."""

    def load(self, artifact: Path) -> Any:
        """Return the module. Raises BuildFailed for code that fails when it is imported, Fault for a file that is no module."""
        from importlib.machinery import ExtensionFileLoader, SourceFileLoader
        from importlib.util import module_from_spec, spec_from_file_location

        is_source = artifact.suffix == ".py"
        stem = artifact.name.partition(".")[0]
        name = f"build_{stem}" if is_source else stem  # an extension has its name in it
        loader = (SourceFileLoader if is_source else ExtensionFileLoader)(name, str(artifact.resolve()))
        spec = spec_from_file_location(name, artifact.resolve(), loader=loader)
        if spec is None or not artifact.is_file():
            raise Fault(f"expected a build at {artifact}, found none")
        module = module_from_spec(spec) if is_source else _extension(spec, artifact)
        sys.modules[name] = module  # pickle, dataclasses and triton look there
        before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # two sides may share a folder
        try:
            loader.exec_module(module)
        except ModuleNotFoundError as error:
            raise Fault(f"{artifact.name} needs the package {error.name}, which {sys.executable} lacks") from error
        except Exception as error:
            raise BuildFailed(f"{artifact.name} can't be imported: {type(error).__name__}: {error}") from error
        finally:
            sys.dont_write_bytecode = before
        return module


def _extension(spec: Any, artifact: Path) -> Any:
    from importlib.util import module_from_spec

    try:
        return module_from_spec(spec)
    except ImportError as error:
        raise Mistake(
            'library = CLibrary(name="signature") for a C library, or a Python extension', f"{artifact.name}: {error}"
        ) from error


class TorchLibrary:
    """A build that registers torch operators (TORCH_LIBRARY): `build` is torch.ops.NAMESPACE."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def load(self, artifact: Path) -> Any:
        """Load the library and return its operators. Raises Fault, or Mistake for a namespace without any."""
        torch = package("torch")
        try:
            torch.ops.load_library(str(artifact.resolve()))
        except OSError as error:
            raise Fault(f"{artifact.name} can't be loaded by torch: {error}") from error
        names = {name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names()}
        if self._namespace not in names:
            raise Mistake(f"operators {self._namespace}::... in {artifact.name}", "none of that namespace")
        return getattr(torch.ops, self._namespace)


class TorchSource:
    """A build that is C++, CUDA or HIP source, compiled by torch.utils.cpp_extension when it is loaded: `build` is the module.

    The artifact is one source with a PYBIND11_MODULE(TORCH_EXTENSION_NAME, m), or, where `functions` are named, without one.
    """

    def __init__(self, functions: Sequence[str] = (), flags: Sequence[str] = ()) -> None:
        self._functions, self._flags = list(functions), list(flags)

    def load(self, artifact: Path) -> Any:
        """Compile and return the module. Raises BuildFailed for a source that doesn't compile, Fault without a compiler."""
        package("torch")
        cpp = package("torch.utils.cpp_extension")
        import hashlib

        name = f"build_{hashlib.sha256(artifact.read_bytes()).hexdigest()[:12]}"
        is_device = artifact.suffix in (".cu", ".hip")
        flags = {("extra_cuda_cflags" if is_device else "extra_cflags"): self._flags}
        try:
            if self._functions:
                source = {("cuda_sources" if is_device else "cpp_sources"): artifact.read_text()}
                return cpp.load_inline(name, **{"cpp_sources": "", **source}, functions=self._functions, **flags)
            return cpp.load(name, [str(artifact.resolve())], **flags)
        except RuntimeError as error:
            raise BuildFailed(f"{artifact.name} doesn't compile: {_last_lines(error)}") from error
        except OSError as error:  # no CUDA_HOME, no ninja
            raise Fault(f"{artifact.name} can't be compiled here: {error}") from error


class CupySource:
    """A build that is CUDA or HIP source of kernels (extern "C"), compiled by cupy: `build.dot(grid, block, arguments)`."""

    def __init__(self, *kernels: str, flags: Sequence[str] = ()) -> None:
        self._kernels, self._flags = kernels, tuple(flags)

    def load(self, artifact: Path) -> Any:
        """Compile and return an object with the kernels as attributes. Raises BuildFailed, Mistake, or Fault without cupy."""
        from types import SimpleNamespace

        cupy = package("cupy")
        module = cupy.RawModule(code=artifact.read_text(), options=self._flags)
        try:
            return SimpleNamespace(**{name: module.get_function(name) for name in self._kernels})
        except cupy.cuda.compiler.CompileException as error:
            raise BuildFailed(f"{artifact.name} doesn't compile: {_last_lines(error)}") from error
        except cupy.cuda.driver.CUDADriverError as error:
            raise Mistake(f'kernels {", ".join(self._kernels)} in {artifact.name}, each extern "C"', str(error)) from error


def loader_for(artifact: Path) -> Loader:
    """Return how a build without a `library` is loaded, by the ending of its name."""
    return TorchSource() if artifact.suffix in COMPILED_BY_TORCH else PythonFile()


def package(name: str) -> Any:
    """Return the module `name`. Raises Fault with what to install."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        raise Fault(f"expected the package {top}, found none for {sys.executable}: install it there ({error})") from error


def _last_lines(error: Exception) -> str:
    return " ".join(line.strip() for line in str(error).splitlines() if "error" in line.lower())[:400] or str(error)[-400:]
