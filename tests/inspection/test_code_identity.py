"""What counts as the same code, with real compilers."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.domain.errors import Refused
from expctl.inspection.readers.code_identity import code_hash, image_hash

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")

SOURCE = """\
static const int table[4] = {1, 2, 3, 4};
int answer(int x) {
    return table[x & 3] * 7;
}
"""

Compile = Callable[..., Path]


@pytest.fixture
def compile_c(tmp_path: Path, zig_cache: Path) -> Compile:
    def compiles(source: str, *flags: str, name: str = "kernel") -> Path:
        (tmp_path / f"{name}.c").write_text(source)
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(zig_cache), "ZIG_LOCAL_CACHE_DIR": str(zig_cache)}
        argv = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-O2", "-nostdlib", "-target", "x86_64-linux-gnu"]
        command = [*argv, *flags, f"{name}.c", "-o", f"{name}.so"]
        answer = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
        assert answer.returncode == 0, answer.stderr.decode()
        return (tmp_path / f"{name}.so").rename(tmp_path / f"{name}-{len(list(tmp_path.iterdir()))}.so")

    return compiles


def test_a_comment_is_not_code(compile_c: Compile) -> None:
    one, other = compile_c(SOURCE), compile_c(f"/* a comment\n\n */\n{SOURCE}")
    assert code_hash(one) == code_hash(other)


def test_the_name_of_a_local_variable_is_not_code(compile_c: Compile) -> None:
    assert code_hash(compile_c(SOURCE)) == code_hash(compile_c(SOURCE.replace("x", "renamed")))


def test_one_changed_instruction_is_other_code(compile_c: Compile) -> None:
    assert code_hash(compile_c(SOURCE)) != code_hash(compile_c(SOURCE.replace("* 7", "* 11")))


def test_a_changed_constant_is_other_code(compile_c: Compile) -> None:
    assert code_hash(compile_c(SOURCE)) != code_hash(compile_c(SOURCE.replace("4};", "5};")))


def test_debug_information_is_not_code(compile_c: Compile) -> None:
    bare, debug = compile_c(SOURCE, "-g0"), compile_c(SOURCE, "-g")
    assert bare.read_bytes() != debug.read_bytes()
    assert code_hash(bare) == code_hash(debug)


def test_where_debug_information_points_is_not_code(compile_c: Compile) -> None:
    one, other = compile_c(SOURCE, "-g"), compile_c(f"\n\n\n{SOURCE}", "-g")
    assert one.read_bytes() != other.read_bytes()
    assert code_hash(one) == code_hash(other)


@pytest.mark.parametrize("contents", [b"", b"\x7fEL", b"print(1)\n", bytes(range(256))])
def test_what_is_not_elf_is_hashed_whole(tmp_path: Path, contents: bytes) -> None:
    file = tmp_path / "kernel.py"
    file.write_bytes(contents)
    assert code_hash(file) == hashlib.sha256(contents).hexdigest()


def test_what_the_code_is_linked_by_is_in_the_image_and_not_in_the_code(compile_c: Compile) -> None:
    calls = 'int puts(const char *);\nint atoi(const char *);\nint answer(void) { return puts(""); }\n'
    one, other = compile_c(calls), compile_c(calls.replace("{ return puts", "{ return atoi"))
    assert code_hash(one) == code_hash(other)
    assert image_hash(one) != image_hash(other)
    two = "int fast(void) { return 1; }\nint slow(void) { return 2; }\n"
    swapped = two.replace("fast", "x").replace("slow", "fast").replace("x(", "slow(")
    assert image_hash(compile_c(two)) != image_hash(compile_c(swapped))


def test_words_and_debug_information_are_not_in_the_image(compile_c: Compile) -> None:
    images = {
        image_hash(compile_c(source, option))
        for source in (SOURCE, f"/* a comment */\n{SOURCE}", SOURCE.replace("x", "renamed"))
        for option in ("-g0", "-g", "-Wl,--build-id=sha1")
    }
    assert len(images) <= 2  # a build id brings a note and its program header along
    assert image_hash(compile_c(SOURCE, "-g")) == image_hash(compile_c(f"/* a comment */\n{SOURCE}", "-g"))


def test_what_is_not_elf_has_no_image(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("x = 1\n")
    assert image_hash(tmp_path / "kernel.py") == ""


def test_without_pyelftools_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("elftools", "elftools.elf", "elftools.elf.constants", "elftools.elf.elffile"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(Refused, match="can't be compared") as caught:
        code_hash(Path(sys.executable).resolve())
    assert caught.value.hint == "pip install 'expctl[harness]'"
