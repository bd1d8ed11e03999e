"""The seal over the harness: any file that comes, goes or changes, and nothing that a build may leave beside it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.seal import Seal

HARNESS = ("kernel/__init__.py", "kernel/harness/test.py", "kernel/harness/deep/table.csv")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name in (
        "kernel/__init__.py",
        "kernel/harness/test.py",
        "kernel/harness/deep/table.csv",
        "kernel/hip/a.cpp",
        "README.md",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def edit(name: str, text: str = "another") -> Callable[[Path], object]:
    def act(root: Path) -> object:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        return (root / name).write_text(text)

    return act


def relink(root: Path) -> None:
    (root / "kernel/harness/test.py").rename(root / "kernel/hip/test.py")
    (root / "kernel/harness/test.py").symlink_to("../hip/test.py")


BREAKS = {
    "an edit": (edit("kernel/harness/test.py"), "kernel/harness/test.py has changed"),
    "an edit of data": (edit("kernel/harness/deep/table.csv"), "kernel/harness/deep/table.csv has changed"),
    "a compiled module": (edit("kernel/harness/__pycache__/test.cpython-311.pyc"), "test.cpython-311.pyc is new"),
    "a removed file": (lambda root: (root / "kernel/harness/test.py").unlink(), "kernel/harness/test.py is gone"),
    "a link of the same contents": (relink, "kernel/harness/test.py has changed"),
    "the package around it": (edit("kernel/__init__.py"), "kernel/__init__.py has changed"),
    "a module that shadows another": (edit("json.py"), "json.py is new"),
    "a package that shadows another": (edit("numpy/__init__.py"), "numpy is new"),
    "a package without a source": (edit("kernel/ctypes/__init__.pyc"), "kernel/ctypes is new"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_seal_is_broken_by(tree: Path, name: str) -> None:
    act, words = BREAKS[name]
    seal = Seal(["kernel/harness/"])
    assert seal.broken(tree) == ""
    act(tree)
    assert words in seal.broken(tree)
    assert words in seal.broken(tree), "a broken seal doesn't mend by being looked at"


def test_what_a_build_leaves_beside_the_harness_breaks_nothing(tree: Path) -> None:
    seal = Seal(["kernel/harness"])
    assert seal.broken(tree) == ""
    for name in ("kernel/hip/a.cpp", "kernel/hip/a.o", "README.md", "build/kernel.o", "notes.txt"):
        edit(name)(tree)
    assert seal.broken(tree) == ""


def test_a_new_check_out_of_the_same_files_is_sealed_alike(tree: Path, tmp_path: Path) -> None:
    seal = Seal(["kernel/harness"])
    assert seal.broken(tree) == ""
    tree.rename(tmp_path / "away")
    for name in HARNESS:
        edit(name, name)(tree)
    assert seal.broken(tree) == ""


def test_a_harness_of_one_file(tree: Path) -> None:
    seal = Seal(["kernel/harness/test.py"])
    assert seal.broken(tree) == ""
    edit("kernel/harness/deep/table.csv")(tree)
    assert seal.broken(tree) == ""
    edit("kernel/harness/test.py")(tree)
    assert "kernel/harness/test.py has changed" in seal.broken(tree)
