"""A stranger's pairs of patches, and how each is known.

`python -m tests.rules_corpus.strangers.corpus [FOLDER]` prints the table by way.

Without FOLDER, nothing is compiled: what compilers said of these pairs is recorded. FOLDER may hold other pairs for the same
kernel (pairs/*.yaml beside patches/); what compilers say is kept in the folder that the variable STATE names. With --record
instead, all of this folder's is compiled anew, and written to compiled.json.xz.
"""

from __future__ import annotations

import dataclasses
import json
import lzma
import os
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from expctl.adapters.codec.strict_yaml import load
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.rules.compiled_versions import CompiledVersions
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Origin, Record, Rule
from expctl.domain.patch.identity import ChangeIdentity, identify
from expctl.domain.patch.unified_diff import parse_diff, texts_of
from expctl.domain.protocol.model import Protocol, Toolchain
from expctl.domain.rules.matching import Candidate, matches
from expctl.domain.rules.meaning import Compiled, Version, Wanted
from expctl.flow.rules.by_meaning import judging_targets
from expctl.flow.rules.resemblance import Pair as Change
from expctl.flow.rules.resemblance import Resemblance, resemblance
from expctl.ports.measuring import Recipe
from expctl.ports.rules import Meanings
from expctl.targets.cpu import ZigCpuRecipe
from expctl.targets.gfx1151 import ZigGfxRecipe

