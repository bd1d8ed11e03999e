"""What a killed compilation leaves in the folder for temporary files goes with the next one."""

import os
import tempfile
import time
from pathlib import Path

import pytest

from expctl.inspection.device_compiler import SCRATCH, TIMEOUT_S, Options, assembly_with_lines


def test_folders_of_killed_compilations_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    source = tmp_path / "k.hip"
    source.write_text("__attribute__((global)) void k() {}")
    old, young, other = tmp_path / f"{SCRATCH}old", tmp_path / f"{SCRATCH}young", tmp_path / "expctl.old"
    long_ago = time.time() - 3 * TIMEOUT_S
    for folder in (old, young, other):
        folder.mkdir()
        (folder / "kernel.s").write_text("; ...")
        if folder is not young:
            os.utime(folder, (long_ago, long_ago))
    linked = tmp_path / f"{SCRATCH}link"
    linked.symlink_to(other)
    os.utime(linked, (long_ago, long_ago), follow_symlinks=False)
    assembly_with_lines(source, Options(arch="gfx1151"))
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_dir()) == sorted((young.name, other.name, linked.name))
    assert (other / "kernel.s").exists()
