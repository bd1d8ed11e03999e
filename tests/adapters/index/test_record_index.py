"""The index of records: the same answers with it, without it, for another commit, and when it is damaged."""

import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.scale.history import records
from expctl.adapters.codec.record_codec import record_bytes, record_of
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.index import queries, record_index, rows
from expctl.adapters.index.record_index import RecordIndex
from expctl.adapters.index.stamp import ROOMS, code_stamp
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import BenchmarkIdentity, Record
from expctl.domain.history.baselines import baseline_of, baselines, lands
from expctl.domain.history.epochs import epochs_of
from expctl.domain.ledger.record_summary import given_baselines, in_order, landings, standing, summary_of
from expctl.files import cache_folder, sealed_file
from tests.refusals import refuses
from tests.user_repository import Repository

OURS = Path(__file__).parents[3] / "experiments"
STICK = BenchmarkIdentity(harness="h", kpi="n=512 (1)", build="zig-cpu")


class Counting(GitReader):
    """Remembers how many blobs were asked for."""

    asked = 0

    def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
        names = list(blobs)
        self.asked += len(names)
        return super().read_blobs(names)


@pytest.fixture
def reader(repository: Repository) -> Counting:
    """A repository with the proposals and records of this project, and made-up ones with all that a record can hold."""
    for name in ("record.json", "experiment.yaml"):
        for file in OURS.glob(f"*/{name}"):
            repository.write(f"experiments/{file.parent.name}/{name}", file.read_bytes())
    made = list(records(80, 3, yardsticks={"here": STICK, "gpu": STICK}, protocol="p"))
    for record in made:
        write(repository, record, id=f"P{1000 + int(record.id[1:])}")
    kept = next(record for record in made if lands(record))
    write(repository, kept, id="P2000", kind=Kind.SIMPLIFY, estimates=(), procedure=None)  # a KEEP that wasn't timed
    repository.commit()
    return Counting(locate(repository.root))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "records.sqlite"


def write(repository: Repository, record: Record, **changes: object) -> None:
    from msgspec.structs import replace

    made = replace(record, **changes)
    repository.write(f"experiments/{made.id}/record.json", record_bytes(made))


def library(reader: GitReader, file: Path | None, told: Callable[[str], None] = lambda _: None) -> GitLibrary:
    return GitLibrary(reader, RecordIndex(reader, file, told=told))


def expected(reader: GitReader) -> tuple[Record, ...]:
    return GitLibrary(reader).records(reader.head())


# ------------------------------------------------------------------ what it says


def test_digests_are_those_of_the_records_and_nothing_is_read_twice(reader: Counting, file: Path) -> None:
    head, wanted = reader.head(), tuple(summary_of(record) for record in expected(reader))
    assert library(reader, file).digests(head) == wanted
    reader.asked = 0
    assert library(reader, file).digests(head) == wanted
    assert reader.asked == 0
    assert library(reader, None).digests(head) == wanted


def test_who_lands_much_writes_the_file_now_and_then_and_others_read_on(
    reader: Counting, repository: Repository, file: Path
) -> None:
    ours = library(reader, file)
    ours.digests(reader.head())
    written = file.stat().st_ino
    record = record_of((OURS / "P17" / "record.json").read_bytes(), where="")
    for number in range(record_index.STORED_EVERY):
        assert file.stat().st_ino == written
        write(repository, record, id=f"P{3000 + number}")
        found = ours.digests(repository.commit())
        assert found == library(reader, None).digests(repository.head()) if number < 2 else found
    assert file.stat().st_ino != written
    assert library(reader, file).digests(repository.head()) == found