FOLDER = Path(__file__).parent
REPEAT, HONEST = "repeat", "honest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """`way` says how a repeat differs from the rejected patch, or how near an honest change is to it."""

    name: str = ""
    rejected: str
    candidate: str
    kind: str
    way: str
    why: str
    targets: tuple[str, ...]
    same_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """pairs.yaml, typed."""

    pairs: tuple[Pair, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """By which level a candidate is refused ("": by none), and how near it is to the rejected patch."""

    level: str
    percent: int


def unpacked(name: str, folder: Path = FOLDER) -> Mapping[str, bytes]:
    """The files of an archive of this folder, or another one."""
    with tarfile.open(folder / name) as archive:
        files = {each.name: archive.extractfile(each) for each in archive.getmembers() if each.isfile()}
        return {name: file.read() for name, file in files.items() if file is not None}


@cache
def own_pairs() -> tuple[Pair, ...]:
    """The pairs of this folder."""
    return load((FOLDER / "pairs.yaml").read_bytes(), Pairs, where="pairs.yaml").pairs


def other_pairs(folder: Path) -> Iterator[Pair]:
    """Pairs that lie in files of their own."""

    for file in sorted((folder / "pairs").glob("*.yaml")):
        pair = load(file.read_bytes(), Pair, where=file.name)
        rejected, candidate = Path(pair.rejected).stem, Path(pair.candidate).stem
        yield dataclasses.replace(pair, name=file.stem, rejected=rejected, candidate=candidate)


class Recorded:
    """What compilers said of the patches when the corpus was made: compiled.json.xz."""

    def __init__(self, protocol: Protocol, patches: Mapping[str, bytes]) -> None:
        self.protocol = protocol
        held = json.loads(lzma.decompress((FOLDER / "compiled.json.xz").read_bytes()))
        self._names = {text: name.removesuffix(".patch") for name, text in patches.items()} | {b"": "baseline"}
        self._parts, self._compiled = held["parts"], held["compiled"]

    def targets(self) -> tuple[str, ...]:
        """Return the names of the targets of the protocol."""
        return tuple(self.protocol.targets)

    def here(self, versions: Sequence[tuple[Version, str]]) -> tuple[bool, ...]:
        """All are."""
        return tuple(True for _ in versions)

    def differ(self, one: Version, other: Version, target: str) -> bool:  # noqa: ARG002  the port's signature
        """Whatever was recorded is compared."""
        return True

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        """None where nothing was recorded, which is so for the builds of all configs but where one config tells too little."""
        return tuple(self._one(self._names[each.version.patch], f"{each.target} {each.view}") for each in wanted)

    def _one(self, name: str, view: str) -> Compiled | None:
        held = self._compiled.get(name, {}).get(view)
        if held == "baseline":
            return self._one("baseline", view)
        if held is None or "fault" in held:
            return Compiled(fault=held["fault"]) if held else None
        return Compiled(functions=held["functions"], parts={name: self._parts[at] for name, at in held["parts"].items()})


class Recording:
    """Asks the compilers, and remembers what they said of each patch."""

    def __init__(self, meanings: Meanings, patches: Mapping[str, bytes]) -> None:
        self._meanings, self.protocol = meanings, meanings.protocol
        self._names = {text: name for name, text in patches.items()} | {b"": "baseline"}
        self._said: dict[str, dict[str, Compiled]] = {}

    def targets(self) -> tuple[str, ...]:
        """Return the names of the targets that compile here."""
        return self._meanings.targets()

    def here(self, versions: Sequence[tuple[Version, str]]) -> tuple[bool, ...]:
        """Return for each version of a target whether it can be had on this machine: its compilers are asked."""
        return self._meanings.here(versions)

    def differ(self, one: Version, other: Version, target: str) -> bool:  # noqa: ARG002  the port's signature
        """Nothing is left out, so that all is recorded that may be asked for."""
        return True

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        """Compile, and remember."""
        found = self._meanings.compiled(wanted)
        for each, made in zip(wanted, found, strict=True):
            if made is not None:
                self._said.setdefault(self._names[each.version.patch], {})[f"{each.target} {each.view}"] = made
        return found

    def written(self) -> bytes:
        """What is recorded, with equal parts once, and "baseline" for what is no other than the baseline."""
        parts: dict[str, int] = {}
        base = self._said["baseline"]

        def one(made: Compiled) -> dict[str, object]:
            if made.fault:
                return {"fault": made.fault}
            numbers = {
                name: parts.setdefault(json.dumps(counts, sort_keys=True), len(parts)) for name, counts in made.parts.items()
            }
            return {"functions": made.functions, "parts": numbers}

        told = {
            name: {
                view: "baseline" if name != "baseline" and made == base.get(view) else one(made) for view, made in said.items()
            }
            for name, said in sorted(self._said.items())
        }
        text = json.dumps({"compiled": told, "parts": [json.loads(each) for each in parts]}, sort_keys=True)
        return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


class Corpus:
    """The kernel in a repository of its own, below `state`, where compilers keep what they said."""

    def __init__(self, state: Path, patches: Mapping[str, bytes], meanings: Meanings | None = None) -> None:
        self.patches = {name.removesuffix(".patch"): text for name, text in patches.items()}
        self.protocol = load((FOLDER / "protocol.yaml").read_bytes(), Protocol, where="protocol.yaml")
        self._root = state / "repository"
        self._given = meanings

    @cached_property
    def commit(self) -> str:
        """The commit with the kernel."""
        for path, text in unpacked("kernel.tar.xz").items():
            (self._root / path).parent.mkdir(parents=True, exist_ok=True)
            (self._root / path).write_bytes(text)
        who = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
        words = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        for command in (("init", "-q"), ("add", "-A"), (*words, "commit", "-q", "--allow-empty", "-m", "kernel")):
            subprocess.run(["git", *command], cwd=self._root, check=True, env={**os.environ, **who})
        said = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self._root, check=True, capture_output=True, text=True)
        return said.stdout.strip()

    @cached_property
    def meanings(self) -> Meanings:
        """What compiles, or remembers."""
        if self._given is not None:
            return self._given
        assert self.commit
        recipes: Mapping[Toolchain, Recipe] = {Toolchain.ZIG_CPU: ZigCpuRecipe(), Toolchain.ZIG_GFX: ZigGfxRecipe()}
        git = GitReader(locate(self._root))
        return CompiledVersions(git, recipes, state=self._root.parent / "meanings", mark="corpus", protocol=self.protocol)

    @cached_property
    def sources(self) -> Mapping[str, str]:
        """The kernel's texts."""
        return {path: text.decode() for path, text in unpacked("kernel.tar.xz").items()}

    def change(self, name: str) -> Change:
        """The kernel without and with a patch."""
        return Change(before=Version(self.commit), after=Version(self.commit, self.patches[name]))

    def identity(self, name: str) -> ChangeIdentity:
        """What is known of a patch without a compiler."""
        patch = self.patches[name]
        said = subprocess.run(["git", "patch-id", "--stable"], input=patch, capture_output=True, check=True).stdout.split()
        return identify(texts_of(parse_diff(patch), self.sources), patch_id=said[0].decode())

    def rejected(self, pair: Pair) -> Record:
        """The record that the first patch would have left."""
        known = self.identity(pair.rejected)
        rule = Rule(text=pair.rejected, patch_id=known.patch_id, change=known.change, settings=known.settings)
        return Record(
            id="P1",
            title=pair.rejected,
            kind=Kind.PERF,
            origin=Origin.MEASURED,
            target="cpu",
            verdict=Verdict.REJECT,
            reasons=("slower",),
            rule=rule,
        )

    @classmethod
    def recorded(cls, state: Path) -> Corpus:
        """The corpus as its compilers saw it: nothing is compiled."""
        patches = unpacked("patches.tar.xz")
        protocol = load((FOLDER / "protocol.yaml").read_bytes(), Protocol, where="protocol.yaml")
        return cls(state, patches, Recorded(protocol, patches))

    def resemblance(self, pair: Pair) -> Resemblance:
        """How compilers see a pair, on the targets for which the patches were written."""
        here = self.meanings.targets()
        wanted = [judging_targets(self.protocol, here, each, each) for each in pair.targets] or [here]
        targets = tuple(name for name in here if any(name in each for each in wanted))
        return resemblance(self.meanings, self.change(pair.rejected), self.change(pair.candidate), targets)

    def answer(self, pair: Pair) -> Answer:
        """How the second patch of a pair is known."""
        found = matches([self.rejected(pair)], Candidate(identity=self.identity(pair.candidate), codes={}), own_id="P2")
        if found:
            return Answer(level=found[0].level, percent=100)
        seen = self.resemblance(pair)
        return Answer(level=seen.level or "", percent=seen.percent)


