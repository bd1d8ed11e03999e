"""Build targets: run a recipe's commands in a work tree and keep the artifact under the hash of its contents."""

import hashlib
import importlib.util
import json
import os
import signal
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from expctl.adapters.child.arguments import child_environment, fill, shared_folders, shared_variables
from expctl.adapters.child.contained_process import Child, ChildLimits, Gone, Launch, TimedOut, Unkillable, log_tail
from expctl.adapters.child.interpreter import python_of
from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.adapters.steps import options_file
from expctl.adapters.steps.options_file import OfSide
from expctl.adapters.steps.preprocessed import flags_tell_all, source_hash
from expctl.adapters.steps.requirements import unmet
from expctl.domain.errors import Busy, Refused
from expctl.domain.experiment.record import Artifact
from expctl.domain.machine.os_errors import is_trouble
from expctl.domain.protocol.model import Build, Environment, Target, Toolchain
from expctl.domain.protocol.options import Options, OptionsRule
from expctl.domain.run.step_result import Available, DamagedFile, Failed, Unavailable
from expctl.domain.text import one_line
from expctl.files import atomic_write
from expctl.files.disk_space import SPACE_LEAST_BYTES, check_space
from expctl.launcher.interpreter import NoInterpreter, look_at
from expctl.launcher.own_limits import changed_limits, meddling
from expctl.ports.measuring import Commands, Recipe

TRITON_CACHE = "triton"  # beside the build, so that what Triton compiles for it can be compared
FIELDS = 4  # of what is kept about a build; builds that were kept with fewer are made again
PRIVATE = ("scratch", "build", "artifacts", "checkouts")
"""Folders of the state in which a candidate leaves files. One of them may be a program with the rights of who owns it."""
ZIG = (Toolchain.ZIG_CPU, Toolchain.ZIG_GFX)
ZIG_COMPILES = (("cc",), ("c++",), ("clang",))  # `zig build` runs build.zig


