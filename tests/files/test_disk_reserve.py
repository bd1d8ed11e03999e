"""Space for the last words: given up once, taken again when there is room."""

from pathlib import Path

import pytest

from expctl.adapters import journal as journal_module
from expctl.adapters.journal import FileJournal
from expctl.domain.errors import MachineTrouble
from expctl.domain.run.events import Pinned
from expctl.files.disk_reserve import BYTES, Reserve

PINNED = Pinned(candidate="c", tree="t", patch_id="p")


def test_the_reserve_is_real_space_and_is_given_up_once(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path)
    reserve.refill()
    file = tmp_path / "reserve"
    assert (file.stat().st_size, file.stat().st_blocks * 512 >= BYTES) == (BYTES, True)
    assert reserve.release()
    assert not reserve.release()
    reserve.refill()
    assert file.stat().st_size == BYTES


def test_where_there_is_no_room_for_a_reserve_nothing_is_said(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "not there")
    reserve.refill()
    assert not reserve.release()


@pytest.fixture
def full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileJournal:
    """A journal on a disk that is full while the reserve is there, and takes half of what is written."""
    write = journal_module._write

    def half(path: Path, text: bytes, *, is_first: bool) -> None:
        if (tmp_path / "reserve").exists():
            path.write_bytes((path.read_bytes() if path.exists() else b"") + text[: len(text) // 2])
            raise OSError(28, "No space left on device", str(path))
        write(path, text, is_first=is_first)

    monkeypatch.setattr(journal_module, "_write", half)
    return FileJournal(tmp_path / "journal")


def test_an_event_that_finds_the_disk_full_is_written_and_the_run_ends(full_disk: FileJournal) -> None:
    with pytest.raises(MachineTrouble) as caught:
        full_disk.append("P1", PINNED)
    assert caught.value.found == "No space left on device"
    assert full_disk.read("P1") == (PINNED,)
