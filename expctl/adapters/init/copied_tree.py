"""A copy of the work tree's files, so that a build or test of them leaves no trace in it."""

import ast
import hashlib
import os
import shutil
from pathlib import Path

from expctl.adapters.init.repository import look
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Protocol
from expctl.files import atomic_write


def copy_of(root: Path, folder: Path) -> str:
    """Copy all files of the repository at `root` that git doesn't ignore to `folder`; return a hash of names and contents."""
    atomic_write.remove_tree(folder)
    digest = hashlib.sha256()
    for name in look(root).files:
        source, copy = root / name, folder / name
        if not source.is_symlink() and not source.is_file():
            continue  # deleted, or a submodule
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy, follow_symlinks=False)
        contents = os.readlink(source).encode() if source.is_symlink() else source.read_bytes()
        digest.update(f"{name}\0{len(contents)}\0".encode(errors="surrogateescape") + contents)
    return digest.hexdigest()


def check_syntax(tree: Path, protocol: Protocol) -> None:
    """Raise Refused for a Python file of the harness, below `tree`, that does not parse."""
    for name in protocol.harness:
        found = [tree / name] if name.endswith(".py") else sorted((tree / name).rglob("*.py"))
        for file in found:
            try:
                ast.parse(file.read_bytes() if file.is_file() else b"")
            except (SyntaxError, ValueError) as error:
                raise Refused(
                    "a file of the harness is not Python",
                    code="harness-does-not-parse",
                    expected="a file that Python can read",
                    found=f"{getattr(error, 'msg', error)}: {str(getattr(error, 'text', '') or '').strip()[:80]}",
                    where=f"{file.relative_to(tree)}:{getattr(error, 'lineno', None) or 1}",
                    hint="mend that line, then expctl harness check",
                ) from error


def line_of(file: Path, text: str) -> int:
    """Return the number of the first line of `file` that has `text`; 0 for none."""
    lines = file.read_text(errors="replace").splitlines()
    return next((number for number, line in enumerate(lines, 1) if text in line), 0)
