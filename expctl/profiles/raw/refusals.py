"""Make the errors for files that can't be read as a profile; the caller raises them."""

from pathlib import Path

from expctl.domain.errors import Refused

READ = (
    "a rocpd database, rocprofv3 CSV or JSON, a torch.profiler trace, ncu --csv output (raw or details), an nsys database, "
    "or a folder of these"
)


def damaged(path: Path, found: str, *, hint: str = "profile again, or copy the file again") -> Refused:
    """Return the error for a profile that is cut off or has impossible contents; `found` says which."""
    return Refused(
        "this profile is damaged",
        code="profile-damaged",
        expected="a complete file, unchanged since the profiler wrote it",
        found=found,
        where=str(path),
        hint=hint,
    )


def no_kernels(path: Path, found: str, hint: str) -> Refused:
    """Return the error for a file of a known format that contains no kernel; `found` says what it is."""
    return Refused(
        "no kernels in this file",
        code="profile-without-kernels",
        expected="kernels and their times",
        found=found,
        where=str(path),
        hint=hint,
    )


def unknown(path: Path, found: str, hint: str = "docs/PROFILES.md lists the formats") -> Refused:
    """Return the error for a file of a format that expctl doesn't read; `found` says what it is."""
    return Refused(
        "this isn't a profile that expctl can read",
        code="not-a-profile",
        expected=READ,
        found=found,
        where=str(path),
        hint=hint,
    )


def too_large(path: Path) -> Refused:
    """Return the error for a profile that doesn't fit into memory."""
    return Refused(
        f"cannot hold {path} in memory",
        code="profile-exceeds-memory",
        expected="a profile that fits into the free memory",
        found="a larger one",
        where=str(path),
        hint="profile fewer passes, or write a rocpd or nsys database, which is read piece by piece",
    )


def unreadable(path: Path, error: OSError) -> Refused:
    """Return the error for a file that the operating system refuses to open or read."""
    if isinstance(error, FileNotFoundError):
        return Refused(
            f"there is no file {path}",
            code="file-missing",
            expected=READ,
            found="nothing",
            where=str(path.parent),
            hint="check the path",
        )
    return Refused(
        f"cannot read {path}",
        code="file-not-readable",
        expected=READ,
        found=str(error.strerror or error),
        where=str(path),
        hint="check the permissions of the file and its folder",
    )
