"""What suite.yaml asks for: the command and the bytes of each kernel and shape, and what contradicts itself."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from expctl.check.expression import BadExpression, whole
from expctl.suite.model import ITERATIONS_LEAST, WARMUPS_LEAST, Suite, SuiteKernel

WORD = re.compile(r"\{([A-Za-z_]\w*)\}")
FILE_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
LATER = ("python", "out", "times")
"""Words of a command that are known when it is started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCase:
    """One kernel and shape. In `argv` only the words of LATER are left to be filled. `moved` are the bytes that one call must
    read and write, None if unknown. `told` says that the command is given the numbers of warm-ups and iterations.
    """

    kernel: str
    shape: str
    argv: tuple[str, ...]
    moved: int | None
    traced: str
    told: bool


def cases_of(suite: Suite) -> tuple[SuiteCase, ...]:
    """Return every kernel and shape of a suite in which `faults` found nothing, in the order of the file."""
    return tuple(_case(suite, name, kernel, shape) for name, kernel in suite.kernels.items() for shape in kernel.shapes)


def _case(suite: Suite, name: str, kernel: SuiteKernel, shape: Mapping[str, int]) -> SuiteCase:
    words = _words(suite, kernel, shape)
    optional = [word for option, words in kernel.optional.items() if shape.get(option) for word in words]
    command = (*suite.trace, *kernel.argv, *optional)
    return SuiteCase(
        kernel=name,
        shape=shape_text(kernel, shape),
        argv=tuple(WORD.sub(lambda found: words.get(found[1], found[0]), word) for word in command),
        moved=moved_bytes(kernel, shape),
        traced=kernel.traced,
        told={"warmups", "iterations"} <= {found for word in command for found in WORD.findall(word)},
    )


def shape_text(kernel: SuiteKernel, shape: Mapping[str, int]) -> str:
    """Return the name of a shape, such as `M=512 N=512 K=512 bias`."""
    extents = [f"{name}={value}" for name, value in shape.items() if name not in kernel.optional]
    return " ".join([*extents, *(name for name in kernel.optional if shape.get(name))])


def moved_bytes(kernel: SuiteKernel, shape: Mapping[str, int]) -> int | None:
    """Return the bytes that one call must move; None where the suite doesn't say. What is optional counts only where the shape
    has it. Raises BadExpression.
    """
    extents = {name: shape.get(name, 0) for name in (*shape, *kernel.optional)}
    counted = [text for name, text in kernel.bytes.items() if name not in kernel.optional or shape.get(name)]
    return sum(whole(text, extents) for text in counted) if kernel.bytes else None


def faults(suite: Suite) -> Iterator[str]:
    """Yield what is forbidden or contradicts itself in a suite, a line for each."""
    if suite.version != 1:
        yield f"version: expected 1, found {suite.version}"
    if suite.warmups < WARMUPS_LEAST:
        yield (
            f"warmups: expected at least {WARMUPS_LEAST}, found {suite.warmups}: the first calls compile, load and fill "
            "caches, and their times say nothing of the kernel"
        )
    if suite.iterations < ITERATIONS_LEAST:
        yield f"iterations: expected at least {ITERATIONS_LEAST}, found {suite.iterations}: fewer give no spread to believe"
    if suite.timeout_s <= 0:
        yield f"timeout_s: expected more than 0, found {suite.timeout_s:g}"
    if suite.trace and not any("{out}" in word for word in suite.trace):
        yield "trace: expected {out}, the folder in which the profiler has to write its kernel trace"
    for key, named in (("environments", suite.environments), ("kernels", suite.kernels)):
        if not named:
            yield f"{key}: expected at least one"
    for name in suite.environments:
        if not FILE_NAME.fullmatch(name):
            yield f"environments.{name[:60]}: expected a name of letters, digits, '.', '_' and '-': it names files"
    yield from _path_faults("sources", *suite.sources)
    for name, kernel in suite.kernels.items():
        yield from (f"kernels.{name}.{fault}" for fault in _kernel_faults(suite, kernel))


def _kernel_faults(suite: Suite, kernel: SuiteKernel) -> Iterator[str]:
    if not kernel.argv or not kernel.shapes:
        yield "argv and shapes: expected at least one word and one shape"
    if suite.trace and not kernel.traced:
        yield "traced: expected a pattern for the names of its GPU kernels, because `trace` gives the times"
    if kernel.traced:
        yield from _pattern_faults(suite, kernel.traced)
    if not suite.trace and not any("{times}" in word for word in kernel.argv):
        yield "argv: expected {times}, the file to which the benchmark writes the us of each call, a line each; or `trace`"
    yield from _path_faults("configs", *kernel.configs)
    yield from _path_faults("source", *filter(None, [kernel.source]))
    yield from _path_faults("benchmark", *filter(None, [kernel.benchmark]))
    named: set[str] = set()
    for number, shape in enumerate(kernel.shapes):
        text = shape_text(kernel, shape)
        if text in named or not text:
            yield f"shapes[{number}]: {text or 'it is empty'}{' appears twice' if text else ''}"
        named.add(text)
        yield from (f"shapes[{number}]: {fault}" for fault in _shape_faults(suite, kernel, shape))


def _shape_faults(suite: Suite, kernel: SuiteKernel, shape: Mapping[str, int]) -> Iterator[str]:
    known = {*_words(suite, kernel, shape), *LATER}
    options = [word for words in kernel.optional.values() for word in words]
    for found in dict.fromkeys(found for word in (*kernel.argv, *options) for found in WORD.findall(word)):
        if found not in known:
            yield f"it has no {found}, which argv names"
    for name, value in shape.items():
        if name in kernel.optional and value not in (0, 1):
            yield f"{name}: expected 1 (the call has it) or 0, found {value}"
    try:
        moved = moved_bytes(kernel, shape)
    except BadExpression as error:
        yield f"bytes: {error}"
        return
    if moved is not None and moved <= 0:
        yield f"bytes: expected more than 0, found {moved}"


def _words(suite: Suite, kernel: SuiteKernel, shape: Mapping[str, int]) -> dict[str, str]:
    extents = {name: str(shape.get(name, 0)) for name in (*shape, *kernel.optional)}
    counts = {"warmups": str(suite.warmups), "iterations": str(suite.iterations)}
    return {**extents, **counts, "benchmark": kernel.benchmark}


def _pattern_faults(suite: Suite, pattern: str) -> Iterator[str]:
    if not suite.trace:
        yield "traced: it is for a suite with `trace`, the profiler's command"
    try:
        re.compile(pattern)
    except re.error as error:
        yield f"traced: no regular expression: {error}"


def _path_faults(key: str, *paths: str) -> Iterator[str]:
    for path in paths:
        if not path or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            yield f"{key}: expected a path below the repository, found {path!r}"