class Builder(Struct, frozen=True):
    """Builds targets by `recipes`, with a cache below `state` that can be deleted at any time.

    The key of a cached build is all that can change it: the git tree of the sources, the target's build entry and environment
    in the protocol, the versions of the toolchain, and the machine (a build may be made for its own CPU). `tick` is called
    about ten times a second while a command runs. What the sources set by `options` is kept beside the build and part of it.
    """

    recipes: Mapping[Toolchain, Recipe]
    state: Path
    environment: Environment
    mark: str
    machine: str
    options: OptionsRule | None = None
    of_side: OfSide = options_file.with_variables
    image_of: Callable[[Path], str] = lambda _: ""
    space_least_bytes: int = SPACE_LEAST_BYTES
    tick: Callable[[], None] = lambda: None

    def availability(self, name: str, target: Target) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """Return the versions of the target's toolchain; Unavailable if it, a program, device or package is missing here."""
        answer = unmet(target.requires) or self.recipes[target.build.toolchain].availability(target.build)
        return answer if isinstance(answer, Unavailable) else self._with_packages(answer, target)

    def _with_packages(self, answer: Available, target: Target) -> Available | Unavailable:
        """Return `answer` with the versions of the packages that the target requires, and of an interpreter of its own."""
        names, python = target.requires.packages, python_of(self.environment)
        if not names and not self.environment.python:
            return answer
        try:
            found = look_at(python, names, shared_variables(self.environment))
        except NoInterpreter as error:
            return Unavailable(reason=f"no working Python: {error}", hint="correct environment.python in protocol.yaml")
        missing = [name for name in names if found.packages[name] is None]
        if missing:
            hint = target.requires.hint or f"{python} -m pip install {' '.join(missing)}"
            return Unavailable(reason=f"no {' and no '.join(missing)} for {python}", hint=hint)
        versions = {"python": found.version} if self.environment.python else {}
        return Available(versions={**answer.versions, **versions, **{name: str(found.packages[name]) for name in names}})

    def build(self, name: str, target: Target, *, tree: Path, sources: str, like: Artifact | None = None) -> Artifact | Failed:
        """Build `target` in folder `tree`, in all its layouts, or return a cached build; `sources` is the hash of the contents.

        If the preprocessed source is that of the build `like`, nothing is built: `like` itself is returned. Returns Failed if
        the build fails. Raises Busy if a process of the build can't be killed, Refused if an interpreter is missing that its
        options name, OSError for a full disk or other trouble of the machine.
        """
        for each in PRIVATE:
            (self.state / each).mkdir(parents=True, exist_ok=True)
            (self.state / each).chmod(stat.S_IRWXU)
        recipe = self.recipes[target.build.toolchain]
        available = self.availability(name, target)
        if isinstance(available, Unavailable):
            return Failed(reason=available.reason, fault=True)
        key = self._key(target, available, sources)
        cached = self._cached(key, target)
        if cached is not None:
            return cached
        out = self.state / "build" / key
        atomic_write.remove_tree(out)
        out.mkdir(parents=True)
        atomic_write.remove_tree(self._scratch)
        try:
            options = options_file.options_in(tree, self.options)
        except Refused as refusal:
            return Failed(reason=f"{refusal}: {one_line(refusal.found)}")
        options_file.keep(options, out)
        source = options_file.hash_with(self._source_of(recipe, target, tree, out, options), out)
        if like is not None and source and source == like.source and self.layouts(target, like) is not None:
            atomic_write.remove_tree(out)
            return like
        folders = [out / f"layout-{layout}" if layout else out for layout in range(target.layouts)]
        for layout, folder in enumerate(folders):
            folder.mkdir(exist_ok=True)
            options_file.keep(options, folder)
            commands = recipe.commands(target.build, out=folder, layout=layout, objects=self._objects)
            try:
                failed = self._run_all(commands, target, tree, folder, options)
            except OSError:
                if not (changed := changed_limits()):
                    raise
                return Failed(reason=meddling(changed))
            if changed := changed_limits():
                return Failed(reason=meddling(changed))
            made = folder / target.build.artifact
            if failed is not None or not made.is_file():
                check_space(self.state, self.space_least_bytes)
            of = f"layout {layout}: " if layout else ""
            if failed is not None:
                return replace(failed, reason=f"{of}{failed.reason}")
            if not made.is_file() or made.is_symlink():
                return Failed(reason=f"{of}the build ended without writing {target.build.artifact}")
        hashes = [options_file.hash_of_build(folder / target.build.artifact) for folder in folders]
        try:
            code, facts = recipe.describe(out / target.build.artifact)
            image = self.image_of(out / target.build.artifact)
        except DamagedFile as error:
            return Failed(reason=f"the build wrote a damaged {target.build.artifact}: {error}")
        code = options_file.hash_with(code, out)
        artifact = Artifact(sha256=hashes[0], code=code, facts=facts, image=image, layouts=tuple(hashes[1:]), source=source)
        for layout in reversed(range(target.layouts)):  # the folder of the first holds the others
            self._store(target, folders[layout], hashes[layout])
        atomic_write.remove_tree(out)
        atomic_write.replace(self.state / "builds" / f"{key}.json", json.dumps(encode(artifact)).encode())
        return artifact

    def path(self, target: Target, artifact: Artifact) -> Path | None:
        """Return the file of `artifact`, checked against its hash; None if it is missing or was changed."""
        return self._stored(target, artifact.sha256)

    def layouts(self, target: Target, artifact: Artifact) -> tuple[Path, ...] | None:
        """Return the files of `artifact`, one per layout (builds that differ in where their code lies), the usual layout first.
        None if one is missing or was changed.
        """
        found = [self._stored(target, sha256) for sha256 in (artifact.sha256, *artifact.layouts)]
        paths = tuple(path for path in found if path is not None)
        return paths if len(paths) == len(found) else None

    @property
    def _scratch(self) -> Path:
        return self.state / "scratch" / "build"

    @property
    def _objects(self) -> Path:
        """Return where a build's compiler keeps objects, a folder of this build alone: zig's cache doesn't see that an embedded
        file has changed, or that a header has appeared.
        """
        return self._scratch / "objects"

    def _cache(self, target: Target) -> Path:
        return self.state / "cache" / "zig" if _only_compiles(target.build) else self._scratch / "zig"

    def _source_of(self, recipe: Recipe, target: Target, tree: Path, out: Path, options: Options) -> str:
        """Return the hash of the preprocessed source, by way of a file in `out`; "" where it doesn't tell all of the build."""
        file = out / "source"
        command = recipe.preprocess(target.build, out=file)
        if not command or not flags_tell_all(target.build.flags, tree):
            return ""
        failed = self._run_all((command,), target, tree, out, options)
        text = file.read_bytes() if file.is_file() else b""
        file.unlink(missing_ok=True)
        return "" if failed is not None else source_hash(recipe.preprocess(target.build, out=Path()), text)

    def _run_all(self, commands: Commands, target: Target, tree: Path, out: Path, options: Options) -> Failed | None:
        scratch, log = self._scratch, self.state / "scratch" / "build.log"
        given = self.of_side(self.environment, options)
        environment = child_environment(given, scratch, self.mark)
        cache, objects = self._cache(target), self._objects
        for folder in (cache, objects):
            folder.mkdir(parents=True, exist_ok=True)
        environment |= {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(objects)}
        environment |= {"TRITON_CACHE_DIR": str(out / TRITON_CACHE)}
        limits = ChildLimits(
            scratch=(scratch, out),
            tree=(tree,) if target.build.toolchain is Toolchain.COMMAND else (),  # it may build in place; the tree is its own
            shared=(*shared_folders(given), *(() if cache.is_relative_to(scratch) else (cache,))),
        )
        log.unlink(missing_ok=True)
        deadline = time.monotonic() + target.build.timeout_s
        words = {"{python}": python_of(given), "{zig_include}": _zig_include()}
        for command in commands:
            argv = fill(options_file.with_arguments(command, options), words)
            try:
                launch = Launch(argv=argv, cwd=tree, environment=environment, log=log, limits=limits)
                with Child(launch, on_look=self.tick) as child:
                    child.close_input()
                    status = child.wait(deadline)
            except TimedOut:
                return Failed(reason=f"{Path(argv[0]).name} did not end within {target.build.timeout_s:g} s")
            except Gone as gone:
                return Failed(reason=f"{Path(argv[0]).name} {gone}")
            except Unkillable as error:
                raise Busy(
                    "a process of the build can't be killed",
                    code="build-cannot-be-killed",
                    expected="no process of a build that runs beside a measurement",
                    found=str(error),
                    hint="in state D it waits for a device or a disk: repair that or reboot; then run the same command again",
                ) from error
            except OSError as error:
                if is_trouble(error):
                    raise
                return Failed(reason=f"cannot start {argv[0]}: {error.strerror}", fault=True)
            if status:
                killed = status == -signal.SIGKILL
                return Failed(reason=_first_error(log, tree) or f"{Path(argv[0]).name} {child.fate()}", killed=killed)
        return None

    def _key(self, target: Target, available: Available, sources: str) -> str:
        parts = [
            FIELDS,
            encode(target.build),
            dict(available.versions),
            sources,
            self.machine,
            dict(self.environment.set),
        ]
        parts += [target.layouts] if target.layouts > 1 else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    def _cached(self, key: str, target: Target) -> Artifact | None:
        problems = Problems()
        try:
            artifact = decode(json.loads((self.state / "builds" / f"{key}.json").read_bytes()), Artifact, problems)
        except (OSError, ValueError):
            return None
        return None if problems.found or self.layouts(target, artifact) is None else artifact

    def _store(self, target: Target, folder: Path, sha256: str) -> None:
        """Move a build's `folder` to the place for builds with the hash `sha256`, unless one is there already."""
        home = self.state / "artifacts" / sha256
        if self._stored(target, sha256) is None:
            atomic_write.remove_tree(home)
            home.parent.mkdir(parents=True, exist_ok=True)
            os.rename(folder, home)
        else:
            atomic_write.remove_tree(folder)

    def _stored(self, target: Target, sha256: str) -> Path | None:
        path = self.state / "artifacts" / sha256 / target.build.artifact
        try:
            return path if options_file.hash_of_build(path) == sha256 else None
        except OSError:
            return None


def _only_compiles(build: Build) -> bool:
    # A build that runs code of the patch may not share a cache, which that code could corrupt for a baseline.
    if build.toolchain in ZIG:
        return True
    words = build.argv[build.argv.index("ziglang") :] if "ziglang" in build.argv[:3] else build.argv
    return Path(words[0]).name in ("zig", "ziglang") and words[1:2] in ZIG_COMPILES if words else False


def _zig_include() -> str:
    spec = importlib.util.find_spec("ziglang")
    return str(Path(spec.origin).parent / "lib" / "include") if spec is not None and spec.origin else ""


def _first_error(log: Path, tree: Path) -> str:
    text = log.read_text(errors="replace").replace(f"{tree}/", "")
    lines = [line.strip() for line in text.splitlines()]
    error = next((line for sign in (": error:", "error") for line in lines if sign in line.lower()), "")
    return (error or log_tail(log).strip(" ()"))[:300]