def test_the_stock_is_what_all_records_come_to(reader: Counting, file: Path) -> None:
    found, records = library(reader, file).stock(reader.head()), expected(reader)
    digests = in_order(summary_of(record) for record in records)
    epochs = epochs_of(records)
    assert (found.epochs.all, found.epochs.used) == (epochs.all, epochs.used)
    assert len(epochs.all) > 4
    assert found.standing == standing(digests)
    assert found.landings == landings(digests)
    assert found.given == given_baselines(digests)
    assert found.newest == tuple(each.id for each in digests if not each.imported)[-5:]
    assert [name for name, _ in found.debts] == [record.id for record in records if summary_of(record).debts]
    by_id = {record.id: record for record in records}
    shown = tuple(baseline_of(target, by_id[name], found.landings) for target, name in sorted(found.standing.items()))
    assert shown == baselines(records)


def test_what_waits_has_no_verdict_about_the_idea(reader: Counting, file: Path) -> None:
    ours, head = library(reader, file), reader.head()
    everything = {record.id: record.verdict for record in expected(reader)}
    proposed = [each.id for each in ours.some_proposals(head, ours.experiments(head))]
    assert ours.experiments(head) == dict.fromkeys(proposed) | everything
    waiting = ours.waiting(head)
    assert set(waiting) == {n for n in ours.experiments(head) if everything.get(n) in (None, Verdict.INVALID)}
    assert [each.id for each in ours.some_proposals(head, waiting)] == [name for name in waiting if name in proposed]


def test_a_record_that_sqlite_can_not_store_as_it_is_gives_a_digest_as_it_is_shown(
    reader: Counting, repository: Repository, file: Path
) -> None:
    record = record_of((OURS / "P17" / "record.json").read_bytes(), where="")
    write(repository, record, id="P99", title="half \ud800 a letter", target="ｃｐｕ", notes=("\udfff",))
    repository.commit()
    (found,) = [each for each in library(reader, file).digests(reader.head()) if each.id == "P99"]
    assert (found.title, found.target, found.notes) == ("half  a letter", "ｃｐｕ", ("",))


# ------------------------------------------------------------------ another commit


def test_only_what_is_new_is_read_and_a_damaged_record_is_refused_every_time(
    reader: Counting, repository: Repository, file: Path
) -> None:
    before = library(reader, file).digests(reader.head())
    repository.write("experiments/P17/samples.jsonl", b"{}")  # a folder that changed, a record that didn't
    repository.write("experiments/P99/experiment.yaml", b"id: P99")
    repository.write("experiments/notes.txt", b"no folder")
    repository.commit()
    reader.asked = 0
    assert library(reader, file).digests(reader.head()) == before
    assert reader.asked == 3, "two records, and whether the folder without one holds a proposal"
    repository.write("experiments/P99/record.json", b"{}")
    repository.commit()
    for _ in range(2):
        with refuses("file-damaged") as caught:
            library(reader, file).digests(reader.head())
        assert caught.value.where == "experiments/P99/record.json"


def test_branches_in_turns_show_their_own_records_and_are_read_once(
    reader: Counting, repository: Repository, file: Path
) -> None:
    main = reader.head()
    folders = list((repository.root / "experiments").iterdir())
    undecided = [folder for folder in folders if not (folder / "record.json").exists()]
    repository.git("checkout", "-q", "-b", "other")
    repository.git("rm", "-q", "-r", "experiments/P17", "experiments/P1080")
    record = record_of((OURS / "P20" / "record.json").read_bytes(), where="")
    write(repository, record, title="another title")
    write(repository, record, id="P77")
    other = repository.commit()
    wanted = {each: tuple(summary_of(record) for record in GitLibrary(reader).records(each)) for each in (main, other)}
    stocks = {each: library(reader, None).stock(each) for each in wanted}
    read = []
    for commit in (main, other, main, other):
        reader.asked = 0
        assert library(reader, file).digests(commit) == wanted[commit]
        assert library(reader, file).stock(commit) == stocks[commit]
        read.append(reader.asked)
    first = len(folders) + len(undecided)  # a record of each, or whether there is a proposal; and the proposals
    assert read == [first, 2, 0, 0], "of the other branch its two records"


