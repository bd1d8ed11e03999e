"""Look at a repository: which sources, Makefile, tests and virtual environment does it have? From that, a first protocol."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from expctl.adapters.child.arguments import shared_variables
from expctl.adapters.init import c_functions, gpus, python_functions
from expctl.adapters.init.samples import NAMES, SAMPLES
from expctl.domain.errors import Misused
from expctl.domain.protocol.first_protocol import FirstProtocol, Gpu, Kind, Sketch
from expctl.domain.protocol.model import Environment
from expctl.domain.text import one_line
from expctl.launcher.captured import captured
from expctl.launcher.interpreter import NoInterpreter, look_at

LIST_S = 60.0
ENVIRONMENT_MARK = "pyvenv.cfg"
BYTES_MOST = 1 << 20
ENDINGS = {Kind.C: (".c", ".cc", ".cpp", ".cxx"), Kind.CUDA: (".cu",), Kind.HIP: (".hip",)}
NO_KERNEL = re.compile(
    r"(^|/)(tests?|testing|bench\w*|docs?|examples?|third_party|vendor|setup\.py|conftest\.py|noxfile\.py)(/|$)"
)
TEST_FOLDER = re.compile(r"^(tests?)/(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py$")
SHARED_LIBRARY = re.compile(r"^([\w./-]+\.so)\s*:(?!=)", re.MULTILINE | re.ASCII)
PACKAGES = {Kind.C: ("numpy",), Kind.PYTHON: ("numpy",), Kind.TRITON: ("numpy", "torch", "triton")}
ENVIRONMENTS = (".venv/bin/python", "venv/bin/python", "env/bin/python")
COMPILERS = {"c": ("cc", "gcc", "clang"), "cpp": ("c++", "g++", "clang++")}


@dataclass(frozen=True, slots=True)
class Repository:
    """The files of a repository that git doesn't ignore, as paths relative to `root`."""

    root: Path
    files: tuple[str, ...]

    def text(self, path: str) -> str:
        """Return the text of a file; "" for one that is large or can't be read."""
        file = self.root / path
        try:
            return file.read_text(errors="replace") if file.stat().st_size <= BYTES_MOST else ""
        except OSError:
            return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the user said on the command line; empty for what is to be found."""

    kind: Kind | None = None
    source: str = ""
    function: str = ""
    scope: str = ""
    harness: str = "bench"
    build: tuple[str, ...] = ()
    artifact: str = ""


def look(root: Path) -> Repository:
    """Return the repository at `root`, with files that are not committed yet, without those of a virtual environment."""
    listed = captured(["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"], timeout_s=LIST_S).out
    paths = sorted(path for path in set(listed.split("\0")) if path)
    environments = tuple(path.removesuffix(ENVIRONMENT_MARK) for path in paths if path.endswith(f"/{ENVIRONMENT_MARK}"))
    return Repository(root, tuple(path for path in paths if not path.startswith(environments)))


def first_protocol(seen: Repository, wishes: Wishes, *, sample: Callable[[Kind], str]) -> FirstProtocol:
    """Return what is to be written. A source that is as `sample` returns it comes from a call that was killed: it is the sample
    again. Raises Misused where nothing says which kind or which source is meant.
    """
    kind = wishes.kind or _kind(seen)
    if wishes.source:
        _check_source(seen, kind, wishes.source)
    sources = [wishes.source] if wishes.source else _sources(seen, kind)
    if kind.is_python and len(sources) > 1:
        raise _several(sources)
    own = f"{wishes.scope or 'src'}/{NAMES[kind]}"
    is_sample = not sources or (sources == [own] and not wishes.source and seen.text(own) == sample(kind))
    sketch = _chosen(seen, kind, [] if is_sample else sources, wishes.function)
    source = own if is_sample else sources[0]
    scope = (wishes.scope,) if wishes.scope else _scope(kind, sources or [source])
    sketch = sketch or SAMPLES[kind]
    gpu, tests = _gpu(kind), _test_folders(seen)
    toolchain, build, executables = _toolchain(seen, wishes, kind, sources or [source])
    if kind is Kind.TRITON and gpu is None and is_sample:
        sketch = replace(sketch, size="rows=16", size_words="rows=16")
    packages = PACKAGES.get(kind, ("numpy", "torch"))
    packages += ("pytest",) if tests and kind.is_python and not is_sample else ()
    return FirstProtocol(
        kind=kind,
        name=os.fsencode(seen.root.name).decode(errors="replace"),
        scope=scope,
        harness=(wishes.harness, *tests),
        tests=tests,
        script=f"{wishes.harness}/harness.py",
        source=source,
        artifact=wishes.artifact or (f"kernel{PurePosixPath(source).suffix}" if toolchain == "source" else "kernel.so"),
        sketch=sketch,
        build=build,
        toolchain=toolchain,
        gpu=gpu,
        python=_python(seen.root, packages),
        executables=executables,
        packages=(*packages, *(("ziglang",) if "ziglang" in build else ())),
        is_sample=is_sample,
    )


def _kind(seen: Repository) -> Kind:
    """Return the kind of the sources; a GPU's before C, and Triton's before others in Python."""
    for kind in (Kind.HIP, Kind.CUDA, Kind.TRITON, Kind.TORCH, Kind.C, Kind.PYTHON):
        if _sources(seen, kind):
            return kind
    raise Misused(
        "nothing here says what kind of kernel is meant",
        code="kind-unknown",
        expected=f"--kind {', '.join(Kind)}",
        found="no source of one of these kinds",
        where=str(seen.root),
        hint="for a sample to begin with: expctl init --kind c",
    )


def _sources(seen: Repository, kind: Kind) -> list[str]:
    paths = [path for path in seen.files if not NO_KERNEL.search(path)]
    if not kind.is_python:
        paths = [path for path in paths if path.endswith(ENDINGS[kind])]
        return [path for path in paths if not c_functions.has_main(seen.text(path))]
    return [path for path in paths if path.endswith(".py") and python_functions.kind_of(seen.text(path)) is kind]


def _sketches(kind: Kind, text: str) -> Iterable[Sketch]:
    return python_functions.sketches(text, kind) if kind.is_python else c_functions.sketches(text)


def _chosen(seen: Repository, kind: Kind, sources: list[str], function: str) -> Sketch | None:
    """Return the sketch of the function that is declared or named by `function`, else of the first; None without sources."""
    declared = "(" in function and not kind.is_python
    texts = [f"{function.rstrip(';')} {{"] if declared else [seen.text(path) for path in sources]
    found = [each for text in texts for each in _sketches(kind, text)]
    chosen = next((each for each in found if declared or function in ("", each.function)), None)
    if chosen is None and (sources or function):
        raise _no_function(kind, sources, function, [each.function for each in found])
    return chosen


def _check_source(seen: Repository, kind: Kind, source: str) -> None:
    """Raise Misused for a source that isn't there, or is of another kind."""
    ending = (".py",) if kind.is_python else ENDINGS[kind]
    if not (seen.root / source).is_file() or not source.endswith(ending):
        raise Misused(
            f"--source is no {kind} source",
            code="source-unfit",
            expected=f"a file of the repository that ends in {' or '.join(ending)}",
            found=source if (seen.root / source).is_file() else f"no file {source}",
            where=str(seen.root),
            hint="give its path from the top of the repository; for a sample kernel leave --source out",
        )


