"""What a function does is read once, and again where anything that it depends on is another."""

from pathlib import Path

import pytest

from expctl.files.cache_folder import CacheFolder
from expctl.inspection.readers import llvm_meaning
from expctl.inspection.readers.compiled_functions import Kept, read_functions

MODULE = """; a module
target triple = "x86_64-unknown-linux-gnu"
%pair = type { i32, i32 }
@limit = internal constant i32 7
define internal i32 @helper(i32 %0) #0 {
  %2 = mul i32 %0, 3
  ret i32 %2
}
define i32 @one(i32 %0, ptr %1) #0 {
  %3 = getelementptr %pair, ptr %1, i64 0, i32 1
  %4 = load i32, ptr %3
  %5 = call i32 @helper(i32 %4)
  %6 = load i32, ptr @limit
  %7 = call i32 @outside(i32 %6)
  %8 = add i32 %5, %7
  ret i32 %8
}
define i32 @two(i32 %0) #0 {
  %2 = add i32 %0, 2
  ret i32 %2
}
define i32 @three(ptr byval(%pair) readonly %0, ptr %1) #0 {
  store i32 5, ptr %1
  %3 = load i32, ptr %0
  ret i32 %3
}
declare i32 @outside(i32) #1
attributes #0 = { "target-cpu"="znver4" }
attributes #1 = { nounwind memory(none) }
"""


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that are read, not found."""
    names: list[str] = []
    reads = llvm_meaning.FunctionReader.read

    def counted(self: llvm_meaning.FunctionReader) -> object:
        names.append(self.function.name)
        return reads(self)

    monkeypatch.setattr(llvm_meaning.FunctionReader, "read", counted)
    return names


def test_what_is_kept_is_what_is_read(tmp_path: Path, read: list[str]) -> None:
    plain, kept = read_functions("meaning", MODULE), CacheFolder(tmp_path)
    assert read_functions("meaning", MODULE, kept) == plain
    assert {*read} == {"helper", "one", "two", "three"}
    read.clear()
    assert read_functions("meaning", MODULE, kept) == plain
    assert not read


@pytest.mark.parametrize(
    ("old", "new", "others"),
    [
        ("mul i32 %0, 3", "mul i32 %0, 5", {"helper", "one"}),
        ("constant i32 7", "constant i32 8", {"one"}),
        ("{ i32, i32 }", "{ i64, i32 }", {"one"}),
        (" readonly", "", {"three"}),
        ("add i32 %0, 2", "add i32 %0, 4", {"two"}),
        ("nounwind memory(none)", "nounwind", {"one"}),
        ("znver4", "znver5", {"helper", "one", "two", "three"}),
        ("@helper", "@other", set()),
        ("@limit", "@most", set()),
    ],
)
def test_what_depends_on_another_thing_is_read_anew(
    tmp_path: Path, read: list[str], old: str, new: str, others: set[str]
) -> None:
    kept = CacheFolder(tmp_path)
    read_functions("meaning", MODULE, kept)
    read.clear()
    changed = MODULE.replace(old, new)
    found = read_functions("meaning", changed, kept)
    assert {*read} == others
    assert found == read_functions("meaning", changed)


def test_what_other_code_read_is_not_taken_and_makes_room(tmp_path: Path) -> None:
    old, new = (CacheFolder(tmp_path, 5, prefix=each) for each in ("old.", "new."))
    old.put("f", b"1")
    assert (old.get("f"), new.get("f")) == (b"1", None)
    for number in range(6):
        new.put(str(number), b"2")
    assert old.get("f") is None
    assert len([*tmp_path.iterdir()]) <= 5


def test_a_full_disk_keeps_nothing_from_being_read(tmp_path: Path) -> None:
    (full := tmp_path / "full").write_text("a file, where a folder should be")
    kept = Kept(full, "code", {"brought": "what was read"})
    kept.put("name", b"contents")
    assert kept.get("name") is None
    assert kept.get("brought") == b"what was read"