def test_a_folder_under_another_name_is_another_experiment(reader: Counting, repository: Repository, file: Path) -> None:
    library(reader, file).digests(reader.head())
    repository.git("mv", "experiments/P17", "experiments/P18x")
    repository.commit()
    with refuses("record-names-another") as caught:
        library(reader, file).digests(reader.head())
    assert caught.value.where == "experiments/P18x"


def test_a_repository_without_experiments_has_none(repository: Repository, file: Path) -> None:
    reader = GitReader(locate(repository.root))
    first = reader.head()
    repository.write("experiments/P1/record.json", (OURS / "P1" / "record.json").read_bytes())
    second = repository.commit()
    for commit, number in ((first, 0), (second, 1), (first, 0)):
        assert len(library(reader, file).digests(commit)) == number


def test_a_tree_that_git_has_forgotten_is_no_obstacle(reader: Counting, repository: Repository, file: Path) -> None:
    wanted = library(reader, file).digests(reader.head())
    altered(file, "update made set tree = '1111111111111111111111111111111111111111'")
    repository.write("experiments/P99/experiment.yaml", b"id: P99")
    repository.commit()
    reader.asked = 0
    assert library(reader, file).digests(reader.head()) == wanted
    assert reader.asked == 2


def test_rows_of_other_commits_are_forgotten_when_there_are_many(
    reader: Counting, repository: Repository, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from expctl.adapters.index import build as index_making

    monkeypatch.setattr(index_making, "STALE_LEAST", 3)
    number = len(library(reader, file).digests(reader.head()))
    repository.git("rm", "-q", "-r", "experiments")
    repository.commit()
    assert library(reader, file).digests(reader.head()) == ()
    with closing(opened(file)) as index:
        kept = [index.execute(f"select count(*) from {table}").fetchone()[0] for table in ("records", "measurings", "words")]
    assert number > 80
    assert kept == [0, 0, 0]


# ------------------------------------------------------------------ a file that is damaged, foreign or not writable


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"no database" * 1000),
        lambda file: file.write_bytes(file.read_bytes()[:9000]),
        lambda file: file.write_bytes(file.read_bytes()[:4096] + b"\xff" * 40_000),
        lambda file: file.write_bytes(file.read_bytes()[:-32]),
        lambda file: overwritten(file, b"\xff\xfe"),
        lambda file: overwritten(file, b"+99.8"),
    ],
    ids=["emptied", "no database", "cut", "overwritten", "no seal", "no text", "another figure"],
)
def test_a_damaged_file_is_never_believed_and_made_again(
    reader: Counting, file: Path, damage: Callable[[Path], object]
) -> None:
    head, said = reader.head(), list[str]()
    wanted = library(reader, file).digests(head)
    damage(file)
    assert library(reader, file, said.append).digests(head) == wanted
    assert said == ["records.sqlite, a cache of the records, was damaged: it is made again from git"]
    reader.asked = 0
    assert library(reader, file, said.append).digests(head) == wanted
    assert reader.asked == 0
    assert len(said) == 1


def overwritten(file: Path, by: bytes) -> None:
    """Replace a part of what is told of an experiment, as a bad block would."""
    with closing(opened(file)) as index:
        told = index.execute("select max(told) from live").fetchone()[0]
    text = bytearray(file.read_bytes())
    at = text.index(told.encode())
    text[at : at + len(by)] = by
    file.write_bytes(text)


