"""Twelve rules of this project's history refuse a repeat in other words, and let an honest neighbour through.

The patches in history/ were written from the text of each rule alone. They are for the kernel as it was when they were written
(`head`) or when the rule was made (`edge`, `ring`); no kernel that is kept sets a priority in its loads, so P4 is asked on one
that does (`priority`). The short form asks the one rule, of one config of the CPU build; the long form all, of all configs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

import pytest

from expctl.adapters.git.reader import locate
from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.meaning import Version, Wanted
from expctl.inspection.tool_versions import version_of
from expctl.wiring import reader, rulebook

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "history"
CPU_FLAGS, ANYWHERE = "flags: [-O3, -march=native", "flags: [-O3, -march=x86_64_v4"
"""The CPU's code is compiled and not run, so what is asked about it needn't depend on the processor here."""
ONE_CONFIG = ANYWHERE.replace("-O3", '-O3, "-DSCALED_MM_CONFIG=2,2,2,2,2,2"')
ROLES = ("AUTHOR", "COMMITTER")
WHO = ("-c", "user.name=A", "-c", "user.email=a@b.c")


class Known(NamedTuple):
    """A rule of the history, the `level` at which it knows the repeat, and the kernel for which the patches are."""

    rule: str
    level: Level
    state: str = "head"


KNOWN = (
    Known("P2", Level.PATTERN),
    Known("P3", Level.SETTINGS),
    Known("P4", Level.INSTRUCTION, "priority"),
    Known("P7", Level.INSTRUCTION),
    Known("P8", Level.SETTINGS),
    Known("P13", Level.PATTERN),
    Known("P14", Level.PATTERN),
    Known("P17", Level.MEANING),
    Known("P19", Level.MEANING),
    Known("P20", Level.MEANING, "edge"),
    Known("P25", Level.MEANING),
    Known("P33", Level.MEANING, "ring"),
)
QUICK = ("P3", "P7", "P14", "P19")
"""One rule of each level; the others take as long again, each."""
NEVER_COMPILED = {
    "P2": "the builtin needs gfx1250-insts, which gfx1151 lacks",
    "P13": "a volatile uint4 of HIP can't be assigned; in the device code alone, no uint4 is declared",
    "P19": "a volatile piece can't be assigned: the change did not build for cpu",
}
"""Rules about what does not compile, by their own record, and why: so their repeats don't either, for one target at least."""
NVCC = pytest.mark.skipif(shutil.which("nvcc") is None, reason="P33 is about sm_90, which nvcc compiles")


class Asked(NamedTuple):
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str


class Repository(NamedTuple):
    """A copy of the history's rules on a kernel, in which the real `expctl` is run."""

    root: Path

    def expctl(self, *words: str) -> Asked:
        """Run a command."""
        who = {
            f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in (("NAME", "A"), ("EMAIL", "a@b.c"))
        }
        ran = subprocess.run(
            [sys.executable, "-m", "expctl", *words],
            cwd=self.root,
            env={**os.environ, **who},
            capture_output=True,
            text=True,
            check=False,
        )
        return Asked(ran.returncode, ran.stdout, ran.stderr)


def repository(root: Path, state: str, rules: set[str], *, is_short: bool) -> Repository:
    """Commit a kernel with some rules of the history (none named: all), made for the compilers that are here."""
    with tarfile.open(FOLDER / "states.tar.xz") as archive:
        name = "head" if state == "priority" else state
        members = [each for each in archive.getmembers() if each.name.startswith(f"{name}/")]
        archive.extractall(root.parent, members, filter="data")
        (root.parent / name).rename(root)
    for file in (ROOT / "experiments").glob("*/record.json"):
        text, target = file.read_text(), root / "experiments" / file.parent.name
        if '"rule": {' in text and (not rules or file.parent.name in rules):
            target.mkdir(parents=True)
            for tool, was in (("ziglang", "0.16.0"), ("nvcc", "Build cuda_13.0.r13.0/compiler.36424714_0")):
                text = text.replace(f'"{tool}": "{was}"', f'"{tool}": "{version_of(tool) or was}"')
            (target / "record.json").write_text(text)
            for beside in ("change.patch", "experiment.yaml"):
                if (file.parent / beside).is_file():
                    shutil.copy(file.parent / beside, target)
    protocol = (ROOT / "protocol.yaml").read_text()
    assert CPU_FLAGS in protocol
    (root / "protocol.yaml").write_text(protocol.replace(CPU_FLAGS, ONE_CONFIG if is_short else ANYWHERE))
    for folder in ("kernel/harness", "kernel/runtime", "expctl/harness", "expctl/tables"):  # never run here
        (root / folder).mkdir(parents=True)
        (root / folder / "harness.py").touch()
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*WHO, "commit", "-q", "-m", "history")):
        subprocess.run(["git", *words], cwd=root, check=True)
    if state == "priority":
        subprocess.run(["git", "apply", str(FOLDER / "priority.patch")], cwd=root, check=True)
        subprocess.run(["git", *WHO, "commit", "-q", "-a", "-m", "a priority"], cwd=root, check=True)
    return Repository(root)