def _no_function(kind: Kind, sources: list[str], function: str, others: list[str]) -> Misused:
    where = "a def at the left margin" if kind.is_python else "not static: void scale(float *x, long n) {"
    other = "" if kind.is_python else ", or declare it: --function 'void scale(float *x, long n)'"
    seen = one_line(", ".join(sources) or "a repository without sources", 300)
    return Misused(
        "no function to measure was found",
        code="no-kernel-function",
        expected=f"{function or 'a function that can be called'}, {where}",
        found=f"{one_line(', '.join(others), 300) or 'none'} in {seen}",
        hint=f"name the file that has it by --source FILE (its text has to be UTF-8){other}",
    )


def _several(sources: list[str]) -> Misused:
    return Misused(
        "several files could be the kernel",
        code="several-sources",
        expected="--source FILE, one of them",
        found=one_line(", ".join(sources), 300),
        hint=f"expctl init --source {sources[0]}",
    )


def _scope(kind: Kind, sources: list[str]) -> tuple[str, ...]:
    """Return the one folder of the sources, or their paths where some lie at the top. Of Python the file alone is the build, so
    that nothing else may be touched.
    """
    if kind.is_python:
        return (sources[0],)
    folders = {path.split("/")[0] if "/" in path else "" for path in sources}
    if "" in folders or len(folders) > 1:
        return tuple(sources)
    return (os.path.commonpath([str(PurePosixPath(path).parent) for path in sources]),)


