"""Whatever bytes a file holds, an inspection ends with a report or with one refusal that says what to do."""

import os
import random
import struct
from pathlib import Path

import pytest

from expctl.domain.errors import Refused
from expctl.domain.run.step_result import Unavailable
from expctl.files.user_file import KERNEL_BYTES_MAX
from expctl.inspection import tool_versions
from expctl.inspection.device_compiler import Compiled, Options, compile_source
from expctl.inspection.readers import metadata_text
from expctl.inspection.readers.read_file import inspect
from tests.refusals import refuses

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")

ANY = Options(arch="")
MUTANTS = 600
SOURCE = """\
extern "C" __global__ void a(float *x) { *x += 1; }
extern "C" __global__ void b(float *x) { *x *= 2; }
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    path = tmp_path_factory.mktemp("built") / "small.hip"
    path.write_text(SOURCE)
    return compile_source(path, Options(arch="gfx1151"))


@pytest.fixture
def no_assembler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its hash an assembly text is read alone, which is what is tested, and quick."""
    gone = Unavailable(reason="not wanted", hint="")
    monkeypatch.setattr(tool_versions, "packages", lambda *_, **__: gone)


def refusal_of(path: Path) -> Refused | None:
    try:
        assert inspect(path, ANY).kernels
        return None
    except Refused as error:
        refusal = error
    assert refusal.found
    assert refusal.hint
    assert "\n" not in refusal.found + refusal.where
    return refusal


def mutant(rng: random.Random, data: bytes) -> bytes:
    """Some bytes, or one aligned word, become extreme values; one in eight is cut off."""
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 2, 4, 16))):
        size = rng.choice((1, 1, 2, 4, 8))
        at = rng.randrange(len(damaged) - size) // size * size
        bits = 8 * size
        value = rng.choice((0, 1, (1 << bits) - 1, 1 << bits - 1, 1 << bits - 3, rng.getrandbits(bits)))
        damaged[at : at + size] = value.to_bytes(size, "little")
    return bytes(damaged[: rng.randrange(len(damaged))] if rng.random() < 1 / 8 else damaged)


@pytest.mark.parametrize("name", ["small.o", "small.s"])
@pytest.mark.usefixtures("no_assembler")
def test_no_mutant_of_a_file_is_a_bug_of_ours(built: Compiled, tmp_path: Path, name: str) -> None:
    good = built.code_object if name == "small.o" else built.assembly.encode()
    rng, path, ends = random.Random(1), tmp_path / name, []
    for _ in range(MUTANTS):
        path.write_bytes(mutant(rng, good))
        ends.append(refusal_of(path) is None)
    assert {True, False} <= set(ends)


def header(data: bytes | bytearray, section: int) -> int:
    """Where the header of a section begins."""
    (table,) = struct.unpack_from("<Q", data, 40)
    return int(table) + 64 * section


DAMAGE = {
    "the offset of the names": (24, "<Q", 1 << 63, "ends at byte"),
    "the size of the names": (32, "<Q", 1 << 62, "ends at byte"),
    "a section that is compressed": (8, "<Q", 1 << 11, "is compressed"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_headers_that_leave_the_file(built: Compiled, tmp_path: Path, name: str) -> None:
    field, form, value, found = DAMAGE[name]
    damaged = bytearray(built.code_object)
    (names,) = struct.unpack_from("<H", damaged, 62)
    struct.pack_into(form, damaged, header(damaged, names) + field, value)
    (tmp_path / "a.o").write_bytes(damaged)
    refusal = refusal_of(tmp_path / "a.o")
    assert refusal is not None
    assert found in refusal.found


WORDS = {
    "no UTF-8": (b".name:           a", b".name:           a\xff", "not UTF-8"),
    "fewer registers than none": (b".vgpr_count:     ", b".vgpr_count:     -", "-"),
    "a workgroup of too many": (b".max_flat_workgroup_size: 1024", b".max_flat_workgroup_size: 999999999999", "999999999999"),
    "a number that is none": (b".vgpr_count:     ", b".vgpr_count:     x", "no number"),
    "an alias": (b".name:           a", b".name:           *a", "an alias"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.usefixtures("no_assembler")
def test_metadata_that_cannot_be(built: Compiled, tmp_path: Path, name: str) -> None:
    before, after, found = WORDS[name]
    good = built.assembly.encode()
    assert before in good
    (tmp_path / "a.s").write_bytes(good.replace(before, after, 1))
    refusal = refusal_of(tmp_path / "a.s")
    assert refusal is not None
    assert found in refusal.found


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 100_000])
def test_deep_metadata_does_not_end_the_process(text: str) -> None:
    with pytest.raises(metadata_text.BadMetadata):
        metadata_text.load(text)


def test_metadata_are_maps_lists_and_text() -> None:
    text = "a: 1\nb:\n  - c: 'x y'\n  - [d, {e: f}]\n...\n"
    assert metadata_text.load(text) == {"a": "1", "b": [{"c": "x y"}, ["d", {"e": "f"}]]}
    assert metadata_text.load("") is None


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.hip")
    (tmp_path / "zero.hip").symlink_to("/dev/zero")
    for name in ("pipe.hip", "zero.hip"):
        with refuses("not-a-regular-file") as refusal:
            inspect(tmp_path / name, ANY)
        assert refusal.value.hint


def test_empty_looped_and_huge_files(tmp_path: Path) -> None:
    (tmp_path / "empty.o").touch()
    (tmp_path / "loop.s").symlink_to(tmp_path / "loop.s")
    with (tmp_path / "huge.s").open("wb") as file:
        file.truncate(KERNEL_BYTES_MAX + 1)
    for name, code in (("empty.o", "file-empty"), ("loop.s", "file-not-readable"), ("huge.s", "file-too-large")):
        with refuses(code) as refusal:
            inspect(tmp_path / name, ANY)
        assert refusal.value.hint


@pytest.mark.parametrize("ending", [".hip", ".txt", ".s", ".o"])
def test_a_name_with_escapes_stays_on_one_line(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"re\x1b[31md\nname{ending}"
    path.write_text("__global__ void f(int *x) { *x = missing; }\n")
    refusal = refusal_of(path)
    assert refusal is not None
    assert refusal.where.endswith(f"/red name{ending}")
    assert ending != ".hip" or "red name.hip:1:34: error: use of undeclared identifier 'missing'" in refusal.found
