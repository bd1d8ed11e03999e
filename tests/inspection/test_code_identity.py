"""What counts as the same code, with real compilers."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.inspection.readers.code_identity import code_hash

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