def _test_folders(seen: Repository) -> tuple[str, ...]:
    """Return the folders of the user's own tests, which a patch may not change either."""
    found = (TEST_FOLDER.match(path) for path in seen.files)
    return tuple(sorted({each[1] for each in found if each}))


def _gpu(kind: Kind) -> Gpu | None:
    looks: Mapping[Kind, tuple[Callable[[], Gpu | None], ...]] = {Kind.CUDA: (gpus.nvidia,), Kind.HIP: (gpus.amd,)}
    either = (gpus.nvidia, gpus.amd) if kind in (Kind.TORCH, Kind.TRITON) else ()
    found = next((gpu for each in looks.get(kind, either) if (gpu := each()) is not None), None)
    if found is None and kind in looks:  # it is written for the machine that has one
        amd = Gpu(device="/dev/kfd", arch="gfx1151", variable="HIP_VISIBLE_DEVICES")
        return amd if kind is Kind.HIP else Gpu(device="/dev/nvidia0", arch="sm_90", variable="CUDA_VISIBLE_DEVICES")
    return found


def _toolchain(
    seen: Repository, wishes: Wishes, kind: Kind, sources: list[str]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the toolchain, the build command (() for all but `command`), and the programs that it needs."""
    if wishes.build:
        return "command", wishes.build, ()
    if kind.is_python:
        return "source", (), ()
    library = next(iter(SHARED_LIBRARY.findall(seen.text("Makefile"))), "") if kind is Kind.C else ""
    if library:
        return "command", ("sh", "-c", f'make -s {library} && cp {library} "$0"', "{artifact}"), ("make", *_compiler("c"))
    if kind is not Kind.C:
        program = "nvcc" if kind is Kind.CUDA else "hipcc"
        return program, (), (program,)
    language = "c" if all(path.endswith(".c") for path in sources) else "cpp"
    compiler = _compiler(language)
    words = compiler or ("{python}", "-m", "ziglang", "cc" if language == "c" else "c++")
    flags = ("-O3", "-march=native", "-shared", "-fPIC")
    return "command", (*words, *flags, *sources, "-o", "{artifact}", "-lm"), compiler


def _compiler(language: str) -> tuple[str, ...]:
    return tuple(each for each in COMPILERS[language] if shutil.which(each))[:1]


def _python(root: Path, packages: tuple[str, ...]) -> str:
    """Return a virtual environment's Python of the repository that has `packages`, where expctl's own lacks some."""
    if _has(sys.executable, packages):
        return ""
    return next((path for path in ENVIRONMENTS if (root / path).is_file() and _has(str(root / path), packages)), "")


def _has(python: str, packages: tuple[str, ...]) -> bool:
    try:
        found = look_at(python, packages, shared_variables(Environment()))
    except NoInterpreter:
        return False
    return all(version is not None for version in found.packages.values())
