"""ledger.md as it lies in the work tree, which may be something else than a file."""

from pathlib import Path


def ledger_mend(file: Path) -> str:
    """What to type to have it written: `expctl ledger` alone replaces neither a link nor a folder."""
    if file.is_symlink():
        return f"rm {file.name} && expctl ledger"
    return f"mv {file.name} {file.name}.old && expctl ledger" if file.is_dir() else "expctl ledger"
