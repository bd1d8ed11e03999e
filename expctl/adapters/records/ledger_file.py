"""Advice on mending ledger.md in the work tree, which may have become a link or a folder."""

from pathlib import Path


def ledger_mend(file: Path) -> str:
    """Return the shell command that writes ledger.md again, and first moves a link or folder at `file` out of the way."""
    if file.is_symlink():
        return f"rm {file.name} && expctl ledger"
    return f"mv {file.name} {file.name}.old && expctl ledger" if file.is_dir() else "expctl ledger"
