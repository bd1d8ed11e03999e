"""The index of rules on a real repository: it finds what reading every record would find, and may be deleted at any time."""

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import record_bytes
from expctl.adapters.git.reader import Place, locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.adapters.index.record_index import RecordIndex
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.adapters.rules.lookup import RuleLookup
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Kind, Probe, Verdict
from expctl.domain.experiment.record import Artifact, Origin, Record, Rule, Waiver
from expctl.domain.patch.identity import ChangeIdentity
from expctl.domain.rules.current_facts import ProbeAnswer
from expctl.domain.rules.matching import Candidate
from tests.user_repository import Repository

PATCH_TO = "line zero, changed\n"
PLAIN = Record(
    id="P1",
    title="t",
    kind=Kind.PERF,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.REJECT,
    reasons=("slower",),
    artifacts={"baseline": {"cpu": Artifact(sha256="", code="c0")}, "candidate": {"cpu": Artifact(sha256="", code="c1")}},
    rule=Rule(text="t", patch_id="p1", change="n1", settings={"k": "8"}, forbids=(r"volatile\b",)),
)
KNOWN = {
    "patch": Candidate(identity=ChangeIdentity(patch_id="p1"), codes={}),
    "change": Candidate(identity=ChangeIdentity(change="n1"), codes={}),
    "settings": Candidate(identity=ChangeIdentity(settings={"k": "8"}), codes={}),
    "code": Candidate(identity=ChangeIdentity(), codes={"cpu": "c1"}),
    "pattern": Candidate(identity=ChangeIdentity(added=("volatile int x;",)), codes={}),
}
UNKNOWN = Candidate(identity=ChangeIdentity(patch_id="p2", added=("int x;",), settings={"k": "4"}), codes={"cpu": "c0"})


