"""The chain of events on disk, and every way in which it can be damaged."""

import errno
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.adapters.journal import BYTES_MAX, EVENTS, FileJournal
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Style
from expctl.domain.run.events import Begun, Event, Measured, Pinned, Published
from expctl.domain.verdict.samples import Sample, Side
from tests.refusals import refuses

BEGUN = Begun(id="P1", target="cpu", guards=("gfx",), absent=(), base="b", branch="main", content="c", again=False, date="d")
PINNED = Pinned(candidate="c", tree="t1", patch_id="p")
SAMPLE = Sample(round=0, launch=0, side=Side.BASELINE, size="n", style=Style.FINE, visit=1, ns=(1, 2), order="A")
LIFE: tuple[Event, ...] = (BEGUN, PINNED, Measured(round=0, samples=(SAMPLE,)), Published(commit="r"))


def journal_of(folder: Path, events: tuple[Event, ...] = LIFE) -> FileJournal:
    journal = FileJournal(folder / "journal")
    for event in events:
        journal.append("P1", event)
    return journal


def file_of(folder: Path) -> Path:
    return folder / "journal" / "P1.jsonl"


def test_events_come_back_in_order_also_in_another_process(tmp_path: Path) -> None:
    journal_of(tmp_path)
    assert FileJournal(tmp_path / "journal").read("P1") == LIFE


