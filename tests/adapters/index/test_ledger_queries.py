"""The ledger from the index is, to the byte, the one that is made of all records at once."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.scale.history import records
from expctl.adapters.codec.record_codec import record_bytes
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.index.ledger_queries import each_made
from expctl.adapters.index.record_index import RecordIndex
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import BenchmarkIdentity, Record, Waiver
from expctl.domain.ledger.inputs import LedgerInputs
from expctl.domain.ledger.model import Ledger, ledger_from
from expctl.domain.ledger.record_summary import summary_of
from expctl.domain.ledger.totals import sums_of
from expctl.flow.repository.ledger_inputs import NewRecord, ledger_with, read_ledger, read_ledger_inputs
from expctl.flow.status import GateNow, read_status
from expctl.views.ledger.document import render
from tests.user_repository import Repository

HERE = Path(__file__).parents[3]
STICK = BenchmarkIdentity(harness="h", kpi="n=512 (1)", build="zig-cpu")
HOSTILE = "| a `b` _c_ <d> [e](f) \x1b[31m\u202e 1. \t x\n\n# g &amp; www.h.i"


def made(count: int, seed: int) -> tuple[Record, ...]:
    """Ids out of step with dates, and a hostile one among them."""
    history = records(count, seed, yardsticks={"here": STICK, "gpu": STICK}, protocol="p")
    found = [replace(each, id=f"P{count - n}") for n, each in enumerate(history)]
    spoilt = replace(found[-3], title=HOSTILE, reasons=(HOSTILE,), notes=(HOSTILE,), hypothesis=HOSTILE)
    return (*found[:-3], spoilt, *found[-2:])


class Case:
    """A repository with this project's protocol and findings, and an index of its records."""

    def __init__(self, repository: Repository, file: Path) -> None:
        self.repository, self.file = repository, file
        for name in (
            "protocol.yaml",
            "experiments/findings.yaml",
            "experiments/P15/experiment.yaml",
            "experiments/P15/change.patch",
        ):
            repository.write(name, (HERE / name).read_bytes())
        repository.commit()

    def conclude(self, *found: Record) -> None:
        for record in found:
            self.repository.write(f"experiments/{record.id}/record.json", record_bytes(record))
        self.repository.commit()

    def reader(self) -> GitReader:
        return GitReader(locate(self.repository.root))

    def inputs(self) -> LedgerInputs:
        reader = self.reader()
        return read_ledger_inputs(GitLibrary(reader, RecordIndex(reader, self.file)), reader.head())

    def check(self) -> Ledger:
        """From totals, from summaries, and from the records as they lie there."""
        found, reader = self.inputs(), self.reader()
        whole = {record.id: record for record in GitLibrary(reader).records(reader.head())}
        sums = sums_of([summary_of(record) for record in whole.values()])
        queue, conditions = found.queue(), found.conditions
        at_once = ledger_from(found.protocol, sums, whole, findings=found.findings, queue=queue, conditions=conditions)
        ledger = found.ledger()
        assert render(ledger) == render(at_once)
        assert self.rendered() == render(at_once)
        return ledger

    def ahead(self, *records: Record) -> str:
        """Return the ledger rendered with `records` before their commit; check that the index then has what HEAD has."""
        reader = self.reader()
        library, head = GitLibrary(reader, RecordIndex(reader, self.file)), reader.head()
        before = render(read_ledger(library, head))
        found = render(ledger_with(library, head, *(NewRecord(each, record_bytes(each)) for each in records)))
        assert render(read_ledger(library, head)) == before == self.rendered()
        return found

    def rendered(self) -> str:
        """As `expctl ledger` makes it."""
        reader = self.reader()
        return render(read_ledger(GitLibrary(reader, RecordIndex(reader, self.file)), reader.head()))


@pytest.fixture
def case(repository: Repository, tmp_path: Path) -> Case:
    return Case(repository, tmp_path / "records.sqlite")


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_record_by_record_the_ledger_is_that_of_all_records(case: Case, seed: int) -> None:
    case.check()
    waiting = list(made(36, seed))
    case.conclude(*waiting[:30])
    ledger = case.check()
    assert len(ledger.epochs) > 2
    assert ledger.corrections
    for record in waiting[30:]:
        case.conclude(record)
        case.check()


def test_what_other_records_change_is_never_kept_with_a_record(case: Case) -> None:
    found = made(30, 4)
    case.conclude(*found)
    before = render(case.check())
    rejected = next(each for each in found if each.rule is not None and each.base)
    waiver = Waiver(rule=rejected.id, level="patch", reason="wider | tiles", written=True)
    keep = next(each for each in found if each.verdict is Verdict.KEEP and each.base)
    case.conclude(replace(keep, id="P900", waivers=(waiver,), environment={**keep.environment, "cc": "9"}))
    ledger = case.check()
    (row,) = (row for row in (*ledger.latest, *ledger.earlier) if row.id == "P900")
    assert row.why.startswith(f"the rule of {rejected.id} (patch) let it pass for the written reason: wider | tiles")
    early = replace(keep, id="P901", date="2020-01-01T00:00:00Z", environment={**keep.environment, "cc": "0.1"})
    case.conclude(early)  # every epoch of this target has another number now
    assert case.check().epochs[0].startswith(f"{keep.target}, epoch 1: since P901")
    case.repository.git("rm", "-q", "-r", "experiments/P900", "experiments/P901")
    case.repository.commit()
    assert render(case.check()) == before


