"""Hints about ledger.md in the work tree, which may be a link or a folder instead of a file."""

from pathlib import Path


def ledger_mend(file: Path) -> str:
    """Return the shell command that makes ledger.md anew, and before that moves a link or folder at `file` out of the way."""
    if file.is_symlink():
        return f"rm {file.name} && expctl ledger"
    return f"mv {file.name} {file.name}.old && expctl ledger" if file.is_dir() else "expctl ledger"
