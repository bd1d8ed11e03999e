"""Compile versions of the sources as rules compare them, several at a time, and keep what was read below .git/expctl.

Nothing is linked or run. What is kept is found again by sources and compiler, and may be deleted at any time. What the commit
brings with it (compiled_file.py) is looked up as well.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING
from weakref import finalize

import msgspec

from expctl.adapters.child.arguments import child_environment, fill
from expctl.adapters.rules import compiled_file
from expctl.adapters.rules.abandoned import remove_abandoned
from expctl.adapters.rules.commands import anywhere, at_once
from expctl.adapters.rules.version_files import changed_files, source_folders, version_files
from expctl.adapters.steps.preprocessed import flags_tell_all, source_hash
from expctl.domain.protocol.alone import first_alone
from expctl.domain.protocol.model import Environment
from expctl.domain.rules.compile_fault import compile_fault
from expctl.domain.rules.meaning import Compiled, Version, View, Wanted
from expctl.domain.run.step_result import Available
from expctl.files import atomic_write
from expctl.files.cache_folder import CacheFolder
from expctl.launcher.captured import Timeout, captured
from expctl.launcher.launch import ChildLimits

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader
    from expctl.domain.protocol.model import Build, Protocol, Target, Toolchain
    from expctl.ports.measuring import Recipe

AT_A_TIME = min(os.cpu_count() or 1, 3) + 1
"""Compilations at a time: one more than processors, so that none waits for the last of an odd number, but few enough to leave a
large machine to others."""
TRIALS = 2
"""Of a command that a signal ends: where memory is short a compiler is killed, which is no fault of what it compiles."""
READER = "expctl.inspection.readers.compiled_functions"


class CompiledVersions:
    """Compiles versions of the sources in `git` by `recipes`, with a cache below `state`. `mark` is in the environment of its
    children. `protocol` is what says how targets are built. What HEAD brings with it is used only if `brings` is true.
    """

    def __init__(
        self,
        git: GitReader,
        recipes: Mapping[Toolchain, Recipe],
        *,
        state: Path,
        mark: str,
        protocol: Protocol,
        brings: bool = True,
    ) -> None:
        self._git = git
        self._recipes = recipes
        self._state = state
        self._sources, self._compiled = CacheFolder(state / "sources"), CacheFolder(state / "compiled")
        self._mark = mark
        self.protocol = protocol
        self._environment = Environment()
        self._functions = state / "read"
        self._functions.mkdir(parents=True, exist_ok=True)
        self._read = CacheFolder(self._functions, prefix=f"{_code()}.")
        self._brings = brings
        remove_abandoned(state)
        work = Path(tempfile.mkdtemp(prefix=f"work.{os.getpid()}.", dir=state))
        finalize(self, atomic_write.remove_tree, work)
        self._free: SimpleQueue[Path] = SimpleQueue()
        for number in range(AT_A_TIME):
            self._free.put(work / str(number))
        self._here: dict[str, bool] = {}
        self._names: dict[Wanted, str | None] = {}
        self._asked: dict[str, str] = {}
        self._making: defaultdict[str, Lock] = defaultdict(Lock)
        self._answers: dict[Toolchain, Mapping[str, str] | None] = {}
        self._versions = {name: self._tools(target) for name, target in protocol.targets.items()}

    def targets(self) -> tuple[str, ...]:
        """Return the targets whose sources can be compiled and read here, in the order of the protocol."""
        return tuple(name for name, versions in self._versions.items() if versions is not None)

    def here(self, versions: Sequence[tuple[Version, str]]) -> tuple[bool, ...]:
        """Is each version to be had for its target: is its commit here, and do its patches fit?"""
        return tuple(self._changes(*each) is not None for each in versions)

    def differ(self, one: Version, other: Version, target: str) -> bool:
        """Is the preprocessed source of `target` another one in two versions, in the first of its configs or in all? If not, no
        compiler tells them apart.
        """
        folders = source_folders(self.protocol, target)
        made = [changed_files(self._git, each, folders) for each in (one, other) if each.commit == one.commit]
        if len(made) == 2 and made[0] == made[1]:
            return False
        alone = [True] if first_alone(self.protocol.targets[target]) is not None else []
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            for each in (*alone, False):
                first, second = pool.map(self._name, (Wanted(version, target, alone=each) for version in (one, other)))
                if first != second:
                    return True
        return False

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        """Return what the compilers make of each version; None where a patch doesn't fit its commit, that isn't here, or the
        compiler can't write what is asked for (nvcc: machine code).
        """
        once = dict.fromkeys(wanted)
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            names = dict(zip(once, pool.map(self._name, once), strict=True))
            first = {name: each for each, name in reversed(names.items()) if name is not None}
            made = dict(zip(first, pool.map(self._made, first, first.values()), strict=True))
        return tuple(made[name] if (name := names[each]) is not None else None for each in wanted)

    def packed(self, wanted: Sequence[Wanted]) -> bytes:
        """Return a file with what the compilers make of `wanted`, for clones that haven't compiled it."""
        made = zip(wanted, self.compiled(wanted), strict=True)
        compiled = {name: msgspec.json.encode(each) for one, each in made if each is not None and (name := self._name(one))}
        return compiled_file.packed(self._asked, compiled, self._read.entries())

    @cached_property
    def _brought(self) -> compiled_file.Brought:
        file = self._git.read_file(self._git.place.head, compiled_file.FILE) if self._brings else None
        return compiled_file.unpacked(file)

    def _tools(self, target: Target) -> Mapping[str, str] | None:
        recipe = self._recipes[target.build.toolchain]
        if not recipe.listing(target.build, out=Path(), view=View.MEANING):
            return None
        if target.build.toolchain not in self._answers:
            answer = recipe.availability(target.build)
            self._answers[target.build.toolchain] = answer.versions if isinstance(answer, Available) else None
        return self._answers[target.build.toolchain]

    # Which version is which: by commit and patch, and by the preprocessed source.

    def _name(self, wanted: Wanted) -> str | None:
        """Return what `_key` does, which is asked once."""
        if wanted not in self._names:
            self._names[wanted] = self._key(wanted)
        return self._names[wanted]

    def _key(self, wanted: Wanted) -> str | None:
        """Return the name under which what is compiled is kept: that of its preprocessed source, so that a patch which doesn't
        reach a target needs no compiler. None if the patch doesn't fit, the commit isn't here, or nothing can be written.
        """
        version, target, view, _ = wanted
        build, folders = self._build(wanted), source_folders(self.protocol, target)
        if not self._recipes[build.toolchain].listing(build, out=Path(), view=view):
            return None
        changes = self._changes(version, target)
        if changes is None:
            return None
        sources = self._git.files_identity(version.commit, folders)
        made = {path: hashlib.sha256(text).hexdigest() if text is not None else "" for path, text in changes.items()}
        own = _hash(_code(), msgspec.to_builtins(build), dict(self._versions[target] or {}), sources, made)
        kept = (self._sources.get(own) or b"").decode() or self._brought.sources.get(own, "")
        if not kept:
            kept = self._preprocessed(version_files(self._git, version, folders) or {}, target, build) or own
            self._sources.put(own, kept.encode())
        self._asked[own] = kept
        words = anywhere(self._recipes[build.toolchain].listing(build, out=Path(), view=view))
        return _hash(kept, view, words, *([msgspec.to_builtins(build)] if view is View.CODE else []))

    def _changes(self, version: Version, target: str) -> Mapping[str, bytes | None] | None:
        folders = source_folders(self.protocol, target)
        return changed_files(self._git, version, folders) if self._is_here(version.commit) else None

    def _is_here(self, commit: str) -> bool:
        """Has this clone the commit? A shallow one lacks the baselines of older experiments."""
        if commit not in self._here:
            self._here[commit] = commit == self._git.place.head or self._git.names_commit(commit)
        return self._here[commit]

    def _build(self, wanted: Wanted) -> Build:
        target = self.protocol.targets[wanted.target]
        return (first_alone(target) if wanted.alone else None) or target.build

    def _preprocessed(self, files: Mapping[str, bytes], target: str, build: Build) -> str:
        recipe = self._recipes[build.toolchain]
        with self._tree(files) as (tree, out):
            command = recipe.listing(build, out=out / "source", view=View.SOURCE)
            if not command or not flags_tell_all(build.flags, tree) or self._fails(command, target, tree, out):
                return ""
            text = (out / "source").read_bytes()
        words = (
            *anywhere(recipe.listing(build, out=Path(), view=View.SOURCE)),
            str(dict(self._versions[target] or {})),
            _code(),
        )
        return source_hash(words, text, is_assembled=False)

    # Compiling.

    def _made(self, name: str, wanted: Wanted) -> Compiled:
        with self._making[name]:  # two targets may be built from the same source in the same way
            if (kept := self._compiled.get(name)) is not None:
                return msgspec.json.decode(kept, type=Compiled)
            if (brought := compiled_file.compiled_of(self._brought, name)) is not None:
                return brought  # not kept: other commits need not believe what this one brings
            made = self._compile(wanted)
            self._compiled.put(name, msgspec.json.encode(made))
            return made

    def _compile(self, wanted: Wanted) -> Compiled:
        version, target, view, _ = wanted
        build = self._build(wanted)
        files = version_files(self._git, version, source_folders(self.protocol, target)) or {}
        with self._tree(files) as (tree, out):
            listing, answer = out / "listing", out / "answer"
            recipe, said = self._recipes[build.toolchain], ""
            commands = [recipe.listing(build, out=listing, view=each) for each in _forms(view)]
            for command in filter(None, commands):
                said = self._fails(command, target, tree, out)
                if not said:
                    break
            if said:
                return Compiled(fault=compile_fault(said) or "it does not compile")
            (brought := out / "brought").write_bytes(msgspec.json.encode(self._brought.functions))
            reads = ("{python}", "-P", "-m", READER, view, *map(str, (listing, answer, self._functions)), _code(), str(brought))
            said = self._fails(reads, target, tree, out, self._functions)
            if said:
                raise ValueError(f"{READER} can't read what the compiler of {target} wrote: {said[-400:]}")
            return msgspec.json.decode(answer.read_bytes(), type=Compiled)

    def _fails(self, command: Sequence[str], target: str, tree: Path, out: Path, *shared: Path) -> str:
        """Run a command in `tree`, which may write to `out` and `shared`; return what it said if it fails, else nothing."""
        environment = child_environment(self._environment, out, self._mark)
        cache = self._state.parent / "cache" / "zig"
        for folder in (cache, out / "objects"):
            folder.mkdir(parents=True, exist_ok=True)
        environment |= {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(out / "objects"), "LC_ALL": "C"}
        limits, timeout_s = ChildLimits(scratch=(out,), shared=(cache, *shared)), self.protocol.targets[target].build.timeout_s
        argv = fill(at_once(command), {"{python}": sys.executable})
        for _ in range(TRIALS):
            try:
                ran = captured(argv, timeout_s=timeout_s, environment=environment, cwd=tree, limits=limits)
            except Timeout as error:
                return f"error: {error}"
            if ran.status >= 0:
                break
        return (ran.err or ran.out or "error: the compiler failed") if ran.status else ""

    @contextmanager
    def _tree(self, files: Mapping[str, bytes]) -> Iterator[tuple[Path, Path]]:
        """Put files into a folder of this process; give it, and an empty one for what is made of them. There are as many as
        threads, used again and again, since what confines a child is made for its folders.
        """
        folder = self._free.get()
        try:
            atomic_write.remove_tree(folder)
            tree, out = folder / "tree", folder / "out"
            out.mkdir(parents=True)
            for path, contents in files.items():
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_bytes(contents)
            yield tree, out
        finally:
            self._free.put(folder)


@cache
def _code() -> str:
    """Return a hash of what makes and reads a compiler's text: what was read by other code is compiled anew."""
    found = importlib.util.find_spec(READER)
    folder = Path(found.origin).parents[1] if found is not None and found.origin is not None else Path()
    return _hash(*(file.read_text() for file in sorted((*folder.glob("readers/*.py"), *folder.glob("cuda_stubs/*.h")))))


def _forms(view: View) -> tuple[View, ...]:
    """Return what is read as `view`, the first that compiles: another compiler may know less of a language than its own."""
    return (View.MEANING, View.CODE) if view is View.MEANING else (view,)


def _hash(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:40]
