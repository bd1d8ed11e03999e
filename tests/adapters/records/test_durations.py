"""Durations of steps are remembered; a damaged file counts as none."""

from pathlib import Path

import pytest

from expctl.adapters.records.durations import FileDurations


def test_what_was_written_is_read_by_the_next(tmp_path: Path) -> None:
    FileDurations(tmp_path / "d.json").write("cpu", "profile", 12.5)
    FileDurations(tmp_path / "d.json").write("gpu", "profile", 3)
    kept = FileDurations(tmp_path / "d.json")
    assert (kept.read("cpu", "profile"), kept.read("gpu", "profile"), kept.read("cpu", "test")) == (12.5, 3, 0)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cpu profile": "x"}'])
def test_a_damaged_file_counts_as_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(text)
    kept = FileDurations(tmp_path / "d.json")
    assert kept.read("cpu", "profile") == 0
    kept.write("cpu", "profile", 2)
    assert kept.read("cpu", "profile") == 2
