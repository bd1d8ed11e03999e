"""What a commit brings may be written by anybody: it costs time at worst, writes nothing elsewhere, and lasts no longer."""

import lzma
import os
import time
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from expctl.adapters.rules import compiled_file
from expctl.adapters.rules.abandoned import ABANDONED_S
from expctl.domain.rules.meaning import Compiled, Version, Wanted
from expctl.inspection.readers.llvm_functions import _as_read
from tests.adapters.rules.test_compiled_versions import bring, brought, compilers, versions

DEEP = b"[" * 200_000 + b"]" * 200_000
NAMES = ("../../../x", "/../../x", "/../../../../x", "/x/y", "a/b", "..", "", "\0", "x" * 5000, "\n", "a" * 16)


def honest(root: Path) -> tuple[Wanted, Mapping[str, str], dict[str, Any]]:
    """Return a version, what is really read of it, and what a file with it holds, as JSON."""
    made, commit, patches = versions(root)
    wanted = Wanted(Version(commit, patches["near"]), "sm_90")
    (real,) = made.compiled([wanted])
    assert real is not None
    return wanted, real.functions, msgspec.json.decode(lzma.decompress(made.packed([wanted])))


def files(root: Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(root)): each.read_bytes()
        for each in root.rglob("*")
        if each.is_file() and ".git" not in each.parts
    }


def test_no_name_becomes_that_of_a_file(tmp_path: Path) -> None:
    wanted, real, held = honest(tmp_path)
    held["functions"] |= dict.fromkeys(NAMES, "what was read")
    held["sources"] |= dict.fromkeys(NAMES, "/../../../x")
    held["compiled"] = {name: {} for name in NAMES}
    bring(tmp_path, lzma.compress(msgspec.json.encode(held)))
    before = files(tmp_path)
    (made,) = compilers(tmp_path, "elsewhere").compiled([wanted])
    assert made is not None
    assert made.functions == real
    written = {name: text for name, text in files(tmp_path).items() if before.get(name) != text}
    assert {name.split("/")[1] for name in written} <= {"compiled", "read", "sources", "cache"}
    assert {name.split("/")[0] for name in written} <= {"elsewhere", "cache"}
    assert not [name for name in written if "what was read" in written[name].decode(errors="replace")]


@pytest.mark.parametrize(
    "file",
    [
        b'{"compiled":{"a":' + DEEP + b"}}",
        b'{"functions":{"a":"\xff"}}',
        b'{"functions":{"a":["b"]}}',
        b'{"functions":{"a":"\\ud800"}}',
        b'{"sources":[]}',
        b'{"sources":{"a":1}}',
    ],
    ids=lambda file: file[:24],
)
def test_what_is_no_such_file_is_as_none(file: bytes) -> None:
    assert compiled_file.unpacked(lzma.compress(file)) == compiled_file.Brought()


@pytest.mark.parametrize("text", [b"{}", b"a" * (compiled_file.LARGEST + 1)], ids=["needs much memory", "is long"])
def test_a_bomb_takes_no_memory(text: bytes) -> None:
    asks = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29 if len(text) < 9 else 1 << 20}]
    packed = lzma.compress(text, filters=asks)
    assert len(packed) < 10_000
    tracemalloc.start()
    assert compiled_file.unpacked(packed) == compiled_file.Brought()
    assert tracemalloc.get_traced_memory()[1] < 3 * compiled_file.LARGEST
    tracemalloc.stop()


def test_what_is_written_here_can_be_read() -> None:
    sources = {f"{at:040x}": "s" for at in range(50_000)}
    assert compiled_file.unpacked(compiled_file.packed(sources, {}, {})).sources == sources


@pytest.mark.parametrize(
    "said", [DEEP, b"[]", b'{"functions":{"f":1}}', b'{"parts":{"f":{"a":' + b"9" * 5000 + b"}}}"], ids=range(4)
)
def test_what_is_no_answer_is_compiled_here(tmp_path: Path, said: bytes) -> None:
    wanted, real, held = honest(tmp_path)
    held["compiled"] = {name: msgspec.Raw(said) for name in held["compiled"]}
    bring(tmp_path, lzma.compress(msgspec.json.encode(held)))
    (made,) = compilers(tmp_path, "elsewhere").compiled([wanted])
    assert made is not None
    assert made.functions == real


@pytest.mark.parametrize("said", ["", "[]", "\n", "x" * 16, '["a", {}]', "\u20ac"])
def test_what_is_no_function_is_read_here(tmp_path: Path, said: str) -> None:
    wanted, real, held = honest(tmp_path)
    held["functions"], held["compiled"] = dict.fromkeys(held["functions"], said), {}
    bring(tmp_path, lzma.compress(msgspec.json.encode(held)))
    (made,) = compilers(tmp_path, "elsewhere").compiled([wanted])
    assert made is not None
    assert made.functions == real


def test_what_was_read_of_a_function_is_not_read_again(tmp_path: Path) -> None:
    wanted, _, held = honest(tmp_path)
    held["functions"], held["compiled"] = dict.fromkeys(held["functions"], "0" * 16), {}
    bring(tmp_path, lzma.compress(msgspec.json.encode(held)))
    (made,) = compilers(tmp_path, "elsewhere").compiled([wanted])
    assert made == Compiled(functions={"f": "0" * 16}, parts=made.parts if made else {})


def test_a_commit_is_believed_for_no_other_one(tmp_path: Path) -> None:
    wanted, real = brought(tmp_path)
    (made,) = compilers(tmp_path, "elsewhere").compiled([wanted])
    assert made is not None
    assert made.functions == {"f": "brought"}
    bring(tmp_path, b"")
    (made,) = compilers(tmp_path, "elsewhere").compiled([wanted])
    assert made is not None
    assert made.functions == real


@pytest.mark.parametrize(
    "kept", [b"", b"0", b"[]", b"{}", b"[1, 2]", b'["0123456789abcdef", []]', b'["x", {}]', b'["0123456789abcdef", {"a": -1}]',
             b'["0123456789abcdef", {"a": 1.5}]', b'["0123456789abcdef", {"a": true}]', b'["0123456789abcdef", {"\\ud800": 1}]',
             b'["0123456789abcdef", {"a": NaN}]', b"\xff\xff", DEEP, b'["0123456789abcdef", {"a": ' + b"9" * 5000 + b"}]"],
    ids=range(15),
)  # fmt: skip
def test_what_is_kept_of_a_function_is_two_things(kept: bytes) -> None:
    assert _as_read(kept) is None
    assert _as_read(b'["0123456789abcdef", {"a": 1}]') == ("0123456789abcdef", {"a": 1})
    assert _as_read(None) is None


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    state, nobody = tmp_path / "state", 1 << 30
    left, of_somebody, recent = (state / f"{name}.x" for name in (f"work.{nobody}", f"anew.{os.getpid()}", f"anew.{nobody}"))
    for folder in (left, of_somebody, recent):
        (folder / "0/tree").mkdir(parents=True)
        if folder != recent:
            os.utime(folder, (time.time() - 2 * ABANDONED_S,) * 2)
    versions(tmp_path)
    assert not left.exists()
    assert of_somebody.is_dir()
    assert recent.is_dir()
