"""Each malformed folder gives one clear error; a good one gives none."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from expctl.tables.folder import read_files, read_folder
from expctl.tables.table import BadTable
from tests.tables.malformed import GOOD, MALFORMED, OP, SPECIAL


@pytest.mark.parametrize(("files", "words"), MALFORMED.values(), ids=MALFORMED)
def test_it_is_refused_in_one_line_that_names_what_is_wrong(
    files: Mapping[str, str | bytes], words: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / OP
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadTable) as error:
        read_folder(folder)
    told = str(error.value)
    assert "\n" not in told
    assert len(told) < 400
    for word in ("expected", "found", *words):
        assert word in told


def test_there_are_at_least_twenty_and_a_good_folder_is_read() -> None:
    assert len(MALFORMED) >= 20
    assert set(read_files(OP, {"DEFAULT.json": GOOD.encode(), SPECIAL: GOOD.encode()}).tables) == {"DEFAULT.json", SPECIAL}


def test_a_table_of_a_megabyte_is_refused() -> None:
    with pytest.raises(BadTable, match="bytes"):
        read_files(OP, {"DEFAULT.json": GOOD.encode() + b" " * (1 << 20)})


def test_two_files_of_one_family_are_refused() -> None:
    files = {"DEFAULT.json": GOOD.encode(), SPECIAL: GOOD.encode(), SPECIAL.replace("SCALED_MM", "SCALED-MM"): GOOD.encode()}
    with pytest.raises(BadTable, match="one file for each N and K"):
        read_files(OP, files)


def test_a_config_that_the_build_lacks_is_refused() -> None:
    with pytest.raises(BadTable, match=r"M_LEQ_16.*not in the build"):
        read_files(OP, {"DEFAULT.json": GOOD.encode()}, also=lambda each: "not in the build" if each["REPEAT_M"] == 2 else "")
