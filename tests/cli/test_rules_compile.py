"""`rules compile` says before it compiles that its file can't be written."""

import errno
from pathlib import Path

import pytest

from expctl.cli.rules import _check_writable


def test_a_folder_in_the_way_is_found_before_a_minute_of_compiling(tmp_path: Path) -> None:
    file = tmp_path / "experiments/compiled.json.xz"
    _check_writable(file)
    assert file.parent.is_dir()
    file.mkdir()
    with pytest.raises(OSError, match="Is a directory") as found:
        _check_writable(file)
    assert (found.value.errno, found.value.filename) == (errno.EISDIR, str(file))


def test_no_right_to_write_is_found_before_a_minute_of_compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(OSError, match="denied") as found:
        _check_writable(tmp_path / "experiments/compiled.json.xz")
    assert found.value.errno == errno.EACCES
