"""Files that the user names for output: a device or pipe is written to, and never replaced."""

import os
import threading
from pathlib import Path

import pytest

from expctl.cli.output import check_other_file, write_file
from expctl.cli.tune.files import export_files, import_files
from tests.refusals import refuses


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write_file, args=(pipe, b"facts"))
    writer.start()
    assert pipe.read_bytes() == b"facts"
    writer.join()
    assert pipe.is_fifo()


def test_a_folder_or_no_name_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, Path(), Path("a\0b")):
        with refuses("file-not-writable"):
            write_file(path, b"facts")


def test_tables_go_where_a_folder_can_be_made_or_nowhere(tmp_path: Path) -> None:
    (tmp_path / "gfx950-GEMM.json").write_text('{"any": {"A": 1}}')
    facts = {"compiler": "c", "driver": "", "device": "d"}
    (made,) = import_files(tmp_path, tmp_path / "new" / "folder", facts)
    assert made.is_file()
    for folder in (Path("/proc/x"), tmp_path / "gfx950-GEMM.json"):
        with refuses("file-not-writable"):
            import_files(tmp_path, folder, facts)


def test_tables_are_read_whole_before_one_is_written(tmp_path: Path) -> None:
    (tmp_path / "gfx950-GEMM.json").write_text('{"any": {"A": 1}}')
    (tmp_path / "gfx950-OTHER.json").mkdir()
    with refuses("table-malformed"):
        import_files(tmp_path, tmp_path / "out", {"compiler": "c", "driver": "", "device": "d"})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "names",
    [
        *(("gfx950-...json",), ("gfx950-..json",), ("gfx950-A B.json",), ("gfx950-GEMM-N=3.json",), ("gfx950-É.json",)),
        *(("gfx950-A-B.json", "gfx950-A_B.json"), ("gfx950-GEMM.json", "gfx950-gemm.json")),
    ],
)
def test_an_operation_is_a_plain_name_and_of_two_files_for_one_table_none_is_dropped(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    for name in names:
        (tmp_path / name).write_text('{"any": {"A": 1}}')
    with refuses("table-malformed"):
        import_files(tmp_path, tmp_path / "out", {"compiler": "c", "driver": "", "device": "d"})
    assert not (tmp_path / "out").exists()


def test_a_folder_that_names_no_architecture_is_not_exported(tmp_path: Path) -> None:
    """Of /tmp/x/gemm it would be the root of the file system."""
    for place in ("gemm", "a/b/c/gemm"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        (folder / "DEFAULT.json").write_text('{"made_with": {"compiler": "", "driver": "", "device": ""}, "any": {"A": 1}}')
        with refuses("table-malformed"):
            export_files(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_read_isn_t_written_over(tmp_path: Path) -> None:
    read, other = tmp_path / "kernel.hip", tmp_path / "other"
    read.write_text("source")
    other.symlink_to(read)
    for file in (read, tmp_path / "." / "kernel.hip", other):
        with refuses("file-not-writable"):
            check_other_file(file, tmp_path / "gone.yaml", read)
    check_other_file(tmp_path / "new", read)
