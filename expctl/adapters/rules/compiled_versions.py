"""Compile versions of the sources as rules compare them, several at a time, and keep what was read below .git/expctl.

Nothing is linked or run. What is kept is found again by sources and compiler, and may be deleted at any time. What the commit
brings with it (compiled_file.py) is looked up as well.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from expctl.adapters.rules import compiled_file
from expctl.adapters.rules.abandoned import remove_abandoned
from expctl.adapters.rules.by_kernel import LISTING, SOURCE, Apart, ByKernel
from expctl.adapters.rules.commands import anywhere
from expctl.adapters.rules.readings import Readings, code, hashed
from expctl.adapters.rules.version_files import changed_files, source_folders, version_files
from expctl.adapters.rules.workplaces import AT_A_TIME, Workplaces
from expctl.adapters.steps.preprocessed import flags_tell_all, source_hash
from expctl.domain.protocol.alone import first_alone
from expctl.domain.rules.compile_fault import NAMELESS, compile_fault
from expctl.domain.rules.meaning import Compiled, Version, View, Wanted
from expctl.domain.run.step_result import Available
from expctl.files.cache_folder import CacheFolder

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader
    from expctl.domain.protocol.model import Build, Protocol, Target, Toolchain
    from expctl.ports.measuring import Recipe


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
        self._sources, self._compiled = CacheFolder(state / "sources"), CacheFolder(state / "compiled")
        self.protocol = protocol
        self._head = head = compiled_file.AtHead(lambda: git.read_file(git.place.head, compiled_file.FILE) if brings else None)
        state.mkdir(parents=True, exist_ok=True)
        remove_abandoned(state)
        self._places = Workplaces(state, mark)
        self._readings = Readings(state, self._places, lambda: head.brought.functions)
        self._kernels = ByKernel(
            state, self._places, self._readings, lambda name: compiled_file.compiled_of(head.brought, name)
        )
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
        for each in wanted:
            if each.alone and not each.version.patch:
                self._name(each._replace(alone=False))  # by which `differ` tells versions apart that are one in a part
        compiled = {name: msgspec.json.encode(each) for one, each in made if each is not None and (name := self._name(one))}
        return compiled_file.packed(self._asked, {**compiled, **self._kernels.kept.entries()}, self._readings.kept.entries())

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
        own = hashed(code(), msgspec.to_builtins(build), dict(self._versions[target] or {}), sources, made)
        with self._making[own]:
            kept = (self._sources.get(own) or b"").decode() or self._head.brought.sources.get(own, "")
            if not kept:
                kept = self._preprocessed(version_files(self._git, version, folders) or {}, target, build) or own
                self._sources.put(own, kept.encode())
        self._asked[own] = kept
        more = [msgspec.to_builtins(build)] if view is View.CODE else []
        more += ["a kernel of each kind"] if self._is_sample(wanted) else []
        return hashed(kept, view, self._words(build, view), *more)

    def _words(self, build: Build, view: View) -> list[Sequence[str]]:
        """Return the commands that make what a view is read from, as they would be on any machine."""
        recipe = self._recipes[build.toolchain]
        views = (View.UNOPTIMISED, View.MEANING) if view is View.MEANING else (view,)
        return [anywhere(recipe.listing(build, out=Path(), view=each)) for each in views]

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
        with self._places.tree(files) as (tree, out):
            command = recipe.listing(build, out=out / "source", view=View.SOURCE)
            if not command or not flags_tell_all(build.flags, tree) or self._fails(command, target, tree, out):
                return ""
            text = (out / "source").read_bytes()
        words = (
            *anywhere(recipe.listing(build, out=Path(), view=View.SOURCE)),
            str(dict(self._versions[target] or {})),
            code(),
        )
        return source_hash(words, text, is_assembled=False)

    # Compiling.

    def _made(self, name: str, wanted: Wanted) -> Compiled:
        with self._making[name]:  # two targets may be built from the same source in the same way
            if (kept := self._compiled.get(name)) is not None:
                return msgspec.json.decode(kept, type=Compiled)
            if (brought := compiled_file.compiled_of(self._head.brought, name)) is not None:
                return brought  # not kept: other commits need not believe what this one brings
            made = self._compile(wanted)
            self._compiled.put(name, msgspec.json.encode(made))
            return made

    def _compile(self, wanted: Wanted) -> Compiled:
        """Compile a version: kernel by kernel where that can be, else as a whole."""
        version, target, view, _ = wanted
        build = self._build(wanted)
        files = version_files(self._git, version, source_folders(self.protocol, target)) or {}
        apart = self._apart(files, build, target) if view is View.MEANING else Apart()
        if not apart.kernels and self._is_sample(wanted):
            whole = wanted._replace(alone=False)
            return self._made(self._name(whole) or "", whole)
        if apart.kernels:
            chosen = apart.of_each_kind if self._is_sample(wanted) else apart.kernels
            alone = replace(build, source=SOURCE)
            command = self._recipes[build.toolchain].listing(alone, out=Path(LISTING), view=view)
            words = (*self._words(alone, view), dict(self._versions[target] or {}), code())
            texts = {name: apart.kernels[name] for name in chosen}
            found = self._kernels.compiled(texts, command, words, timeout_s=self._timeout_s(target))
            if found is not None:
                out = (name.strip('@"') for name in apart.kernels if name not in chosen)
                return replace(found, left_out=tuple(out))
        return self._as_a_whole(files, build, target, view)

    def _is_sample(self, wanted: Wanted) -> bool:
        """Is a kernel of each kind asked for, and no config?"""
        return wanted.alone and wanted.view is View.MEANING and first_alone(self.protocol.targets[wanted.target]) is None

    def _apart(self, files: Mapping[str, bytes], build: Build, target: str) -> Apart:
        """Return the kernels of a version before the optimiser; none where they aren't taken apart."""
        with self._places.tree(files) as (tree, out):
            command = self._recipes[build.toolchain].listing(build, out=out / "listing", view=View.UNOPTIMISED)
            if not command or self._fails(command, target, tree, out):
                return Apart()
            answer = self._readings.read(View.UNOPTIMISED, out / "listing", tree, out, timeout_s=self._timeout_s(target))
        return msgspec.json.decode(answer, type=Apart)

    def _as_a_whole(self, files: Mapping[str, bytes], build: Build, target: str, view: View) -> Compiled:
        with self._places.tree(files) as (tree, out):
            listing = out / "listing"
            recipe, said = self._recipes[build.toolchain], ""
            commands = [recipe.listing(build, out=listing, view=each) for each in _forms(view)]
            for command in filter(None, commands):
                said = self._fails(command, target, tree, out)
                if not said:
                    break
            if said:
                return Compiled(fault=compile_fault(said) or NAMELESS)
            answer = self._readings.read(view, listing, tree, out, timeout_s=self._timeout_s(target))
            return msgspec.json.decode(answer, type=Compiled)

    def _fails(self, command: Sequence[str], target: str, tree: Path, out: Path) -> str:
        """Return what a command of a compiler said if it fails, else nothing."""
        return self._places.fails(command, tree, out, timeout_s=self._timeout_s(target))

    def _timeout_s(self, target: str) -> float:
        return self.protocol.targets[target].build.timeout_s


def _forms(view: View) -> tuple[View, ...]:
    """Return what is read as `view`, the first that compiles: another compiler may know less of a language than its own."""
    return (View.MEANING, View.CODE) if view is View.MEANING else (view,)
