"""Digests of records, and the cache that holds them: the same with it, without it, and when it is damaged."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from expctl.adapters.digests import CachedDigests
from user_repository import Repository

from expctl.adapters.git_reader import GitReader, locate
from expctl.adapters.library import GitLibrary
from expctl.domain.digest import baseline_of, digest_of, given_baselines, in_order, standing
from expctl.domain.errors import Refused
from expctl.domain.ledger_baseline import baselines, imported_baselines

OURS = Path(__file__).parents[2] / "experiments"


class Counting(GitReader):
    """Remembers how many blobs were asked for."""

    asked = 0

    def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
        names = list(blobs)
        self.asked += len(names)
        return super().read_blobs(names)


@pytest.fixture
def reader(repository: Repository) -> Counting:
    """A repository with the proposals and records of this project."""
    for name in ("record.json", "experiment.yaml"):
        for file in OURS.glob(f"*/{name}"):
            repository.write(f"experiments/{file.parent.name}/{name}", file.read_bytes())
    repository.commit()
    return Counting(locate(repository.root))


def test_digests_of_this_repository_are_the_same_with_and_without_their_cache(reader: Counting, tmp_path: Path) -> None:
    head, file = reader.head(), tmp_path / "digests.json"
    first = CachedDigests(reader, file).all(head)
    expected = tuple(digest_of(record) for record in GitLibrary(reader).records(head))
    assert first == expected
    reader.asked = 0
    assert CachedDigests(reader, file).all(head) == expected
    assert reader.asked == 0


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b"\xff"])
def test_a_damaged_cache_is_made_again(reader: Counting, tmp_path: Path, damage: bytes) -> None:
    head, file = reader.head(), tmp_path / "digests.json"
    file.write_bytes(damage)
    assert CachedDigests(reader, file).all(head)
    assert json.loads(file.read_bytes())["rows"]


def test_what_other_code_reduced_is_made_again(reader: Counting, tmp_path: Path) -> None:
    head, file = reader.head(), tmp_path / "digests.json"
    expected = CachedDigests(reader, file).all(head)
    plain = json.loads(file.read_bytes())
    altered = {tree: row and [row[0], "another title", *row[2:]] for tree, row in plain["rows"].items()}
    file.write_text(json.dumps({**plain, "rows": altered}))
    assert CachedDigests(reader, file).all(head) != expected
    file.write_text(json.dumps({**plain, "rows": altered, "code": "other code"}))
    assert CachedDigests(reader, file).all(head) == expected


def test_what_digests_say_of_baselines_is_what_records_say(reader: Counting, tmp_path: Path) -> None:
    records = GitLibrary(reader).records(reader.head())
    digests = in_order(CachedDigests(reader, tmp_path / "d").all(reader.head()))
    by_id = {record.id: record for record in records}
    found = tuple(baseline_of(target, by_id[each.id], digests) for target, each in sorted(standing(digests).items()))
    assert found == baselines(records)
    assert given_baselines(digests) == imported_baselines(records)


def test_what_waits_has_no_record(reader: Counting, tmp_path: Path) -> None:
    digests = CachedDigests(reader, tmp_path / "d")
    head = reader.head()
    waiting = digests.waiting(head)
    assert [each.id for each in digests.proposals(head, waiting)] == list(waiting)
    assert not {each.id for each in digests.all(head)} & set(waiting)


def test_only_what_is_new_is_read_and_a_damaged_record_is_refused(
    reader: Counting, repository: Repository, tmp_path: Path
) -> None:
    file = tmp_path / "digests.json"
    before = CachedDigests(reader, file).all(reader.head())
    first = next(OURS.glob("*/record.json"))
    repository.write(f"experiments/{first.parent.name}/samples.jsonl", b"{}")  # a folder that changed, a record that didn't
    repository.write("experiments/P99/experiment.yaml", b"id: P99")
    repository.commit()
    reader.asked = 0
    assert CachedDigests(reader, file).all(reader.head()) == before
    assert reader.asked == 2
    repository.write("experiments/P99/record.json", b"{}")
    repository.commit()
    with pytest.raises(Refused, match=r"experiments/P99/record\.json is damaged"):
        CachedDigests(reader, file).all(reader.head())
