"""Reading ledger.md, and advice on mending it in the work tree, which may have become a link or a folder."""

from pathlib import Path

from expctl.files.own_file import BYTES_MAX


def ledger_on_disk(file: Path) -> bytes | None:
    """Return the contents of ledger.md at `file`; None if it is no plain file, or too large to be one that expctl wrote."""
    is_plain = file.is_file() and not file.is_symlink() and file.stat().st_size <= BYTES_MAX
    return file.read_bytes() if is_plain else None


def ledger_mend(file: Path) -> str:
    """Return the shell command that writes ledger.md again, and first moves a link or folder at `file` out of the way."""
    if file.is_symlink():
        return f"rm {file.name} && expctl ledger"
    return f"mv {file.name} {file.name}.old && expctl ledger" if file.is_dir() else "expctl ledger"