def refuses_and_lets_through(made: Repository, known: Known) -> None:
    repeat, honest = (str(FOLDER / "patches" / f"{known.rule}-{kind}.patch") for kind in ("repeat", "honest"))
    words = ("--title", "in other words", "--hypothesis", "it is faster")

    refused = made.expctl("rules", "check", repeat, "--json")
    assert refused.status == 1, refused
    matches = json.loads(refused.out)["matches"]
    assert [(each["rule"], each["level"]) for each in matches if not each["changed"]] == [(known.rule, known.level)]
    new = made.expctl("new", "--patch", repeat, *words)
    assert (new.status, f"this change was tried before, as {known.rule}, and rejected" in new.err) == (1, True), new

    free = made.expctl("rules", "check", honest, "--json")
    assert (free.status, [each for each in json.loads(free.out)["matches"] if not each["changed"]]) == (0, []), free
    queued = made.expctl("new", "--patch", honest, *words)
    assert (queued.status, "queued in" in queued.out) == (0, True), queued


@pytest.mark.parametrize(
    "known",
    [
        pytest.param(each, id=each.rule, marks=[] if each.rule in QUICK else [pytest.mark.long])
        for each in KNOWN
        if each.rule != "P33"
    ],
)
def test_a_rule_refuses_its_repeat_and_lets_a_neighbour_through(known: Known, tmp_path: Path) -> None:
    made = repository(tmp_path / "repository", known.state, {known.rule}, is_short=True)
    refuses_and_lets_through(made, known)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["repeat", "honest"])
@pytest.mark.parametrize(
    "known", [pytest.param(each, id=each.rule, marks=NVCC if each.rule == "P33" else []) for each in KNOWN]
)
def test_a_patch_compiles(known: Known, kind: str, tmp_path: Path) -> None:
    """A neighbour that doesn't compile may be let through for that alone; a repeat that doesn't, nobody could ever run."""
    place = locate(repository(tmp_path / "repository", known.state, {known.rule}, is_short=True).root)
    meanings = rulebook(place, reader(place)).meanings(place.head)
    assert meanings is not None
    patched = Version(place.head, (FOLDER / "patches" / f"{known.rule}-{kind}.patch").read_bytes())
    reached = [target for target in meanings.targets() if meanings.differ(Version(place.head), patched, target)]
    made = meanings.compiled([Wanted(patched, target) for target in reached])
    faults = {target: "no text" if each is None else each.fault for target, each in zip(reached, made, strict=True)}
    faults = {target: fault for target, fault in faults.items() if fault}
    assert reached
    assert bool(faults) == (kind == "repeat" and known.rule in NEVER_COMPILED), faults


@pytest.mark.long
@pytest.mark.parametrize("other", ["P17-pointer", "P17-by-hand"])
def test_what_an_optimiser_makes_other_code_of_is_refused_too(other: str, tmp_path: Path) -> None:
    made = repository(tmp_path / "repository", "head", {"P17"}, is_short=True)
    asked = made.expctl("rules", "check", str(FOLDER / "patches" / f"{other}.patch"), "--json")
    assert [(each["rule"], each["level"]) for each in json.loads(asked.out)["matches"]] == [("P17", Level.MEANING)]
    assert asked.status == 1


@pytest.mark.long
@NVCC
def test_a_rule_of_another_compiler(tmp_path: Path) -> None:
    (known,) = (each for each in KNOWN if each.rule == "P33")
    refuses_and_lets_through(repository(tmp_path / "repository", known.state, {known.rule}, is_short=True), known)


@pytest.mark.long
@pytest.mark.timeout(3600)  # every rule's change, of every config
@pytest.mark.parametrize("state", ["head", "edge", "priority"])
def test_among_all_rules(state: str, tmp_path: Path) -> None:
    made = repository(tmp_path / "repository", state, set(), is_short=False)
    for known in KNOWN:
        if known.state == state:
            refuses_and_lets_through(made, known)
