"""Hints for ledger.md in the work tree, which may be something else than a file."""

from pathlib import Path


def ledger_mend(file: Path) -> str:
    """Return the command that writes ledger.md: `expctl ledger`, after removing a link or folder, which it doesn't replace."""
    if file.is_symlink():
        return f"rm {file.name} && expctl ledger"
    return f"mv {file.name} {file.name}.old && expctl ledger" if file.is_dir() else "expctl ledger"