class ReadingWorkspace(GitWorkspace):
    """Notes which blobs are read."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.read: list[str] = []

    def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
        names = list(blobs)
        self.read += names
        return super().read_blobs(names)


def book(repository: Repository) -> RuleLookup:
    workspace = GitWorkspace(locate(repository.root))
    index = RecordIndex(workspace, workspace.state / "records.sqlite")
    return RuleLookup(workspace, index, tool=lambda _: "", probe=lambda _: ProbeAnswer(passes=False, said="no"))


def conclude(repository: Repository, *records: Record) -> str:
    for record in records:
        repository.write(f"experiments/{record.id}/record.json", record_bytes(record))
    return repository.commit("records")


def index_of(repository: Repository) -> Path:
    (file,) = (repository.root / ".git/expctl").glob("*.sqlite")
    return file


@pytest.mark.parametrize("how", KNOWN)
def test_a_candidate_finds_the_rules_that_can_match(repository: Repository, how: str) -> None:
    other = replace(PLAIN, id="P2", rule=Rule(text="u", patch_id="zz"), artifacts={})
    head = conclude(repository, PLAIN, other, replace(PLAIN, id="P3", rule=None))
    assert [record.id for record in book(repository).candidates(head, KNOWN[how])] == ["P1"]
    assert book(repository).candidates(head, UNKNOWN) == ()


def test_a_repository_without_records_has_no_rule(repository: Repository) -> None:
    assert book(repository).candidates(repository.head(), KNOWN["patch"]) == ()
    assert book(repository).ruled(repository.head()) == ()


def test_the_index_follows_the_commit_in_both_directions(repository: Repository) -> None:
    first = conclude(repository, PLAIN)
    second = conclude(repository, replace(PLAIN, rule=Rule(text="t", patch_id="p9")), replace(PLAIN, id="P2"))
    for _ in range(2):
        assert [r.id for r in book(repository).candidates(second, KNOWN["patch"])] == ["P2"]
        assert [r.id for r in book(repository).candidates(first, KNOWN["patch"])] == ["P1"]


def test_one_new_record_is_one_record_read(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    conclude(repository, *(replace(PLAIN, id=f"P{number}") for number in range(1, 30)))
    book(repository).ruled(repository.head())
    head = conclude(repository, replace(PLAIN, id="P30", rule=Rule(text="new", patch_id="p30")))
    reader = GitWorkspace(locate(repository.root))
    read: list[str] = []
    plain = reader.read_blobs

    def watched(blobs: object) -> dict[str, bytes]:
        names = list(blobs)  # type: ignore[call-overload]
        read.extend(names)
        return plain(names)

    monkeypatch.setattr(reader, "read_blobs", watched)
    index = RecordIndex(reader, reader.state / "records.sqlite")
    fresh = RuleLookup(reader, index, tool=lambda _: "", probe=lambda _: ProbeAnswer(passes=False, said=""))
    assert len(fresh.candidates(head, Candidate(identity=ChangeIdentity(patch_id="p30"), codes={}))) == 1
    assert sum(name.endswith("record.json") for name in read) == 2, (
        "the new record for the index, and the one that was asked for"
    )


@pytest.mark.parametrize("damage", [None, b"no database" * 100, b""], ids=["deleted", "damaged", "emptied"])
def test_the_index_may_be_deleted_or_damaged(repository: Repository, damage: bytes | None) -> None:
    head = conclude(repository, PLAIN)
    assert len(book(repository).ruled(head)) == 1
    index = index_of(repository)
    index.unlink()
    if damage is not None:
        index.write_bytes(damage)
    assert [record.id for record in book(repository).candidates(head, KNOWN["patch"])] == ["P1"]


def test_who_was_let_pass_is_among_the_ruled(repository: Repository) -> None:
    passed = replace(PLAIN, id="P2", rule=None, waivers=(Waiver(rule="P1", level="patch", reason="r", written=True),))
    head = conclude(repository, PLAIN, passed, replace(PLAIN, id="P3", rule=None))
    assert [record.id for record in book(repository).ruled(head)] == ["P1", "P2"]


def test_a_damaged_record_is_named(repository: Repository) -> None:
    repository.write("experiments/P1/record.json", record_bytes(PLAIN).replace(b'"text": "t"', b'"text": 5'))
    head = repository.commit("damage")
    with pytest.raises(Refused) as refusal:
        book(repository).ruled(head)
    assert "experiments/P1/record.json" in refusal.value.where


def test_the_identity_of_a_patch_is_that_of_git_and_of_the_texts(repository: Repository) -> None:
    patch = repository.patch("src/kernel.txt", PATCH_TO + (repository.root / "src/kernel.txt").read_text())  # type: ignore[arg-type]
    found = book(repository).identity(repository.head(), patch)
    said = subprocess.run(["git", "patch-id", "--stable"], input=patch, capture_output=True).stdout.split()[0].decode()
    assert found.patch_id == said
    assert found.change
    assert found.added == ("line zero, changed",)
    assert book(repository).identity(repository.head(), b"") == ChangeIdentity()


def test_compilers_are_asked_of_what_they_may_read_alone(repository: Repository) -> None:
    repository.write("protocol.yaml", PROTOCOL)
    head, rules = repository.commit(), book(repository)
    for path, reaches in (("src/new.h", True), ("docs/note.md", False), ("srcs/new.h", False)):
        made = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+one\n".encode()
        assert rules.reaches_compilers(head, made) is reaches, path
        gone = f"--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n".encode()
        assert rules.reaches_compilers(head, gone) is reaches, path


def test_circumstances_are_those_of_the_commit_and_of_what_is_assumed(repository: Repository) -> None:
    workspace = GitWorkspace(locate(repository.root))
    first = repository.head()
    repository.write("src/kernel.txt", "all new\n")
    second = repository.commit()
    asked: list[str] = []

    def tool(name: str) -> str:
        asked.append(name)
        return "1.0"

    def circumstances(**assumed: str):  # type: ignore[no-untyped-def]
        made = RuleLookup(
            workspace,
            RecordIndex(workspace, None),
            tool=tool,
            probe=lambda _: ProbeAnswer(passes=True, said="yes"),
            assumed=assumed,
        )
        return made.circumstances(second, frozenset({"cpu"}))

    before = book(repository).circumstances(first, frozenset({"cpu"}))
    now = circumstances()
    assert before.item_keys("src/kernel.txt").isdisjoint(now.item_keys("src/kernel.txt"))
    assert (now.item_keys("gone"), now.shape("gone"), now.architectures()) == (frozenset(), "", frozenset({"cpu"}))
    assert (now.version("cc"), now.version("cc"), asked) == ("1.0", "1.0", ["cc"])
    assert now.probe(Probe(source="x")).passes
    assumed = circumstances(cc="2.0", architecture="sm_90")
    assert (assumed.version("cc"), assumed.architectures()) == ("2.0", frozenset({"sm_90"}))


PROTOCOL = """version: 1
name: p
scope: [src]
harness: [bench]
decides: [cpu]
targets:
  cpu:
    build: {toolchain: command, argv: [make]}
    test: {argv: [bench/test.py], timeout_s: 1}
    benchmark: {argv: [bench/run.py], timeout_s: 1, sizes: [{name: n=8, weight: 1}]}
