"""Files that judge are watched from the moment they are laid out."""

from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.git.protected_files import ProtectedFiles

CHANGES: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "nothing": (lambda _: None, ()),
    "elsewhere": (lambda root: (root / "src/kernel.c").write_text("other"), ()),
    "a file": (lambda root: (root / "bench/judge.py").write_text("KEEP"), ("bench/judge.py",)),
    "a file of the same size": (lambda root: (root / "bench/judge.py").write_text("egduj"), ("bench/judge.py",)),
    "a file less": (lambda root: (root / "bench/judge.py").unlink(), ("bench/judge.py",)),
    "a file more": (lambda root: (root / "bench/json.py").write_text("pass"), ("bench/json.py",)),
    "a link for a file": (
        lambda root: ((root / "bench/judge.py").unlink(), (root / "bench/judge.py").symlink_to("deep/x")),
        ("bench/judge.py",),
    ),
    "a link elsewhere": (
        lambda root: ((root / "bench/link").unlink(), (root / "bench/link").symlink_to("/etc/passwd")),
        ("bench/link",),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_breaks_the_seal(name: str, tmp_path: Path) -> None:
    change, broken = CHANGES[name]
    for path, text in {"bench/judge.py": "judge", "bench/deep/x": "x", "src/kernel.c": "kernel"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "bench/link").symlink_to("judge.py")
    protected = ProtectedFiles()
    assert protected.changed(tmp_path) == ()
    protected.protect(tmp_path, ("bench",))
    change(tmp_path)
    assert protected.changed(tmp_path) == broken
    protected.release(tmp_path)
    assert protected.changed(tmp_path) == ()