@pytest.mark.timeout(60)
def test_a_named_pipe_is_not_waited_for_and_replaced(repository: Repository, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(file)
    assert cache_folder.sound(file) is None
    git = GitReader(locate(repository.root))
    assert library(git, file).records(git.head()) == ()
    library(git, file).read_ahead(git.head())
    assert sealed_file.is_sound(file)


def test_a_deleted_file_is_made_again_without_a_word(reader: Counting, file: Path) -> None:
    said, wanted = list[str](), library(reader, file).digests(reader.head())
    file.unlink()
    assert library(reader, file, said.append).digests(reader.head()) == wanted
    assert file.exists()
    assert not said


def test_an_update_that_fails_leaves_the_index_as_it_was(reader: Counting, repository: Repository, file: Path) -> None:
    ours, head = library(reader, file), reader.head()
    wanted = ours.digests(head)
    before = file.read_bytes()
    repository.write("experiments/P17/record.json", b"{}")
    damaged = repository.commit()
    with refuses("file-damaged"):
        ours.digests(damaged)
    assert file.read_bytes() == before
    assert ours.digests(head) == wanted


def opened(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.as_uri()}?immutable=1", uri=True)


def altered(file: Path, statement: str) -> None:
    """Change the index by SQL, and seal it, as other code would."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as index:
        index.deserialize(file.read_bytes()[: -sealed_file.SEAL])
        index.execute(statement)
        sealed_file.write(file, index.serialize())


def test_what_other_code_made_is_made_again(reader: Counting, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, ours = reader.head(), library(reader, file)
    wanted = ours.digests(head)
    altered(file, "update records set title = 'another title'")
    assert library(reader, file).digests(head) != wanted
    stamp = code_stamp()
    monkeypatch.setattr(record_index, "code_stamp", lambda: stamp + " edited")
    assert library(reader, file).digests(head) == wanted


def test_the_stamp_changes_with_every_module_that_reads_or_reduces(tmp_path: Path) -> None:
    for room in ROOMS:
        (tmp_path / room / "verdict").mkdir(parents=True)
        (tmp_path / room / "a.py").write_text("a = 1\n")
    seen = {code_stamp(tmp_path)}
    names = ("adapters/a.py", "domain/a.py", "domain/b.py", "domain/verdict/a.py", "flow/rules/a.py")
    for number, name in enumerate(names, start=2):
        (tmp_path / name).write_text(f"a = {'1' * number}\n")
        seen.add(code_stamp(tmp_path))
        assert len(seen) == number
    (tmp_path / "domain" / "notes.txt").write_text("no code")
    assert code_stamp(tmp_path) in seen


def test_who_can_not_write_answers_all_the_same(reader: Counting, tmp_path: Path) -> None:
    head, wanted = reader.head(), library(reader, None).digests(reader.head())
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    for file in (tmp_path / "file" / "records.sqlite", tmp_path / "folder"):
        ours = library(reader, file)
        assert ours.digests(head) == wanted
        reader.asked = 0
        assert ours.digests(head) == wanted
        assert reader.asked == 0, "what is in memory stays there"


def test_an_answer_is_of_one_commit_while_others_bring_the_index_to_another(
    reader: Counting, repository: Repository, file: Path
) -> None:
    first = reader.head()
    number = len(library(reader, file).digests(first))
    repository.git("rm", "-q", "-r", "experiments")
    second = repository.commit()
    ours = RecordIndex(reader, file)

    def slow(index: sqlite3.Connection) -> int:
        seen = len(rows.summaries(index))
        assert library(reader, file).digests(second) == (), "another process, while this one reads"
        return seen + len(queries.experiments(index))

    assert ours.ask(first, slow) >= 2 * number


@pytest.mark.parametrize("cached", [True, False])
def test_a_record_that_git_has_lost_is_no_proposal_without_a_record(
    reader: Counting, repository: Repository, file: Path, cached: bool
) -> None:
    head = reader.head()
    blob = repository.git("rev-parse", "HEAD:experiments/P17/record.json").strip()
    if cached:
        library(reader, file).digests(head)
        repository.write("experiments/P17/samples.jsonl", b"{}")
        head = repository.commit()
    (repository.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with refuses("git-object-lost"):
        library(reader, file).experiments(head)
    with refuses("git-object-lost"):
        library(reader, None).records(head)
    assert [each.code for each in library(reader, None).damaged(head)] == ["git-object-lost"]