"""
HARNESS = b"import sys\nprint(7919)\n"


def measured_here(repository: Repository) -> str:
    """A repository in which P1 was measured on its head, under its own protocol and harness, on a CPU of type A."""
    repository.write("protocol.yaml", PROTOCOL)
    repository.write("bench/run.py", HARNESS)
    base = repository.commit("a harness")
    library = GitLibrary(GitWorkspace(locate(repository.root)))
    judged_by = library.benchmark_identity(base, library.protocol(base), "cpu")
    protocol = library.identity(base, ("protocol.yaml", "bench"))
    return conclude(repository, replace(PLAIN, base=base, protocol=protocol, yardstick=judged_by, environment={"cpu": "A"}))


def changes_of(
    repository: Repository, experiment: str = "P1", cpu: str = "A", absent: tuple[str, ...] = (), **assumed: str
) -> list[str]:
    workspace = GitWorkspace(locate(repository.root))
    made = RuleLookup(
        workspace,
        RecordIndex(workspace, workspace.state / "records.sqlite"),
        tool=lambda _: "",
        probe=lambda _: ProbeAnswer(passes=False, said="no"),
        machine=lambda: {"cpu": cpu},
        absent=lambda _: absent,
        assumed=assumed,
    )
    changed = made.circumstances(repository.head()).epoch_changes(experiment)
    assert {each.condition for each in changed} <= {"epoch"}
    return [f"{each.was} -> {each.now}" for each in changed]


def test_a_measurement_stands_until_its_epoch_ends(repository: Repository) -> None:
    measured_here(repository)
    assert changes_of(repository) == []
    assert changes_of(repository, "P9") == [], "of what nobody measured nothing has changed"
    assert changes_of(repository, cpu="B") == ["machine A -> B"]
    assert changes_of(repository, cpu="B", absent=("cpu",)) == [], "it isn't measured on B"
    assert changes_of(repository, epoch="another") == ["cpu 1 -> another"]
    repository.write("protocol.yaml", "# a comment\n" + PROTOCOL)
    repository.write("bench/run.py", b'"""Times."""\n' + HARNESS)
    repository.commit("comments")
    assert changes_of(repository) == []
    repository.write("bench/run.py", HARNESS.replace(b"7919", b"7907"))
    repository.commit("other inputs")
    (changed,) = changes_of(repository)
    assert re.fullmatch(r"harness code [0-9a-f]{8} -> [0-9a-f]{8}", changed)
    repository.write("bench/run.py", HARNESS)
    repository.write("protocol.yaml", PROTOCOL.replace("cpu", "gpu"))
    repository.commit("another target")
    assert changes_of(repository) == [], "nothing is known of a target that is gone"


def test_the_code_of_a_harness_is_read_once(repository: Repository) -> None:
    head = measured_here(repository)

    def files_read() -> list[str]:
        workspace = ReadingWorkspace(locate(repository.root))
        library = GitLibrary(workspace, RecordIndex(workspace, workspace.state / "records.sqlite"))
        library.stock(head)
        before = len(workspace.read)
        assert library.benchmark_identity(head, library.protocol(head), "cpu").harness_code
        return [name for name in workspace.read[before:] if not name.startswith(head)]

    assert [len(files_read()) for _ in range(3)] == [1, 0, 0]


def test_json_of_a_record_is_not_trusted(repository: Repository) -> None:
    text = json.loads(record_bytes(PLAIN))
    text["artifacts"] = {"candidate": {"cpu": {"no": "code"}}}
    repository.write("experiments/P1/record.json", json.dumps(text, indent=1))
    with pytest.raises(Refused):
        book(repository).ruled(repository.commit())