def test_a_journal_that_was_never_written_is_empty(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal")
    assert journal.read("P1") == ()
    assert journal.unfinished() == ()
    journal.forget("P1")
    assert not (tmp_path / "journal").exists()


def test_a_huge_journal_is_refused_unread(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    os.truncate(file_of(tmp_path), BYTES_MAX + 1)
    with refuses("journal-damaged"):
        journal.read("P1")


def test_unfinished_runs_are_listed_until_they_are_forgotten(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    journal.append("P0", BEGUN)
    assert journal.unfinished() == ("P0", "P1")
    journal.forget("P1")
    assert journal.unfinished() == ("P0",)
    assert journal.read("P1") == ()


def test_every_line_carries_the_checksum_of_the_one_before(tmp_path: Path) -> None:
    journal_of(tmp_path)
    lines = [json.loads(line) for line in file_of(tmp_path).read_bytes().splitlines()]
    assert [line["seq"] for line in lines] == [0, 1, 2, 3]
    assert [line["prev"] for line in lines] == ["start", *(line["sum"] for line in lines[:-1])]


def test_a_torn_last_line_is_healed_wherever_it_was_torn(tmp_path: Path) -> None:
    journal_of(tmp_path, LIFE[:2])
    path = file_of(tmp_path)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        journal = FileJournal(tmp_path / "journal")
        assert journal.read("P1") == (BEGUN,)
        assert path.read_bytes() == whole[:first]
        journal.append("P1", PINNED)
        assert path.read_bytes() == whole


def test_a_torn_first_line_leaves_an_empty_journal(tmp_path: Path) -> None:
    journal_of(tmp_path, LIFE[:1])
    path = file_of(tmp_path)
    path.write_bytes(path.read_bytes()[:40])
    journal = FileJournal(tmp_path / "journal")
    assert journal.read("P1") == ()
    assert path.read_bytes() == b""
    journal.append("P1", BEGUN)
    assert journal.read("P1") == (BEGUN,)


@pytest.mark.parametrize("flip", [0x01, 0x20, 0x80])
def test_every_flipped_byte_of_a_middle_line_is_refused_naming_the_line(tmp_path: Path, flip: int) -> None:
    journal_of(tmp_path, LIFE[:3])
    path = file_of(tmp_path)
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    end = whole.index(b"\n", start)
    for at in range(start, end + 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :])
        with pytest.raises(Refused) as caught:
            FileJournal(tmp_path / "journal").read("P1")
        assert caught.value.found.startswith("line 2 is not such an object"), at
        assert caught.value.where == str(path)


def test_who_has_read_a_journal_sees_what_others_append_to_it_and_do_to_it(tmp_path: Path) -> None:
    ours, file = journal_of(tmp_path, LIFE[:2]), file_of(tmp_path)
    first = ours.read("P1")
    assert ours.read("P1") is first
    for count in (3, 4):
        FileJournal(tmp_path / "journal").append("P1", LIFE[count - 1])
        assert ours.read("P1") == LIFE[:count]
    whole = file.read_bytes()
    for damaged in (whole[:9] + b"x" + whole[10:], whole + whole[-9:] + b"\n"):
        file.write_bytes(damaged)
        with refuses("journal-damaged"):
            ours.read("P1")
    file.write_bytes(whole)
    assert ours.read("P1") == LIFE


def test_who_appends_to_a_journal_goes_on_after_what_others_did_to_it(tmp_path: Path) -> None:
    ours, file = journal_of(tmp_path, LIFE[:1]), file_of(tmp_path)
    FileJournal(tmp_path / "journal").append("P1", LIFE[1])
    ours.append("P1", LIFE[2])
    with open(file, "ab") as torn:
        torn.write(b'{"seq":3,"prev"')
    ours.append("P1", LIFE[3])
    assert ours.read("P1") == FileJournal(tmp_path / "journal").read("P1") == LIFE
    FileJournal(tmp_path / "journal").forget("P1")
    ours.append("P1", LIFE[0])
    assert FileJournal(tmp_path / "journal").read("P1") == LIFE[:1]


def test_an_append_costs_what_it_appends_and_reads_nothing_of_what_it_wrote_before(tmp_path: Path) -> None:
    ours, file = journal_of(tmp_path, LIFE[:2]), file_of(tmp_path)
    file.write_bytes(b"x" * file.stat().st_size)
    ours.append("P1", LIFE[2])
    with refuses("journal-damaged"):
        ours.read("P1")


def test_an_experiment_without_a_journal_leaves_what_was_read_of_another(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, LIFE[:2])
    journal.append("P2", LIFE[0])
    for _ in range(2):
        assert [journal.read(name) for name in ("P1", "P3", "P1", "P2")] == [LIFE[:2], (), LIFE[:2], LIFE[:1]]


def test_a_missing_a_doubled_and_a_swapped_line_are_refused(tmp_path: Path) -> None:
    journal_of(tmp_path)
    path = file_of(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = {
        "missing": [lines[0], lines[2], lines[3]],
        "doubled": [lines[0], lines[1], lines[1], lines[2]],
        "swapped": [lines[0], lines[2], lines[1]],
        "headless": lines[1:],
        "empty line": [lines[0], b"\n", lines[1]],
        "other JSON": [lines[0], b"null\n", lines[1]],
    }
    for name, kept in damaged.items():
        path.write_bytes(b"".join(kept))
        with refuses("journal-damaged"):
            FileJournal(tmp_path / "journal").read("P1")
        with refuses("journal-damaged"):
            FileJournal(tmp_path / "journal").append("P1", PINNED)
        assert path.read_bytes() == b"".join(kept), name


@dataclass(frozen=True)
class Pondered:
    """An event that this version does not know."""

    thought: str


def test_an_event_of_another_version_is_refused(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, LIFE[:1])
    journal.append("P1", Pondered(thought="hm"))  # type: ignore[arg-type]
    with refuses("journal-of-another-version"):
        journal.read("P1")


TEXT = st.text(max_size=5)
SIDES = st.sampled_from(Side)


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_every_event_comes_back_from_json(name: str) -> None:
    st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
    st.register_type_strategy(str, TEXT)
    kind: Any = EVENTS[name]

    @given(st.builds(kind))
    def comes_back(event: Event) -> None:
        problems = Problems()
        assert decode(json.loads(json.dumps(encode(event), allow_nan=False)), kind, problems) == event
        assert problems.found == []

    comes_back()


def test_a_folder_and_a_line_nested_without_end_are_damage(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal")
    (tmp_path / "journal" / "P1.jsonl").mkdir(parents=True)
    (tmp_path / "journal" / "P2.jsonl").write_text("[" * 100_000 + "\n")
    for name in ("P1", "P2"):
        with refuses("journal-damaged") as caught:
            journal.read(name)
        assert caught.value.where.endswith(f"{name}.jsonl")


def test_a_disk_that_was_full_for_one_write_leaves_each_line_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python writes at closing what a buffer still holds of a write that failed."""
    full = [True]

    class File(io.FileIO):
        def write(self, text: Any, /) -> int:
            if full:
                full.pop()
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(text)

    def opened(path: Path, _mode: str, buffering: int = -1) -> Any:
        return File(path, "a") if buffering == 0 else io.BufferedWriter(File(path, "a"))

    journal = FileJournal(tmp_path / "journal")
    journal.append("P1", BEGUN)
    monkeypatch.setattr("expctl.adapters.journal.open", opened, raising=False)
    with refuses("machine-trouble"):
        journal.append("P1", PINNED)
    monkeypatch.undo()
    assert journal.read("P1") == (BEGUN, PINNED)
