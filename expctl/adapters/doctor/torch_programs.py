"""Finds which steps of a protocol use torch, by the text of their scripts and of the repository's modules that these import."""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from expctl.domain.environment.snapshot import CompiledStep
from expctl.domain.protocol.model import Protocol, Target
from expctl.domain.protocol.step import Step

IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+\(?\s*([\w, ]*)|import\s+([\w., ]+))", re.MULTILINE)
USES_TORCH = re.compile(r"^\s*(?:import|from)\s+torch\b", re.MULTILINE)
COMPILES = re.compile(r"^[^#\n]*\btorch\.compile\s*(?:\(|$)", re.MULTILINE)
SETS_PRECISION = re.compile(r"set_float32_matmul_precision|\bfp32_precision\b|\ballow_tf32\b")
FILES_MOST = 200
OURS = "expctl"  # the library that a harness imports: it uses torch only where the kernel does


class Programs(Struct, frozen=True, kw_only=True):
    """What the Python files of a protocol's steps do with torch."""

    uses_torch: bool = False
    sets_precision: bool = False
    compiled: tuple[CompiledStep, ...] = ()


def torch_programs(protocol: Protocol, root: Path) -> Programs:
    """Return what the steps of `protocol` do with torch, by the files below `root`."""
    uses = sets = False
    compiled = []
    for name, target in protocol.targets.items():
        for key, step, script in _scripts(target, root):
            texts = list(_texts(script, root))
            uses |= any(map(USES_TORCH.search, texts))
            sets |= any(map(SETS_PRECISION.search, texts))
            if any(map(COMPILES.search, texts)):
                path = str(script.relative_to(root))
                compiled.append(CompiledStep(target=name, step=key, script=path, timeout_s=step.timeout_s))
    return Programs(uses_torch=uses, sets_precision=sets, compiled=tuple(compiled))


def _scripts(target: Target, root: Path) -> Iterator[tuple[str, Step, Path]]:
    benchmark = target.benchmark and Step(argv=target.benchmark.argv, timeout_s=target.benchmark.timeout_s)
    for key, step in (("test", target.test), ("benchmark", benchmark), ("profile", target.profile)):
        files = (root / word for word in (step.argv if step else ()) if word.endswith(".py"))
        if step and (script := next((file for file in files if file.is_file()), None)):
            yield key, step, script


def _texts(script: Path, root: Path) -> Iterator[str]:
    """Yield the text of `script`, then of each module of the repository that it imports, directly or not."""
    waiting, seen = [script], {script}
    while waiting and len(seen) < FILES_MOST:
        text = waiting.pop().read_text(errors="replace")
        yield text
        found = {file for name in _imported(text) if (file := _module(name, script.parent, root))}
        waiting += sorted(found - seen)
        seen |= found


def _imported(text: str) -> Iterator[str]:
    for package, names, modules in IMPORT.findall(text):
        yield from (each.split()[0] for each in modules.split(",") if each.strip())
        if package:
            yield package
            yield from (f"{package}.{each.split()[0]}" for each in names.split(",") if each.strip())


def _module(name: str, folder: Path, root: Path) -> Path | None:
    if name.partition(".")[0] == OURS:
        return None
    files = (base / f"{name.replace('.', '/')}.py" for base in (folder, root))
    return next((file for file in files if file.is_file()), None)
