"""A block is read again only if what it takes has changed, a function of PTX if it is another one: no hash changes by it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from expctl.files.cache_folder import CacheFolder
from expctl.inspection.readers.compiled_functions import read_functions
from expctl.inspection.readers.llvm_meaning import FunctionReader
from expctl.inspection.readers.llvm_text import Block
from expctl.inspection.readers.ptx_values import _Reader
from tests.inspection.test_compiled_ptx import HEAD, kernel
from tests.inspection.test_llvm_loops import INDEXED, loop

ALONE = "add.s32 \t%r{0}, %r90, {0};", "st.global.u32 \t[%rd1], %r{0};", "$L__BB0_{0}:"
BLOCKS = [line.format(at) for at in range(20) for line in ALONE]
SEVERAL = ("mov.u32 \t%r50, 0;", "$L__BB0_99:", "add.s32 \t%r50, %r50, 1;", "bra.uni \t$L__BB0_99;")
PTX = HEAD + kernel("f", *BLOCKS, *SEVERAL)


def counted(
    monkeypatch: pytest.MonkeyPatch, reader: type[_Reader | FunctionReader], read: Callable[[], object]
) -> tuple[object, int]:
    steps, step = [], reader._step
    monkeypatch.setattr(reader, "_step", lambda self, each: steps.append(each) or step(self, each))
    found = read()
    monkeypatch.undo()
    return found, len(steps)


def test_ptx(monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> object:
        return read_functions("meaning", PTX)

    found, few = counted(monkeypatch, _Reader, read)
    block = _Reader._block

    def forgets(self: _Reader, at: int, body: list[str]) -> None:
        self.read.clear()
        block(self, at, body)

    monkeypatch.setattr(_Reader, "_block", forgets)
    again, many = counted(monkeypatch, _Reader, read)
    assert again == found
    assert few < many


def test_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> object:
        return loop("%10 = mul i32 %0, %0", *INDEXED, "%9 = icmp eq i64 %8, 16")

    found, few = counted(monkeypatch, FunctionReader, read)
    whole = FunctionReader._round

    def forgets(self: FunctionReader, blocks: Sequence[Block]) -> list[str]:
        self.known.clear()
        return whole(self, blocks)

    monkeypatch.setattr(FunctionReader, "_round", forgets)
    again, many = counted(monkeypatch, FunctionReader, read)
    assert again == found
    assert few < many


def test_a_function_of_ptx_is_read_once_for_all_versions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept, other = CacheFolder(tmp_path), kernel("g", "mov.u32 \t%r1, 7;", "st.global.u32 \t[%rd1], %r1;")
    first = read_functions("meaning", PTX + other, kept)
    second, steps = counted(monkeypatch, _Reader, lambda: read_functions("meaning", PTX + other.replace("7", "8"), kept))
    assert (first, second) == (read_functions("meaning", PTX + other), read_functions("meaning", PTX + other.replace("7", "8")))
    assert steps <= 4 * 2, "g alone is read, in at most four rounds"
