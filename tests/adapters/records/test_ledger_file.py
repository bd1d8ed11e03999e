"""What is said of a ledger.md that is no file works when it is typed."""

import os
import subprocess
from pathlib import Path

import pytest

from expctl.adapters.records.ledger_file import ledger_mend, ledger_on_disk
from expctl.files.own_file import BYTES_MAX


@pytest.mark.parametrize("kind", ["link", "broken link", "folder"])
def test_what_is_in_the_way_is_out_of_it_afterwards(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "ledger.md"
    if kind == "folder":
        file.mkdir()
    else:
        (tmp_path / "other.md").write_text("other")
        file.symlink_to("other.md" if kind == "link" else "gone.md")
    first, _, then = ledger_mend(file).partition(" && ")
    subprocess.run(first, shell=True, cwd=tmp_path, check=True)
    assert (file.is_symlink(), file.exists(), then) == (False, False, "expctl ledger")


def test_a_file_needs_only_the_command(tmp_path: Path) -> None:
    assert ledger_mend(tmp_path / "ledger.md") == "expctl ledger"


def test_a_huge_file_is_no_ledger_and_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "ledger.md"
    file.write_text("# Ledger\n")
    assert ledger_on_disk(file) == b"# Ledger\n"
    os.truncate(file, BYTES_MAX + 1)
    assert ledger_on_disk(file) is None