def test_what_is_kept_is_never_of_a_record_that_is_not_committed_also_after_an_interrupt() -> None:
    index, kept = sqlite3.connect(":memory:"), dict[tuple[str, str], str]()
    index.execute("create table live (name, tree, number, title)")
    index.executemany("insert into live values (?, ?, ?, ?)", [("P1", "a", 1, "one"), ("P2", "", 2, "two"), ("P3", "c", 3, "")])

    def title(columns: tuple[str, str]) -> str:
        if not columns[1]:
            raise KeyboardInterrupt
        return columns[1]

    with pytest.raises(KeyboardInterrupt):
        each_made(index, "1", "title", title, kept)
    assert all(tree for _, tree in kept)
    index.executescript("update live set title = 'second' where name = 'P2'; update live set title = 'three' where name = 'P3'")
    assert each_made(index, "1", "title", title, kept) == ("one", "second", "three")
    assert kept == {("P1", "a"): "one", ("P3", "c"): "three"}


def test_what_a_run_renders_before_its_commit_is_what_stands_after_it(case: Case) -> None:
    found = made(24, 7)
    case.conclude(*found[:20])
    for several in ([found[20]], found[21:24]):
        ahead = case.ahead(*several)
        case.conclude(*several)
        assert ahead == render(case.check())
    again = replace(
        found[-1], replications=(*found[-1].replications, *next(e.replications for e in made(90, 1) if e.replications))
    )
    ahead = case.ahead(again)
    case.conclude(again)
    assert ahead == render(case.check())


def test_a_changed_harness_is_warned_of_and_an_epoch_of_an_old_one_is_not_the_present(case: Case) -> None:
    def edited(text: bytes) -> BenchmarkIdentity:
        case.repository.write("kernel/harness/time.py", text)
        case.repository.commit()
        library = GitLibrary(case.reader())
        head = case.reader().head()
        return library.benchmark_identity(head, library.protocol(head), "cpu")

    keep = next(each for each in made(90, 1) if each.verdict is Verdict.KEEP and each.base)
    old, now = edited(b"a = 1\n"), edited(b"a = 2\n")
    keep = replace(keep, id="P1", date="2026-01-01", target="cpu", replications=())
    case.conclude(replace(keep, yardstick=now), replace(keep, id="P2", date="2026-01-02", protocol="q", yardstick=old))
    (cpu,) = (each for each in case.check().targets if each.name == "cpu")
    assert cpu.path is not None
    assert (cpu.epoch, [step.id for step in cpu.path.steps], cpu.next_epoch) == (1, ["P1"], ())
    edited(b"# a comment\na = 2\n")
    assert "**Warning:**" not in render(case.check())
    edited(b"a = 3\n")
    assert "- **Warning:** the next run on cpu begins a new epoch (harness code " in render(case.check())


def test_an_edited_record_is_noticed_once_it_is_committed(case: Case) -> None:
    found = made(40, 6)
    case.conclude(*found)
    before = case.rendered()
    edited = replace(found[7], title="Edited by hand")
    file = case.repository.root / f"experiments/{edited.id}/record.json"
    file.write_bytes(record_bytes(edited))
    assert case.rendered() == before
    case.repository.commit()
    assert "Edited by hand" in case.rendered()
    case.check()


def test_every_byte_of_the_index_is_held_before_a_figure_of_it_is_shown(case: Case) -> None:
    case.conclude(*made(60, 8))
    wanted, sound = case.rendered(), case.file.read_bytes()
    for at in range(7, len(sound), len(sound) // 60):
        case.file.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
        assert case.rendered() == wanted
    case.file.unlink()
    assert case.rendered() == wanted


class Counting(GitReader):
    """Remembers which blobs were asked for."""

    def __init__(self, reader: GitReader) -> None:
        super().__init__(reader.place)
        self.asked: list[str] = []

    def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
        names = list(blobs)
        self.asked += names
        return super().read_blobs(names)


def test_status_reads_the_records_that_it_shows_and_no_others(case: Case) -> None:
    case.conclude(*made(300, 3))

    def status() -> tuple[object, list[str]]:
        reader = Counting(case.reader())
        library = GitLibrary(reader, RecordIndex(reader, case.file))
        gate = GateNow(target="")
        stock = read_status(
            library, head=reader.head(), branch="main", running=(), machine={}, absent=lambda _: (), gate=lambda _: lambda: gate
        )
        return stock, [name for name in reader.asked if name.endswith("record.json")]

    first, _ = status()
    second, read = status()
    assert second == first
    assert len(read) <= 5 + 2 + 1, "the last verdicts, those that show a baseline, whoever waits after an INVALID"
    case.conclude(replace(made(301, 3)[-1], id="P999"))
    _, read = status()
    assert len(read) <= 8 + 1