def table(answers: Mapping[Pair, Answer]) -> list[str]:
    """Lines for people: by way, what was caught, missed and refused wrongly."""
    lines = []
    for kind, caught, missed in ((REPEAT, "caught", "missed"), (HONEST, "refused", "free")):
        counts = Counter((pair.way, bool(answer.level)) for pair, answer in answers.items() if pair.kind == kind)
        lines.append(f"{kind:<48}{caught:>9}{missed:>9}")
        lines += [
            f"  {way:<46}{counts[way, True]:>9}{counts[way, False]:>9}"
            for way in dict.fromkeys(way for way, _ in sorted(counts))
        ]
        whole = [sum(count for (_, known), count in counts.items() if known is wanted) for wanted in (True, False)]
        lines.append(f"  {'all':<46}{whole[0]:>9}{whole[1]:>9}")
    free = [(pair, answer) for pair, answer in answers.items() if not answer.level]
    lines.append(f"{'shown as close, of what is free':<48}{'repeats':>9}{'honest':>9}{'not close':>11}")
    for percent in range(10, 101, 10):
        shown = [pair for pair, answer in free if answer.percent >= percent]
        honest = [pair for pair in shown if pair.kind == HONEST]
        strange = sum(not pair.way.startswith("close") for pair in honest)
        lines.append(f"  from {percent:>3} %{'':<37}{len(shown) - len(honest):>9}{len(honest):>9}{strange:>11}")
    wrong = [(pair, answer) for pair, answer in answers.items() if (pair.kind == REPEAT) is not bool(answer.level)]
    return lines + [f"{pair.kind}: {pair.name} ({answer.level or 'free'}, {answer.percent} %)" for pair, answer in wrong]


def record(state: Path) -> None:
    """Compile all of this folder's pairs, and write what compilers say."""
    plain = Corpus(state, unpacked("patches.tar.xz"))
    recording = Recording(plain.meanings, plain.patches)
    corpus = Corpus(state, unpacked("patches.tar.xz"), recording)
    corpus.commit = plain.commit
    for pair in own_pairs():
        seen = corpus.resemblance(pair)
        print(f"{pair.kind:<7} {pair.name:<46} {seen.level or 'free':<18} {seen.percent:>3} %", flush=True)
    (FOLDER / "compiled.json.xz").write_bytes(recording.written())


def main(folder: str = "", only: str = "") -> None:
    """Print the table for a folder of pairs, or for those of this one."""
    state = Path(os.environ.get("STATE", "/tmp/expctl-corpus"))
    if folder == "--record":
        record(state)
        return
    patches = {each.name: each.read_bytes() for each in Path(folder, "patches").glob("*.patch")} if folder else None
    corpus = Corpus(state, patches) if patches is not None else Corpus.recorded(state)
    pairs = tuple(other_pairs(Path(folder))) if folder else own_pairs()
    pairs = tuple(each for each in pairs if each.name.startswith(only))
    answers = {}
    for pair in pairs:
        answers[pair] = corpus.answer(pair)
        mark = "" if (pair.kind == REPEAT) is bool(answers[pair].level) else "  <--"
        print(
            f"{pair.kind:<7} {pair.name:<46} {answers[pair].level or 'free':<18} {answers[pair].percent:>3} %{mark}", flush=True
        )
    print("\n".join(table(answers)))


if __name__ == "__main__":
    main(*sys.argv[1:])
