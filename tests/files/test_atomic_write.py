"""What interrupted writes leave is removed, and nothing else."""

from pathlib import Path

from expctl.files import atomic_write


def test_leftovers_are_files_or_folders(tmp_path: Path) -> None:
    outside, kept = tmp_path / "outside", tmp_path / "state"
    (kept / ".scratch.ab.new/deep").mkdir(parents=True)
    (kept / ".scratch.ab.new/deep/file").write_text("left")
    (kept / ".index.1.new").write_text("left")
    (kept / ".index.1.new.lock").write_text("left")
    (kept / "index").write_text("kept")
    outside.mkdir()
    (outside / "file").write_text("kept")
    (kept / ".link.new").symlink_to(outside)
    atomic_write.remove_temporary_files(kept)
    assert [file.name for file in kept.iterdir()] == ["index"]
    assert (outside / "file").read_text() == "kept"
